/** What the rules of this folder need from outside. */

import type { Redactor } from '@inlay/contract/text/redaction';
import type { BoundedMap } from '@inlay/schedule/bounded-map';
import type { ActorsContext } from '../actors/context.ts';
import type { Store } from '../db/open.ts';
import type { Runtime } from '../runtime.ts';
import type { AttemptsBook } from './attempts-book.ts';
import type { Waiters } from './waiters.ts';

export interface WorkersContext {
  store: Store;
  runtime: Runtime;
  actors: ActorsContext;
  attempts: AttemptsBook;
  waiters: Waiters;
  /** By attempt: what takes the secrets that its worker was given out of what it sends. */
  redactors: BoundedMap<string, Redactor>;
  /** Whether this process may give out jobs now. */
  isCoordinating(): boolean;
  /** Aborted when the platform is closed. */
  closing: AbortSignal;
}
