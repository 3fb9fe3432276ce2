/**
 * A sandboxed iframe with an opaque origin: its scripts reach neither the console's page nor its session. Only this file talks
 * to such a frame.
 *
 * Invariant: messages are accepted only from this frame's window. The origin is no criterion, because every opaque origin is
 * "null".
 */
import type { MessageToHost } from '@inlay/contract/embedding';
import { Button } from '@inlay/ui/parts/button.tsx';
import { Notice } from '@inlay/ui/parts/notice.tsx';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { words as common } from '../../words/words.ts';
import { Bones } from '../page.tsx';
import { words } from './frame-words.ts';

export type Send = (message: object) => void;

export interface SandboxedFrameProps {
  /** The page's own headers sandbox it as well. */
  address: string;
  title: string;
  onMessage(message: MessageToHost, send: Send): void;
}

const patienceMs = 20_000;
const maxHeight = 20_000;

export function SandboxedFrame({ address, title, onMessage }: SandboxedFrameProps) {
  const frame = useRef<HTMLIFrameElement>(null);
  const listener = useRef(onMessage);
  listener.current = onMessage;
  const [tries, setTries] = useState(0);
  const [state, setState] = useState<'loading' | 'shown' | 'failed'>('loading');
  const [height, setHeight] = useState(0);

  useLayoutEffect(() => {
    setState('loading');
    const send: Send = (message) => {
      // An opaque origin can only be addressed with '*'. The console's frame-src keeps pages of other origins out.
      frame.current?.contentWindow?.postMessage(message, '*');
    };
    const hear = ({ source, data }: MessageEvent) => {
      if (!source || source !== frame.current?.contentWindow || !isMessage(data)) return;
      clearTimeout(timer);
      setState('shown');
      if (data.type === 'resize' && Number.isFinite(data.height)) setHeight(Math.min(data.height, maxHeight));
      listener.current(data, send);
    };
    const timer = setTimeout(() => setState('failed'), patienceMs);
    addEventListener('message', hear);
    return () => {
      clearTimeout(timer);
      removeEventListener('message', hear);
    };
  }, [address, tries]);

  if (state === 'failed') {
    return (
      <Notice
        kind="danger"
        title={words.notLoaded}
        actions={<Button onClick={() => setTries((count) => count + 1)}>{common.tryAgain}</Button>}
      />
    );
  }
  return (
    <div class="c-frame">
      {state === 'loading' && <Bones />}
      {/* A new frame per address, because navigating a frame would add entries to the history. */}
      <iframe
        key={`${address} ${tries}`}
        ref={frame}
        class={state === 'loading' ? 'c-frame-loading' : undefined}
        style={{ height: `${height}px` }}
        title={title}
        src={address}
        sandbox="allow-scripts allow-forms"
        referrerPolicy="no-referrer"
      />
    </div>
  );
}

function isMessage(data: unknown): data is MessageToHost {
  if (typeof data !== 'object' || data === null) return false;
  const { inlay, type } = data as Partial<MessageToHost>;
  return inlay === 1 && typeof type === 'string';
}
