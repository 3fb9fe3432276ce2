/**
 * A modal question. The browser traps the focus and restores it afterwards; Escape means no.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Button } from './button.tsx';

export interface DialogProps {
  title: string;
  children: ComponentChildren;
  confirm: string;
  dismiss: string;
  isBusy?: boolean;
  onConfirm(): void;
  onDismiss(): void;
  /** Called when the dialog starts and stops covering everything else. */
  onCover?(isCovered: boolean): void;
}

export function Dialog({ title, children, confirm, dismiss, isBusy = false, ...props }: DialogProps) {
  const { onConfirm, onDismiss, onCover } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const opener = document.activeElement;
    const element = dialog.current;
    if (!element) return;
    // The frame is as high as its content, so only a part of it may be visible. The dialog opens near the pressed
    // button.
    const top = opener ? opener.getBoundingClientRect().top - element.offsetHeight : 0;
    element.showModal();
    onCover?.(true);
    element.style.setProperty('--inlay-dialog-top', `${Math.max(16, top - 160)}px`);
    return () => {
      element.close();
      onCover?.(false);
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog
      class="inlay-dialog"
      ref={dialog}
      aria-labelledby={`${id}title`}
      aria-describedby={`${id}text`}
      onCancel={(event) => {
        event.preventDefault();
        if (!isBusy) onDismiss();
      }}
      onKeyDown={(event) => {
        // Other listeners must not see this key: the page around the widget would close the whole widget.
        if (event.key === 'Escape' && !event.isComposing) {
          event.preventDefault();
          if (!isBusy) onDismiss();
        }
      }}
      onClick={(event) => {
        if (event.target === dialog.current && !isBusy) onDismiss();
      }}
    >
      <div class="inlay-dialog-body">
        <h2 id={`${id}title`}>{title}</h2>
        <div id={`${id}text`}>{children}</div>
        <div class="inlay-actions inlay-actions-end">
          <Button onClick={onDismiss}>{dismiss}</Button>
          <Button kind="danger" isBusy={isBusy} onClick={onConfirm}>
            {confirm}
          </Button>
        </div>
      </div>
    </dialog>
  );
}
