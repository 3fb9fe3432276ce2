/** Confirms a permanent deletion, then navigates to the list. */
import type { ApiRequest } from '../../api/client.ts';
import { useConsole } from '../../console.ts';
import { RequestDialog } from './request-dialog.tsx';

export interface DeleteDialogProps {
  title: string;
  text: string;
  request: ApiRequest;
  /** Announced afterwards. */
  said: string;
  /** Path of the list. */
  to: string;
  onClose(): void;
}

export function DeleteDialog({ title, text, request, said, to, onClose }: DeleteDialogProps) {
  const { announce } = useConsole();
  return (
    <RequestDialog
      title={title}
      text={text}
      label={title}
      kind="danger"
      request={request}
      onClose={onClose}
      onDone={(_, goOn) => {
        announce(said);
        goOn(to);
      }}
    />
  );
}
