/**
 * Which screen the address names. Filters of a list are in the query, so that a view can be sent to a colleague.
 *
 * What always holds: an address that names no screen shows the overview, and going to the present address changes nothing.
 */
import { useEffect, useState } from 'preact/hooks';

/** Where the console is served, with a slash at its end. The script lies in `assets/` below it. */
export const basePath = new URL(/* @vite-ignore */ '..', import.meta.url).pathname;

export interface Place {
  screen: Screen;
  /** What the path names beside the screen. */
  id: string;
  query: URLSearchParams;
}

/** Screens whose folder is their name. What follows it names one thing that the screen then shows. */
export const namedScreens = [
  'templates',
  'connectors',
  'playground',
  'events',
  'webhooks',
  'audit',
  'tokens',
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
    // Not made by us.
    return part;
  }
}

type Query = Record<string, string | undefined>;

/** The path of a screen below the console, with a query of what is set. */
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

/** A way on from here. It leads nowhere once the person has gone elsewhere: nobody is taken away from what they look at. */
export function wayOn(): (path: string) => void {
  const here = location.href;
  return (path) => {
    if (location.href === here) navigate(path);
  };
}

/** One-time links lead to a page of their own, which is nothing to come back to. */
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
