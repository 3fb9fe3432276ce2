/** What the rules of this folder need from outside. */
import type { Store } from '../db/open.ts';
import type { Runtime } from '../runtime.ts';

export interface WorkersContext {
  store: Store;
  runtime: Runtime;
}
