/**
 * The id of the pending sign-in, to resume it after a reload or a sign-in on the whole page. The service stores everything
 * else. The id is kept in three places, because each may be missing: the host page (with the embed library), the fragment of
 * the frame's URL (survives a reload of the frame alone), and the frame's storage (storage.ts).
 */
import type { Host } from '../page/host.ts';
import { key, withStorage } from './storage.ts';

/** Null clears it. */
export function remember(host: Host, id: string | null): void {
  host.keepSignIn(id);
  const fragment = new URLSearchParams(location.hash.slice(1));
  if (id === null) fragment.delete('sign_in');
  else fragment.set('sign_in', id);
  history.replaceState(null, '', `#&${fragment}`);
  withStorage((storage) => (id === null ? storage.removeItem(key) : storage.setItem(key, id)));
}

/** Whether the sign-in can be resumed after a reload of the page. */
export const canRemember = ({ mode }: Host) =>
  mode !== 'plain' || withStorage((storage) => storage.length) !== undefined;
