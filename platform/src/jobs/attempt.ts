/*
 * One attempt of a job, from the connection as it stands to the outcome. What it keeps on the way (states, renewed
 * configurations) is safe when the runner is told so; the outcome is the scheduler's to write.
 */
import type { Configuration } from '@inlay/contract/connector-configuration';
import { getConnector } from '../actors/actors.ts';
import { discoverCatalog } from '../actors/discovery.ts';
import { prepareConnector } from '../actors/prepared-connector.ts';
import { sealConfiguration } from '../actors/sealed-configuration.ts';
import { getConnection } from '../connections/connections.ts';
import {
  findAcceptedCatalog,
  prepareClearing,
  prepareReading,
  putAcceptedCatalog,
  putState,
} from '../connections/stream-states.ts';
import type { Platform } from '../context.ts';
import type { ConnectionRow, ConnectorRow } from '../db/open.ts';
import { checkConfiguration } from '../definitions/configuration.ts';
import { getDefinition } from '../definitions/definitions.ts';
import { streamKey } from '../protocol.ts';
import { type JobLog, type Progress, RunFailure, type SyncOutcome } from '../runner/runner.ts';
import { type AttemptEnd, asRun, type Run, StaleRun } from './job-runs.ts';
import { PlanFault, planSync, renaming } from './sync-plan.ts';

export interface AttemptOptions {
  signal: AbortSignal;
  log: JobLog;
  onProgress(progress: Progress): void;
}

interface Parts {
  connection: ConnectionRow;
  source: ConnectorRow;
  destination: ConnectorRow;
}

/** Undefined when it was stopped, or somebody else has the job. Throws only for a fault of the platform itself. */
export async function runAttempt(
  platform: Platform,
  run: Run,
  options: AttemptOptions,
): Promise<AttemptEnd | undefined> {
  const { log, signal } = options;
  try {
    const connection = await getConnection(platform.store, run.job.connection_id);
    const parts = {
      connection,
      source: await getConnector(platform.store, 'source', connection.source_id),
      destination: await getConnector(platform.store, 'destination', connection.destination_id),
    };
    log.write('INFO', 'platform', `${run.job.job_type}, attempt ${run.job.attempts}`);
    const outcome = await (run.job.job_type === 'sync' ? sync : clear)(platform, run, parts, options);
    options.onProgress(outcome);
    if (outcome.failure) return { status: 'failed', failure: outcome.failure };
    return outcome.status === 'succeeded' ? { status: 'succeeded' } : undefined;
  } catch (error) {
    if (signal.aborted || error instanceof StaleRun) return undefined;
    if (error instanceof RunFailure) return { status: 'failed', failure: error.failure };
    if (error instanceof PlanFault) {
      const failure = { message: error.message, origin: 'source', type: 'config_error' } as const;
      return { status: 'failed', failure, disablesConnection: error.disablesConnection };
    }
    throw error;
  }
}

async function sync(platform: Platform, run: Run, parts: Parts, options: AttemptOptions): Promise<SyncOutcome> {
  const { connection, source, destination } = parts;
  const connectionId = connection.connection_id;
  const { specification } = await getDefinition(platform, 'destination', destination.definition_id);
  const { signal, log } = options;
  const discovered = await discoverCatalog(platform, source, { ignoreCache: true, signal, log });
  const accepted = await findAcceptedCatalog(platform.store, connectionId);
  const plan = planSync(connection, discovered, accepted, specification);
  const reading = await asRun(platform, run, async (trx) => {
    await putAcceptedCatalog(trx, connectionId, plan.catalog);
    await trx
      .updateTable('connections')
      .set({ configurations: JSON.stringify(plan.configurations) })
      .where('connection_id', '=', connectionId)
      .where('configurations', '=', connection.configurations)
      .execute();
    return prepareReading(trx, { connectionId, jobId: run.job.job_id }, plan.streams);
  });
  return platform.runner.sync({
    ...options,
    source: await prepareConnector(platform, source),
    destination: await prepareConnector(platform, destination),
    rename: renaming(connection),
    ...reading,
    selectedFields: new Map(
      plan.streams.flatMap(({ stream, selectedFields }) =>
        selectedFields ? [[streamKey(stream), selectedFields] as const] : [],
      ),
    ),
    keepState: (state) => asRun(platform, run, (trx) => putState(trx, connectionId, state)),
    keepConfiguration: keepConfiguration(platform, run, parts),
  });
}

async function clear(platform: Platform, run: Run, parts: Parts, options: AttemptOptions): Promise<SyncOutcome> {
  const { connection, destination } = parts;
  const { specification } = await getDefinition(platform, 'destination', destination.definition_id);
  if (specification.supported_destination_sync_modes?.includes('overwrite') === false) {
    throw new PlanFault('The destination cannot remove what it was sent. Remove it there, by hand.', false);
  }
  const { connection_id: connectionId } = connection;
  const ids = { connectionId, jobId: run.job.job_id };
  const catalog = await asRun(platform, run, (trx) => prepareClearing(trx, ids));
  if (catalog.streams.length === 0) return { status: 'succeeded', records: 0, bytes: 0 };
  return platform.runner.clear({
    ...options,
    destination: await prepareConnector(platform, destination),
    rename: renaming(connection),
    catalog,
    keepConfiguration: keepConfiguration(platform, run, parts),
  });
}

/** A connector may renew its own configuration, a refresh token for instance; it has to be as valid as any other. */
function keepConfiguration(platform: Platform, run: Run, parts: Parts) {
  return async (kind: 'source' | 'destination', configuration: Configuration): Promise<void> => {
    const { connector_id, definition_id } = parts[kind];
    const { specification } = await getDefinition(platform, kind, definition_id);
    checkConfiguration(specification.connectionSpecification, configuration);
    await asRun(platform, run, async (trx) => {
      await trx
        .updateTable('connectors')
        .set({ configuration: sealConfiguration(platform.sealer, connector_id, configuration) })
        .where('connector_id', '=', connector_id)
        .where('deleted_at', 'is', null)
        .execute();
    });
  };
}
