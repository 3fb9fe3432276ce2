/** Color scheme: the system's, unless the user has chosen one. The choice stays in this browser. */
export const schemes = ['system', 'light', 'dark'] as const;
export type Scheme = (typeof schemes)[number];

const key = 'inlay-console-scheme';

export function savedScheme(): Scheme {
  return schemes.find((scheme) => scheme === read(key)) ?? 'system';
}

export function applyScheme(scheme: Scheme): void {
  if (scheme === 'system') delete document.documentElement.dataset.scheme;
  else document.documentElement.dataset.scheme = scheme;
}

export function saveScheme(scheme: Scheme): void {
  applyScheme(scheme);
  write(key, scheme);
}

/** If the browser forbids storage, the choice lasts as long as the page. */
export function read(name: string): string | undefined {
  try {
    return localStorage.getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

export function write(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // See read.
  }
}
