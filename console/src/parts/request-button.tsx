/** One thing to do with one click, as a button and as a command. A failure is told at its place. */
import { Button, type ButtonProps } from '@inlay/ui/parts/button.tsx';
import type { ApiRequest } from '../api/client.ts';
import { CurlButton } from './copy-button.tsx';
import { ErrorNotice } from './error-notice.tsx';
import { useAction } from './use-action.ts';

export interface RequestButtonProps<T> {
  label: string;
  request: ApiRequest;
  kind?: NonNullable<ButtonProps['kind']>;
  onDone(answer: T): void;
}

export function RequestButton<T>({ label, request, kind = 'secondary', onDone }: RequestButtonProps<T>) {
  const action = useAction();
  return (
    <>
      <span class="c-pair">
        <Button kind={kind} isBusy={action.isBusy} onClick={() => action.run<T>(request, onDone)}>
          {label}
        </Button>
        <CurlButton request={request} what={label} />
      </span>
      {action.error !== undefined && <ErrorNotice error={action.error} takesFocus />}
    </>
  );
}
