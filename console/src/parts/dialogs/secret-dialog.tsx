/** Shows a secret once. A click outside does not close the dialog. */
import { Button } from '@inlay/ui/parts/button.tsx';
import { words } from '../../words/words.ts';
import { CopyButton } from '../copy-button.tsx';
import { InfoDialog } from './info-dialog.tsx';

export interface SecretDialogProps {
  title: string;
  text: string;
  secret: string;
  copyLabel: string;
  onClose(): void;
}

export function SecretDialog({ title, text, secret, copyLabel, onClose }: SecretDialogProps) {
  return (
    <InfoDialog
      title={title}
      actions={
        <Button kind="primary" onClick={onClose}>
          {words.close}
        </Button>
      }
    >
      <p class="c-muted">{text}</p>
      <p class="c-secret">
        <code>{secret}</code>
        <CopyButton text={secret} label={copyLabel} />
      </p>
    </InfoDialog>
  );
}
