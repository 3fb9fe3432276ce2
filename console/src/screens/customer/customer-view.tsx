/** What the customer sees, in a dialog: the widget itself, read-only. */
import { colorSchemes, widgetLocales } from '@inlay/contract/embedding';
import { useState } from 'preact/hooks';
import { ChoiceField } from '../../parts/fields.tsx';
import { frameWords } from '../../parts/frame-words.ts';
import { InfoDialog } from '../../parts/info-dialog.tsx';
import { WidgetFrame } from '../../parts/widget-frame.tsx';
import { savedLook } from '../../parts/widget-look.ts';
import { chooseLanguage, languageNames } from '../../words/words.ts';

interface CustomerViewProps {
  customer: { id: string; name: string };
  onClose(): void;
}

export async function load() {
  await frameWords.load();
  return CustomerView;
}

function CustomerView({ customer, onClose }: CustomerViewProps) {
  const words = frameWords.get();
  const [look, setLook] = useState(savedLook);
  const language = widgetLocales.find((one) => look.locale?.startsWith(one)) ?? chooseLanguage().language;
  return (
    <InfoDialog title={words.sees(customer.name)} onClose={onClose} isWide>
      <p class="c-hint">{words.readOnly}</p>
      <div class="c-frame-tools">
        <ChoiceField
          label={words.language}
          value={language}
          options={Object.fromEntries(widgetLocales.map((one) => [one, languageNames[one]]))}
          onInput={(locale) => setLook({ ...look, locale })}
        />
        <ChoiceField
          label={words.scheme}
          value={look.theme.color_scheme ?? 'auto'}
          options={Object.fromEntries(['auto' as const, ...colorSchemes].map((one) => [one, words.schemes[one]]))}
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
