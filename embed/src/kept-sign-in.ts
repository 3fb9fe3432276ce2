/**
 * The sign-in with a provider that is under way. The page keeps its id for the widget, because a browser may deny storage to
 * frames of another site. The id is no secret: the service shows a sign-in only to tokens of its own workspace and origin.
 *
 * What always holds: the address of the page is read once, and then holds no sign-in any more.
 */
const parameter = 'inlay_sign_in';
let id: string | null = null;
let isBack = false;

/** Whether the provider has just sent the customer back to this page, and no widget has taken the sign-in yet. */
export function isReturned(): boolean {
  const { search, pathname, hash } = location;
  const returned = new URLSearchParams(search).get(parameter);
  if (returned !== null) {
    // Everything else stays as it is written: other scripts read it.
    const others = search.slice(1).split('&');
    const rest = others.filter((one) => one.split('=')[0] !== parameter).join('&');
    history.replaceState(history.state, '', pathname + (rest && `?${rest}`) + hash);
    keepSignIn(returned);
    isBack = true;
  }
  return isBack;
}

export const keptSignIn = () => id ?? withStorage((storage) => storage.getItem(parameter)) ?? undefined;

/** As the widget says; null: there is nothing to go on with. */
export function keepSignIn(next: string | null): void {
  id = next;
  isBack = false;
  withStorage((storage) => (next === null ? storage.removeItem(parameter) : storage.setItem(parameter, next)));
}

/** Only a reload needs the storage. A page that has none gets by without. */
function withStorage<T>(use: (storage: Storage) => T): T | undefined {
  try {
    return use(sessionStorage);
  } catch {
    return undefined;
  }
}
