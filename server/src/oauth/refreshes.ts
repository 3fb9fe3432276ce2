/** What this process refreshes at the moment, so that everybody who wants the same tokens shares one request. */
import type { Runtime } from '../runtime.ts';
import { TokenHosts } from './token-hosts.ts';

export type Refreshed =
  /** There is another generation than the one that was known. */
  | { kind: 'fresh' }
  /** Another process refreshes, for that long at most. */
  | { kind: 'busy'; ms: number }
  /** It has not worked this time; `isAsked`: the provider was asked, and when to ask again is stored. */
  | { kind: 'later'; reason: string; isAsked: boolean }
  /** Somebody has to do something. */
  | { kind: 'ended' };

/** What this process refreshes at the moment. */
export class Refreshes {
  readonly flights = new Map<string, Promise<Refreshed>>();
  readonly hosts: TokenHosts;

  constructor(runtime: Pick<Runtime, 'elapsed' | 'random'>) {
    this.hosts = new TokenHosts(runtime);
  }
}
