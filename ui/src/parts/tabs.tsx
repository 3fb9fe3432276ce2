/** Parts of a screen, one visible at a time. Hidden parts remain in the page so that their entries survive. */
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';

export interface TabsProps<K extends string> {
  id: string;
  label: string;
  selected: K;
  onSelect(key: K): void;
  /** Set if there is room for all parts, so that there is nothing to select. */
  areAllShown?: boolean;
  tabs: readonly { key: K; title: string; content: ComponentChildren }[];
}

export function Tabs<K extends string>({ id, label, selected, onSelect, areAllShown = false, tabs }: TabsProps<K>) {
  const list = useRef<HTMLDivElement>(null);

  function onKeyDown(event: KeyboardEvent): void {
    const at = tabs.findIndex(({ key }) => key === selected);
    const moves: Record<string, number> = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 };
    const to = moves[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = (to + tabs.length) % tabs.length;
    const tab = tabs[next];
    if (tab) onSelect(tab.key);
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus();
  }

  return (
    <>
      {!areAllShown && (
        <div class="inlay-tabs" role="tablist" aria-label={label} ref={list} onKeyDown={onKeyDown}>
          {tabs.map(({ key, title }) => (
            <button
              type="button"
              role="tab"
              class="inlay-tab"
              key={key}
              id={`${id}-${key}-tab`}
              aria-controls={`${id}-${key}`}
              aria-selected={key === selected}
              tabIndex={key === selected ? 0 : -1}
              onClick={() => onSelect(key)}
            >
              {title}
            </button>
          ))}
        </div>
      )}
      {tabs.map(({ key, content }) => (
        <div
          {...(!areAllShown && { role: 'tabpanel', 'aria-labelledby': `${id}-${key}-tab`, hidden: key !== selected })}
          class="inlay-tabpanel"
          key={key}
          id={`${id}-${key}`}
        >
          {content}
        </div>
      ))}
    </>
  );
}
