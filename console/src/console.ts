/** Context of every screen: the session and live updates. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Live } from './live/live.ts';

export interface ConsoleSession {
  id: string;
  organization: { id: string; name: string };
  permission: 'read' | 'operator' | 'full';
  label: string;
  expires_at: string;
  kind: 'token' | 'link' | 'oidc';
  /** URL template of a customer's page in the operator's own system, with `{id}` or `{name}`. */
  customer_url: string | null;
}

export interface Console {
  session: ConsoleSession;
  live: Live;
  /** Changes when the user signs in again, which reloads whatever failed meanwhile. */
  epoch: string;
  mayWrite: boolean;
  /** Whether the user may manage the organization's secrets. */
  isAdmin: boolean;
  /** The session has ended, and the user has not signed in again yet. */
  hasEnded: boolean;
  onSignedOut(): void;
  /** Announces a text to screen readers and shows it briefly. */
  announce(text: string): void;
}

export const ConsoleContext = createContext<Console | undefined>(undefined);

export function useConsole(): Console {
  const console = useContext(ConsoleContext);
  if (!console) throw new Error('Outside the console.');
  return console;
}
