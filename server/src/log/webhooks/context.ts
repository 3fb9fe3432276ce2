import type { Logger } from 'pino';
import type { Store } from '../../kernel/db/open.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { Sealer } from '../../kernel/sealing.ts';
import type { Journal } from '../events/journal.ts';
import type { Network } from './sending.ts';

/** What the rules of this folder need. */
export interface WebhooksContext {
  store: Store;
  runtime: Runtime;
  log: Logger;
  sealer: Sealer;
  journal: Journal;
  network: Network;
  /** Whether customers may have endpoints of their own. */
  customersMay: boolean;
  /** Something is to be sent at once. */
  wake(): void;
}
