/** The widget with unsaved templates, as a new customer would see them. Needs no token. */

import type { OfferedSourceTemplate } from '@inlay/contract/catalog/source-templates';
import type { MessageToHost, PreviewMessage } from '@inlay/contract/embedding';
import { useEffect, useRef } from 'preact/hooks';
import { basePath } from '../../router/router.ts';
import { SandboxedFrame, type Send } from './sandboxed-frame.tsx';
import { fragmentOf, type WidgetLook } from './widget-look.ts';

export interface PreviewFrameProps {
  templates: readonly OfferedSourceTemplate[];
  title: string;
  look: WidgetLook;
}

const pageAddress = () => new URL('../widget/preview', new URL(basePath, location.origin)).href;

export function PreviewFrame({ templates, title, look }: PreviewFrameProps) {
  const send = useRef<Send | undefined>(undefined);
  const show = () => {
    const message: PreviewMessage = { inlay: 1, type: 'preview', templates: [...templates] };
    send.current?.(message);
  };
  useEffect(show, [templates]);
  function onMessage({ type }: MessageToHost, answer: Send): void {
    if (type !== 'ready') return;
    send.current = answer;
    show();
  }
  return (
    <SandboxedFrame
      address={`${pageAddress()}#${fragmentOf({ ...look, mode: 'inline' })}`}
      title={title}
      onMessage={onMessage}
    />
  );
}
