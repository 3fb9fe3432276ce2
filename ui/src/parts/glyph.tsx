/** Our own line icons. Decoration only: words beside them say the same. */

const paths = {
  alert: 'M12 8v5m0 3.5v.01M10.3 3.9 2.6 17.2A2 2 0 0 0 4.3 20.2h15.4a2 2 0 0 0 1.7-3L13.7 3.9a2 2 0 0 0-3.4 0Z',
  back: 'M19 12H5m6-6-6 6 6 6',
  check: 'm5 12.5 4.5 4.5L19 7.5',
  chevron: 'm9 5 7 7-7 7',
  clock: 'M12 7v5l3 2m6-2a9 9 0 1 1-18 0 9 9 0 0 1 18 0Z',
  close: 'm6 6 12 12M18 6 6 18',
  external: 'M14 4h6v6m0-6-9 9M18 14v4a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2V8a2 2 0 0 1 2-2h4',
  inbox:
    'M3 13h5l1.5 3h5L16 13h5M5.6 5.2 3 13v5a2 2 0 0 0 2 2h14a2 2 0 0 0 2-2v-5l-2.6-7.8A2 2 0 0 0 16.5 4h-9a2 2 0 0 0-1.9 1.2Z',
  lock: 'M7 11V8a5 5 0 0 1 10 0v3M6 11h12a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1H6a1 1 0 0 1-1-1v-7a1 1 0 0 1 1-1Z',
  offline:
    'm4 4 16 16M8.5 15.5a5 5 0 0 1 7 0M5 12a10 10 0 0 1 4-2.4m5.5-.1A10 10 0 0 1 19 12M2 8.5A15 15 0 0 1 6 6m4.5-1.3A15 15 0 0 1 22 8.5M12 19v.01',
  pause: 'M9 6v12m6-12v12',
  plus: 'M12 5v14M5 12h14',
  search: 'm20 20-4.3-4.3M18 11a7 7 0 1 1-14 0 7 7 0 0 1 14 0Z',
  sync: 'M20 11a8 8 0 0 0-14-4.5L3.5 9M4 13a8 8 0 0 0 14 4.5L20.5 15M3.5 4v5h5m12 11v-5h-5',
} as const;

export type GlyphName = keyof typeof paths;

export function Glyph({ name }: { name: GlyphName }) {
  return (
    <svg class="inlay-glyph" viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}

export function Spinner() {
  return <span class="inlay-spinner" aria-hidden="true" />;
}
