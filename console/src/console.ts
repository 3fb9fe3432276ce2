/** What every screen uses: the session, and the stream of events. */
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
  /** Page of a customer in the operator's own system, with `{id}` or `{name}` in it. */
  customer_url: string | null;
}

export interface Console {
  session: ConsoleSession;
  live: Live;
  /** Another one when the person has signed in again: what failed meanwhile is loaded anew. */
  epoch: string;
  mayWrite: boolean;
  /** Whether the person may do what has to do with secrets of the organization. */
  isAdmin: boolean;
  /** Whether the session has ended, and the person has not signed in again yet. */
  hasEnded: boolean;
  onSignedOut(): void;
  /** Says a text to screen readers, and shows it for a moment. */
  announce(text: string): void;
}

export const ConsoleContext = createContext<Console | undefined>(undefined);

export function useConsole(): Console {
  const console = useContext(ConsoleContext);
  if (!console) throw new Error('Outside the console.');
  return console;
}
