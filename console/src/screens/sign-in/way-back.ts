/**
 * Where a person was before going to the provider, who sends everybody back to the same address: a view that a colleague has
 * sent is still there after the sign-in. Kept in this tab only, and for one way.
 */
import { basePath } from '../../router/router.ts';

const key = 'inlay-console-way-back';

export function rememberPlace(): void {
  try {
    sessionStorage.setItem(key, location.pathname + location.search);
  } catch {
    // Without storage, the overview comes first.
  }
}

/** Puts the address back, if the browser has come to the address after a sign-in. */
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
