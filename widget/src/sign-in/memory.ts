/**
 * The sign-in that is under way, so that the widget goes on with it after a reload, or after a sign-in that had to leave the
 * page. Only ids are kept, for as long as a sign-in takes. Where the browser allows no storage, the widget just begins anew.
 */
const key = 'inlay-sign-in';
const lifeMs = 10 * 60_000;

export interface RememberedSignIn {
  id: string;
  template: string;
  source?: string | undefined;
}

export function remember(signIn: RememberedSignIn): void {
  withStorage((storage) => storage.setItem(key, JSON.stringify({ ...signIn, until: Date.now() + lifeMs })));
}

export function remembered(): RememberedSignIn | undefined {
  return withStorage((storage) => {
    const kept = JSON.parse(storage.getItem(key) ?? '{}');
    return kept.until > Date.now() ? kept : undefined;
  });
}

export function forget(): void {
  withStorage((storage) => storage.removeItem(key));
}

function withStorage<T>(use: (storage: Storage) => T): T | undefined {
  try {
    return use(sessionStorage);
  } catch {
    // A browser that blocks storage in frames of another site throws.
    return undefined;
  }
}
