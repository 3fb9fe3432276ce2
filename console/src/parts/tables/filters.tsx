/** List filters. They are in the URL, so a view can be shared. */
import { Glyph } from '@inlay/ui/parts/glyph.tsx';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Link } from '../../router/link.tsx';
import { navigate, type Place, pathTo } from '../../router/router.ts';
import { words } from '../../words/words.ts';

/** The current view with one filter changed. */
export function withFilter({ screen, id, query }: Place, name: string, value: string | undefined): string {
  const next = Object.fromEntries(query);
  delete next.focus;
  return pathTo(screen, id, { ...next, [name]: value });
}

export function Filters({ place, children }: { place: Place; children: ComponentChildren }) {
  const isFiltered = [...place.query.keys()].some((name) => name !== 'focus' && name !== 'sort');
  return (
    <search class="c-filters" aria-label={words.list.filters}>
      {children}
      {isFiltered && <Link to={pathTo(place.screen)}>{words.list.clear}</Link>}
    </search>
  );
}

interface ChoiceProps {
  place: Place;
  name: string;
  label: string;
  options: Readonly<Record<string, string>>;
  /** Label of the unfiltered option. Without it, the first option is the default. */
  all?: string;
}

export function Choice({ place, name, label, options, all }: ChoiceProps) {
  return (
    <label class="c-choice">
      <span>{label}</span>
      <select
        class="c-control"
        value={place.query.get(name) ?? (all === undefined ? Object.keys(options)[0] : '')}
        onChange={({ currentTarget }) => navigate(withFilter(place, name, currentTarget.value), { replace: true })}
      >
        {all !== undefined && <option value="">{all}</option>}
        {Object.entries(options).map(([value, text]) => (
          <option value={value} key={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Tick({ place, name, label }: { place: Place; name: string; label: string }) {
  return (
    <label class="c-tick">
      <input
        type="checkbox"
        checked={place.query.get(name) === 'true'}
        onChange={({ currentTarget }) =>
          navigate(withFilter(place, name, currentTarget.checked ? 'true' : undefined), { replace: true })
        }
      />
      <span>{label}</span>
    </label>
  );
}

/** Debounce, so that a typed word is one request. */
const typingMs = 200;

export function Search({ place, name, label }: { place: Place; name: string; label: string }) {
  const input = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const latest = useRef(place);
  latest.current = place;
  useEffect(() => {
    if (place.query.get('focus') === 'search') input.current?.focus();
    return () => clearTimeout(timer.current);
  }, []);
  const sought = place.query.get(name) ?? '';
  useEffect(() => {
    // Follow the URL when filters were cleared or the user went back, but keep text that is still being typed.
    if (input.current && !timer.current && input.current.value.trim() !== sought) input.current.value = sought;
  }, [sought]);
  return (
    <label class="c-search">
      <span class="inlay-unseen">{label}</span>
      <Glyph name="search" />
      <input
        class="c-control"
        type="search"
        data-search
        ref={input}
        placeholder={label}
        defaultValue={sought}
        onInput={({ currentTarget }) => {
          clearTimeout(timer.current);
          const text = currentTarget.value;
          timer.current = setTimeout(() => {
            timer.current = undefined;
            navigate(withFilter(latest.current, name, text.trim() || undefined), { replace: true });
          }, typingMs);
        }}
      />
      <kbd>/</kbd>
    </label>
  );
}

/** A filter from the URL. The link removes it. */
export function Chip({ to, text }: { to: string; text: string }) {
  return (
    <Link to={to} class="c-chip">
      {text} <span aria-hidden="true">×</span>
    </Link>
  );
}
