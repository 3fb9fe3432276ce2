/** A dialog with the customer's widget, read-only. */
import { colorSchemes } from '@inlay/contract/embedding';
import { useState } from 'preact/hooks';
import { InfoDialog } from '../../parts/dialogs/info-dialog.tsx';
import { ChoiceField } from '../../parts/fields.tsx';
import { words } from '../../parts/frames/frame-words.ts';
import { WidgetFrame } from '../../parts/frames/widget-frame.tsx';
import { languageNames, savedLook } from '../../parts/frames/widget-look.ts';

interface CustomerViewProps {
  customer: { id: string; name: string };
  onClose(): void;
}

export function CustomerView({ customer, onClose }: CustomerViewProps) {
  const [look, setLook] = useState(savedLook);
  return (
    <InfoDialog title={words.sees(customer.name)} onClose={onClose} isWide>
      <p class="c-hint">{words.readOnly}</p>
      <div class="c-frame-tools">
        <ChoiceField
          label={words.language}
          value={look.locale ?? ''}
          options={{ '': words.automatic, ...languageNames }}
          onInput={(locale) => setLook({ ...look, locale: locale || undefined })}
        />
        <ChoiceField
          label={words.scheme}
          value={look.theme.color_scheme ?? 'auto'}
          options={words.schemes}
          onInput={(value) => {
            const color_scheme = colorSchemes.find((one) => one === value) ?? 'auto';
            setLook({ ...look, theme: { ...look.theme, color_scheme } });
          }}
        />
      </div>
      <WidgetFrame workspaceId={customer.id} title={words.sees(customer.name)} look={look} onClose={onClose} />
    </InfoDialog>
  );
}
