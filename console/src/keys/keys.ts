/**
 * Keyboard shortcuts: `/` searches, `g` and a letter opens a screen, `j` and `k` move between rows, `?` lists the shortcuts.
 *
 * Invariant: keys pressed in a field or with a modifier are left to the field or the browser.
 */
import { useEffect } from 'preact/hooks';
import { navigate, pathTo, type Screen } from '../router/router.ts';

export const goKeys = {
  o: 'overview',
  c: 'customers',
  n: 'connections',
  j: 'jobs',
  t: 'templates',
  k: 'connectors',
  p: 'playground',
  e: 'events',
  w: 'webhooks',
  a: 'audit',
  s: 'tokens',
  r: 'workers',
  h: 'health',
} as const satisfies Record<string, Screen>;
const waitMs = 1_500;

export function useKeys(onHelp: () => void): void {
  useEffect(() => {
    let isGoing = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      if (isField(event.target) || document.querySelector('dialog[open]')) return;
      const screen = isGoing ? goKeys[event.key as keyof typeof goKeys] : undefined;
      isGoing = false;
      clearTimeout(timer);
      if (screen) navigate(pathTo(screen));
      else if (event.key === 'g') {
        isGoing = true;
        timer = setTimeout(() => {
          isGoing = false;
        }, waitMs);
      } else if (event.key === '/') focusSearch();
      else if (event.key === 'j') moveRow(1);
      else if (event.key === 'k') moveRow(-1);
      else if (event.key === '?') onHelp();
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => {
      clearTimeout(timer);
      removeEventListener('keydown', onKey);
    };
  }, [onHelp]);
}

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, select, textarea, [contenteditable]');
}

/** Focuses the search of the current screen, or else of the customers. */
function focusSearch(): void {
  const find = () => document.querySelector<HTMLInputElement>('[data-search]');
  const present = find();
  if (present) present.focus();
  else navigate(pathTo('customers', undefined, { focus: 'search' }));
}

/** Moves the focus to the first link of the next or previous row. */
function moveRow(step: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')];
  if (rows.length === 0) return;
  const at = rows.findIndex((row) => row === document.activeElement || row.contains(document.activeElement));
  const to = at === -1 ? (step > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + step));
  const row = rows[to];
  (row?.querySelector<HTMLElement>('a') ?? row)?.focus();
}
