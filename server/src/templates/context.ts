/** What the rules of this folder need from outside. */
import type { Logger } from 'pino';
import type { Db, Store } from '../db/open.ts';
import type { DefinitionsContext } from '../definitions/definitions.ts';
import type { Runtime } from '../runtime.ts';
import type { Sealer } from '../sealing.ts';

export interface TemplatesContext extends DefinitionsContext {
  store: Store;
  runtime: Runtime;
  log: Logger;
  sealer: Sealer;
  /** Records that the sources of a changed template shall be updated, and gives how many there are. */
  propagate(tx: Db, organizationId: string, templateId: string): Promise<number>;
}
