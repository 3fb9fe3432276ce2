/** Asks before something is deleted for good, and then goes to the list that it was in. */
import { useConsole } from '../console.ts';
import { RequestDialog } from './request-dialog.tsx';

export interface DeleteDialogProps {
  title: string;
  text: string;
  /** Of the thing, below `/api/v1`. */
  path: string;
  /** What is said afterwards. */
  said: string;
  /** The list. */
  to: string;
  onClose(): void;
}

export function DeleteDialog({ title, text, path, said, to, onClose }: DeleteDialogProps) {
  const { announce } = useConsole();
  return (
    <RequestDialog
      title={title}
      text={text}
      label={title}
      kind="danger"
      request={{ method: 'DELETE', path }}
      onClose={onClose}
      onDone={(_, goOn) => {
        announce(said);
        goOn(to);
      }}
    />
  );
}
