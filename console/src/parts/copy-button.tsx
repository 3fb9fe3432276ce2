/** Copies a text and confirms it. */
import { useState } from 'preact/hooks';
import type { ApiRequest } from '../api/client.ts';
import { curlOf } from '../api/curl.ts';
import { words as common } from '../words/words.ts';
import { Mark } from './mark.tsx';

const words = common.copy;

const shownMs = 2_000;

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [said, setSaid] = useState('');
  return (
    <button
      type="button"
      class="c-icon-button"
      aria-label={label}
      title={label}
      onClick={async () => {
        const isCopied = await navigator.clipboard.writeText(text).then(
          () => true,
          () => false,
        );
        setSaid(isCopied ? words.copied : words.failed);
        setTimeout(() => setSaid(''), shownMs);
      }}
    >
      <Mark name="copy" />
      <span class={said ? 'c-said' : 'inlay-unseen'} role="status">
        {said}
      </span>
    </button>
  );
}

export function CurlButton({ request, what }: { request: ApiRequest; what: string }) {
  return <CopyButton text={curlOf(request)} label={`${words.curl}: ${what}`} />;
}
