/**
 * Remembers the page across a sign-in at the provider, which always redirects to the same URL. So a shared link still opens its
 * view after the sign-in. Kept in this tab and used once.
 */
import { basePath } from '../../router/router.ts';

const key = 'inlay-console-way-back';

export function rememberPlace(): void {
  try {
    sessionStorage.setItem(key, location.pathname + location.search);
  } catch {
    // Without storage, the user lands on the overview.
  }
}

/** Restores the remembered URL after a sign-in. */
export function takeWayBack(): void {
  try {
    const address = sessionStorage.getItem(key);
    if (address === null) return;
    sessionStorage.removeItem(key);
    const isBack = `${location.pathname}/` === basePath;
    if (isBack && address.startsWith(basePath)) history.replaceState(null, '', address);
  } catch {
    // See rememberPlace.
  }
}
