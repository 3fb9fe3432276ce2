/**
 * The id of the sign-in that is under way, so that the widget goes on with it after a reload, or after a sign-in that had to
 * leave the page. The service knows everything else about it. The id is kept in three places, because each may be missing: by
 * the page around (which needs the embed library), in the fragment of the frame's own address (which survives a reload of the
 * frame alone), and in the frame's storage (storage.ts).
 */
import type { Host } from '../page/host.ts';
import { key, withStorage } from './storage.ts';

/** Null: there is no sign-in any more. */
export function remember(host: Host, id: string | null): void {
  host.keepSignIn(id);
  const fragment = new URLSearchParams(location.hash.slice(1));
  if (id === null) fragment.delete('sign_in');
  else fragment.set('sign_in', id);
  history.replaceState(null, '', `#&${fragment}`);
  withStorage((storage) => (id === null ? storage.removeItem(key) : storage.setItem(key, id)));
}

/** Whether anybody will know the sign-in after a reload of the page. */
export const canRemember = ({ mode }: Host) =>
  mode !== 'plain' || withStorage((storage) => storage.length) !== undefined;
