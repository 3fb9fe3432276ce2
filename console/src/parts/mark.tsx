/** Line icons that only the console has. Decoration: words beside them say the same. */
const paths = {
  copy: 'M9 9h10a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H9a1 1 0 0 1-1-1V10a1 1 0 0 1 1-1ZM5 15H4a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1h10a1 1 0 0 1 1 1v1',
  overview: 'M4 4h7v9H4zM13 4h7v5h-7zM13 11h7v9h-7zM4 15h7v5H4z',
  customers:
    'M16 19v-1.5a3.5 3.5 0 0 0-3.5-3.5h-5A3.5 3.5 0 0 0 4 17.5V19M10 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM20 19v-1.5a3.5 3.5 0 0 0-2.6-3.4M15 4.2a3.5 3.5 0 0 1 0 6.6',
  connections: 'M9 7H6a4 4 0 0 0 0 8h3m6-8h3a4 4 0 0 1 0 8h-3M8 11h8',
  jobs: 'M8 6h12M8 12h12M8 18h12M4 6v.01M4 12v.01M4 18v.01',
  templates: 'M5 3h9l5 5v13H5zM14 3v5h5M9 13h6M9 17h4',
  connectors: 'M9 3v5m6-5v5M6 8h12v3a6 6 0 0 1-12 0zM12 17v4',
  playground: 'M4 5h16v14H4zM4 9h16M8 13l2 2-2 2M13 17h3',
  events: 'M3 12h4l3-8 4 16 3-8h4',
  webhooks: 'M4 12h12m-5-6 6 6-6 6M20 5v14',
  audit: 'M9 4h6v3H9zM9 5H6v16h12V5h-3M9 13l2 2 4-4',
  tokens: 'M15 14a5 5 0 1 0-4.6-3L4 17.5V20h3v-2h2v-2h2l1.5-1.7A5 5 0 0 0 15 14ZM16 8v.01',
  workers: 'M4 4h16v6H4zM4 14h16v6H4zM8 7v.01M8 17v.01',
  health: 'M12 20s-7-4.4-7-9.5A4 4 0 0 1 12 8a4 4 0 0 1 7 2.5c0 5.1-7 9.5-7 9.5ZM8 12h2l1.5-2.5L13 14l1-2h2',
  play: 'M7 5v14l11-7z',
  pause: 'M9 6v12m6-12v12',
  settings:
    'M4 7h10M18 7h2M4 17h2M10 17h10M16 9.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM8 19.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Z',
} as const;

export type MarkName = keyof typeof paths;

export function Mark({ name }: { name: MarkName }) {
  return (
    <svg class="inlay-glyph" viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
