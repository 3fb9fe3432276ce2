/** A button that sends a request, with the same as a curl command. Shows an error in place. */
import { Button, type ButtonProps } from '@inlay/ui/parts/button.tsx';
import type { ApiRequest } from '../api/client.ts';
import { CurlButton } from './copy-button.tsx';
import { ErrorNotice } from './error-notice.tsx';
import { type OnDone, useAction } from './use-action.ts';

export interface RequestButtonProps<T> {
  label: string;
  request: ApiRequest<T>;
  /** What the action applies to, for screen readers. */
  about?: string;
  kind?: NonNullable<ButtonProps['kind']>;
  glyph?: NonNullable<ButtonProps['glyph']>;
  /** The work that it started is still running, although the request has been answered. */
  isBusy?: boolean;
  onDone: OnDone<T>;
}

export function RequestButton<T>({ label, request, onDone, ...look }: RequestButtonProps<T>) {
  const { about, kind = 'secondary', glyph, isBusy = false } = look;
  const what = about === undefined ? label : `${label}: ${about}`;
  const action = useAction();
  return (
    <>
      <span class="c-pair">
        <Button
          kind={kind}
          {...(glyph && { glyph })}
          {...(about !== undefined && { label: what })}
          isBusy={action.isBusy || isBusy}
          onClick={() => action.run(request, onDone)}
        >
          {label}
        </Button>
        <CurlButton request={request} what={what} />
      </span>
      {action.error !== undefined && <ErrorNotice error={action.error} takesFocus />}
    </>
  );
}
