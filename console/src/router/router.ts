/**
 * Maps URLs to screens. Filters are in the query, so a view can be shared as a link.
 *
 * Invariants: an unknown URL shows the overview, and navigating to the current URL does nothing.
 */
import { useEffect, useState } from 'preact/hooks';

/** Base path of the console, with a trailing slash. The script is in `assets/` below it. */
export const basePath = new URL(/* @vite-ignore */ '..', import.meta.url).pathname;

export interface Place {
  screen: Screen;
  /** The id in the path, if any. */
  id: string;
  query: URLSearchParams;
}

/** Screens whose path starts with their name. An id may follow it. */
export const namedScreens = [
  'templates',
  'connectors',
  'playground',
  'events',
  'webhooks',
  'audit',
  'tokens',
  'workers',
  'health',
] as const;
export const screens = ['overview', 'customers', 'customer', 'connections', 'jobs', 'job', ...namedScreens] as const;
export type Screen = (typeof screens)[number];

export function placeOf(path: string, search: string): Place {
  const [first = '', second = ''] = path.split('/').filter(Boolean).map(decoded);
  const query = new URLSearchParams(search);
  if (first === 'customers') return { screen: second ? 'customer' : 'customers', id: second, query };
  if (first === 'jobs') return { screen: second ? 'job' : 'jobs', id: second, query };
  if (first === 'connections') return { screen: 'connections', id: '', query };
  const named = namedScreens.find((screen) => screen === first);
  if (named) return { screen: named, id: second, query };
  return { screen: 'overview', id: '', query };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // Malformed URL.
    return part;
  }
}

type Query = Record<string, string | undefined>;

/** Path of a screen, relative to the console. Empty query parameters are left out. */
export function pathTo(screen: Screen, id?: string, query: Query = {}): string {
  const folder = { overview: '', customer: 'customers', job: 'jobs' }[screen as string] ?? screen;
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const search = new URLSearchParams(given).toString();
  const path = [folder, ...(id ? [encodeURIComponent(id)] : [])].filter(Boolean).join('/');
  return `${path}${search ? `?${search}` : ''}`;
}

const moved = 'inlay-moved';

export function navigate(path: string, { replace = false } = {}): void {
  const address = basePath + path;
  if (address === location.pathname + location.search) return;
  if (replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  dispatchEvent(new Event(moved));
  if (!replace) scrollTo(0, 0);
}

/** Returns a `navigate` that does nothing if the user has gone elsewhere meanwhile. */
export function wayOn(): (path: string) => void {
  const here = location.href;
  return (path) => {
    if (location.href === here) navigate(path);
  };
}

/** Replaces the page of one-time links, so that Back does not return to it. */
export function leaveSignIn(): void {
  if (location.pathname === `${basePath}sign-in`) navigate(pathTo('overview'), { replace: true });
}

export function presentPlace(): Place {
  const path = location.pathname.startsWith(basePath) ? location.pathname.slice(basePath.length) : '';
  return placeOf(path, location.search);
}

export function usePlace(): Place {
  const [place, setPlace] = useState(presentPlace);
  useEffect(() => {
    const look = () => setPlace(presentPlace());
    addEventListener('popstate', look);
    addEventListener(moved, look);
    return () => {
      removeEventListener('popstate', look);
      removeEventListener(moved, look);
    };
  }, []);
  return place;
}
