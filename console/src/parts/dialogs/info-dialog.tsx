/** A modal dialog with a close button or its own actions. */
import { Button } from '@inlay/ui/parts/button.tsx';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { words } from '../../words/words.ts';

export interface InfoDialogProps {
  title: string;
  children: ComponentChildren;
  /** Without it, only the dialog's content can close it. */
  onClose?: () => void;
  /** Default: a close button. */
  actions?: ComponentChildren;
  isWide?: boolean;
}

export function InfoDialog({ title, children, onClose, actions, isWide = false }: InfoDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog
      class={`inlay-dialog c-dialog${isWide ? ' c-dialog-wide' : ''}`}
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
    >
      <div class="c-dialog-body">
        <h2 id={id}>{title}</h2>
        {children}
        {(actions || onClose) && (
          <div class="inlay-actions inlay-actions-end">
            {actions ?? <Button onClick={() => onClose?.()}>{words.close}</Button>}
          </div>
        )}
      </div>
    </dialog>
  );
}
