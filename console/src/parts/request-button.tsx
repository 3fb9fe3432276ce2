/** One thing to do with one click, as a button and as a command. A failure is told at its place. */
import { Button, type ButtonProps } from '@inlay/ui/parts/button.tsx';
import type { ApiRequest } from '../api/client.ts';
import { CurlButton } from './copy-button.tsx';
import { ErrorNotice } from './error-notice.tsx';
import { type OnDone, useAction } from './use-action.ts';

export interface RequestButtonProps<T> {
  label: string;
  request: ApiRequest<T>;
  /** What it is about, for people who do not see the row that it stands in. */
  about?: string;
  kind?: NonNullable<ButtonProps['kind']>;
  glyph?: NonNullable<ButtonProps['glyph']>;
  /** What it began goes on, also where the answer has come. */
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
