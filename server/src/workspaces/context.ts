/** What the rules of this folder need from outside, and the in-process sharing of work for one key. */
import type { Logger } from 'pino';
import type { Db, Store } from '../db/open.ts';
import type { Platform } from '../platform/platform.ts';
import type { Runtime } from '../runtime.ts';

/** Things worth counting; metrics.ts turns them into numbers. None carries a tenant's name. */
export type WorkspaceEvent =
  | 'workspace_created'
  | 'workspace_adopted'
  | 'name_ambiguous'
  | 'orphan_found'
  | 'settle_wait'
  | 'claim_dropped'
  | 'missing_on_platform';

export interface WorkspacesContext {
  store: Store;
  platform: Platform;
  runtime: Runtime;
  log: Logger;
  /** How long the platform may take to apply a request after its answer was lost. */
  settleMs: number;
  /** The platform's id for one of our organizations. */
  platformOrganizationId(organizationId: string): Promise<string>;
  count(event: WorkspaceEvent, by?: number): void;
  flights: Flights;
  /** What is in a workspace goes with it, in the same transaction and with the same time. */
  recordContentsDeleted(tx: Db, workspaceId: string, deletedAt: number): Promise<void>;
  /** Called when tokens of a workspace have stopped working. */
  tokensEnded(): void;
}

/** One piece of work per key at a time in this process; whoever asks meanwhile shares its outcome. */
export class Flights {
  readonly #running = new Map<string, Promise<unknown>>();

  share<T>(key: string, work: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key);
    if (running) return running as Promise<T>;
    const flight = work().finally(() => this.#running.delete(key));
    this.#running.set(key, flight);
    return flight;
  }
}
