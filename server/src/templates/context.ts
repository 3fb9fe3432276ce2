/** What the rules of this folder need from outside. */
import type { Configuration } from '@inlay/contract/connector-configuration';
import type { Logger } from 'pino';
import type { Db, Store } from '../db/open.ts';
import type { Definition, DefinitionsContext } from '../definitions/definitions.ts';
import type { ConnectorFailure } from '../platform/pipelines-port.ts';
import type { Runtime } from '../runtime.ts';
import type { Sealer } from '../sealing.ts';

export interface TemplatesContext extends DefinitionsContext {
  store: Store;
  runtime: Runtime;
  log: Logger;
  sealer: Sealer;
  /** Records that the sources of a changed template shall be updated, and gives how many there are. */
  propagate(tx: Db, organizationId: string, templateId: string): Promise<number>;
  /** Runs the destination's connector to see whether it works; takes seconds. */
  tryDestination(
    organizationId: string,
    definition: Definition,
    configuration: Configuration,
  ): Promise<DestinationVerdict>;
}

/** A failure is without secrets. `not checkable`: the platform has no checks of destinations. */
export type DestinationVerdict = 'works' | 'not checkable' | ConnectorFailure;
