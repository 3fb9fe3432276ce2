/** Asks before entries are lost: before another screen is shown, and before Escape closes the whole widget. */
import type { ComponentChild } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useWidget } from '../widget.ts';
import { useWords } from '../words/words.ts';
import { Dialog } from './dialog.tsx';

export interface DiscardGuard {
  setChanged(isChanged: boolean): void;
  /** Calls back immediately if nothing would be lost. */
  leave(goOn: () => void): void;
  /** Render it anywhere on the screen. */
  dialog: ComponentChild;
}

export function useDiscardGuard(): DiscardGuard {
  const words = useWords().discard;
  const { host } = useWidget();
  const [isChanged, setChanged] = useState(false);
  const [asking, setAsking] = useState<{ goOn(): void } | undefined>(undefined);

  useEffect(() => {
    if (!isChanged || host.mode !== 'modal') return;
    const onEscape = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing) return;
      event.preventDefault();
      setAsking({ goOn: host.close });
    };
    document.addEventListener('keydown', onEscape);
    return () => document.removeEventListener('keydown', onEscape);
  }, [isChanged, host]);

  return {
    setChanged,
    leave: (goOn) => (isChanged ? setAsking({ goOn }) : goOn()),
    dialog: asking && (
      <Dialog
        title={words.title}
        confirm={words.confirm}
        dismiss={words.keep}
        onDismiss={() => setAsking(undefined)}
        onConfirm={() => {
          setAsking(undefined);
          asking.goOn();
        }}
      >
        <p>{words.text}</p>
      </Dialog>
    ),
  };
}
