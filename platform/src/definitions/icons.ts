/** Icons of the bundled connectors, as `data:` addresses: a page that shows one loads nothing. */

const drawings = {
  'sample-data': [
    '#7c3aed',
    'M12 3l1.9 5.1L19 10l-5.1 1.9L12 17l-1.9-5.1L5 10l5.1-1.9zM18 16l.8 2.2L21 19l-2.2.8L18 22l-.8-2.2L15 19l2.2-.8z',
  ],
  postgres: [
    '#2f6792',
    'M5 6c0-1.7 3.1-3 7-3s7 1.3 7 3-3.1 3-7 3-7-1.3-7-3zM5 6v12c0 1.7 3.1 3 7 3s7-1.3 7-3V6M5 12c0 1.7 3.1 3 7 3s7-1.3 7-3',
  ],
  'http-api': ['#0f766e', 'M8 7l-5 5 5 5M16 7l5 5-5 5M13.5 4l-3 16'],
  file: ['#b45309', 'M6 2.5h8l4.5 4.5v14.5H6zM14 2.5V7h4.5M9 12h6.5M9 15.5h6.5'],
  'local-files': [
    '#475569',
    'M3 6.5A1.5 1.5 0 0 1 4.5 5H9l2 2.5h8.5A1.5 1.5 0 0 1 21 9v9a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 3 18z',
  ],
  s3: ['#3f7d20', 'M4 6h16l-2 14H6zM4 6c0-1.7 3.6-3 8-3s8 1.3 8 3M4.9 12h14.2'],
} as const;

export function iconOf(drawing: keyof typeof drawings): string {
  const [color, path] = drawings[drawing];
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40" viewBox="0 0 40 40"><rect width="40" height="40" rx="9" fill="${color}"/>` +
    `<path transform="translate(8 8)" d="${path}" fill="none" stroke="#fff" stroke-width="1.7" stroke-linejoin="round" stroke-linecap="round"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
