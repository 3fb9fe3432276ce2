/** Confirms an action or asks for its input. Errors appear in the dialog, and input is kept. */
import { Button } from '@inlay/ui/parts/button.tsx';
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { ApiRequest } from '../../api/client.ts';
import { words } from '../../words/words.ts';
import { CurlButton } from '../copy-button.tsx';
import { ErrorNotice } from '../error-notice.tsx';
import { type OnDone, useAction } from '../use-action.ts';
import { InfoDialog } from './info-dialog.tsx';

export interface RequestDialogProps<T> {
  title: string;
  text?: string;
  /** Label of the submit button. */
  label: string;
  kind?: 'primary' | 'danger';
  /** Built from the current input. */
  request: ApiRequest<T>;
  onDone: OnDone<T>;
  onClose(): void;
  children?: ComponentChildren;
}

export function RequestDialog<T>({ title, text, label, kind = 'primary', ...props }: RequestDialogProps<T>) {
  const { request, onDone, onClose, children } = props;
  const action = useAction();
  const id = useId();
  return (
    <InfoDialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <CurlButton request={request} what={label} />
          <Button onClick={onClose}>{words.cancel}</Button>
          <Button kind={kind} type="submit" form={id} isBusy={action.isBusy}>
            {label}
          </Button>
        </>
      }
    >
      {text && <p class="c-muted">{text}</p>}
      <form
        id={id}
        class="c-stack"
        onSubmit={(event) => {
          event.preventDefault();
          action.run(request, onDone);
        }}
      >
        {children}
      </form>
      {action.error !== undefined && <ErrorNotice error={action.error} takesFocus />}
    </InfoDialog>
  );
}
