/**
 * The pending sign-in with a provider. The page stores its id for the widget, because browsers may deny storage to cross-site
 * frames. The id is not a secret: the service returns a sign-in only to tokens of the same workspace and origin.
 *
 * Invariant: the page's URL is read once and contains no sign-in afterwards.
 */
const parameter = 'inlay_sign_in';
let id: string | null = null;
let isBack = false;

/** Whether the provider has redirected to this page and no widget has taken the sign-in yet. */
export function isReturned(): boolean {
  const { search, pathname, hash } = location;
  const returned = new URLSearchParams(search).get(parameter);
  if (returned !== null) {
    // Keep the rest of the query byte for byte: other scripts read it.
    const others = search.slice(1).split('&');
    const rest = others.filter((one) => one.split('=')[0] !== parameter).join('&');
    history.replaceState(history.state, '', pathname + (rest && `?${rest}`) + hash);
    keepSignIn(returned);
    isBack = true;
  }
  return isBack;
}

export const keptSignIn = () => id ?? withStorage((storage) => storage.getItem(parameter)) ?? undefined;

/** Set by the widget; null if there is nothing to resume. */
export function keepSignIn(next: string | null): void {
  id = next;
  isBack = false;
  withStorage((storage) => (next === null ? storage.removeItem(parameter) : storage.setItem(parameter, next)));
}

/** Without storage, only resuming after a reload is lost. */
function withStorage<T>(use: (storage: Storage) => T): T | undefined {
  try {
    return use(sessionStorage);
  } catch {
    return undefined;
  }
}
