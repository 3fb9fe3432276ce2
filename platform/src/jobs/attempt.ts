/**
 * One attempt of a job, from the current connection to the outcome. Intermediate results (states, renewed
 * configurations) are durable when the runner is notified; the scheduler writes the outcome.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Configuration } from '@inlay/contract/catalog/connector-configuration';
import type { TraceContext } from '@inlay/contract/text/trace-context';
import { type StreamDescriptor, streamKey } from '@inlay/protocol/protocol';
import { getActor, renewConfiguration } from '../actors/actors.ts';
import { discoverCatalog } from '../actors/discovery.ts';
import { useConnector } from '../actors/prepared-connector.ts';
import { followSource, getConnection } from '../connections/connections.ts';
import {
  findAcceptedCatalog,
  keepAcceptedCatalog,
  keepHeld,
  keepState,
  prepareClearing,
  prepareReading,
  type Reading,
  readStates,
  settle,
  startOver,
} from '../connections/stream-states.ts';
import { renaming } from '../connections/table-owners.ts';
import type { Db } from '../db/open.ts';
import type { ActorRow, ConnectionRow } from '../db/tables.ts';
import { definitionOf, getDefinition } from '../definitions/definitions.ts';
import { catalogText } from '../runner/catalog-text.ts';
import {
  type Failure,
  fieldsMissingCode,
  type JobLog,
  type Progress,
  RunDelayed,
  RunFailure,
  type StreamNotice,
  type SyncOutcome,
} from '../runner/runner.ts';
import type { JobsContext } from './context.ts';
import { type AttemptEnd, asRun, type Run, StaleRun } from './job-runs.ts';
import { PlanFault, planSync } from './sync-plan.ts';
import { isTokenEnd, noteTokenEnd, standstill } from './token-ends.ts';

interface AttemptOptions {
  signal: AbortSignal;
  log: JobLog;
  trace: TraceContext;
  onProgress(progress: Progress): void;
}

const nothing: Progress = { records: 0, bytes: 0 };

interface Parts {
  connection: ConnectionRow;
  source: ActorRow;
  destination: ActorRow;
}

/** Undefined if it was stopped or another process has the job. Throws only for faults of the platform itself. */
export async function runAttempt(ctx: JobsContext, run: Run, options: AttemptOptions): Promise<AttemptEnd | undefined> {
  const { log, signal } = options;
  const startedMs = ctx.runtime.elapsed();
  try {
    const connection = await getConnection(ctx.store.db, run.job.connection_id);
    const parts = {
      connection,
      source: await getActor(ctx.store.db, 'source', connection.source_id),
      destination: await getActor(ctx.store.db, 'destination', connection.destination_id),
    };
    log.write('INFO', 'platform', `${run.job.job_type}, attempt ${run.job.attempts}`);
    const outcome = await (run.job.job_type === 'sync' ? sync : clear)(ctx, run, parts, options);
    // Nobody writes another number for a job that was cancelled.
    options.onProgress((outcome.status === 'cancelled' && outcome.arrived) || outcome);
    if (outcome.tokenEnd !== undefined) return { status: 'interrupted', tokenEnd: outcome.tokenEnd };
    if (outcome.delay) return delayed(outcome.delay, log);
    if (outcome.failure) return { status: 'failed', failure: outcome.failure, arrived: outcome.arrived ?? nothing };
    const { streams, moreStreams, changedValues } = outcome;
    if (outcome.status !== 'succeeded') return undefined;
    logSuccess(log, outcome, ctx.runtime.elapsed() - startedMs);
    return { status: 'succeeded', moved: { streams, moreStreams, changedValues } };
  } catch (error) {
    if (signal.aborted || error instanceof StaleRun) return undefined;
    if (error instanceof RunDelayed) return delayed(error.failure, log);
    if (error instanceof RunFailure) return { status: 'failed', failure: error.failure, arrived: nothing };
    if (error instanceof PlanFault) {
      const failure = { message: error.message, origin: 'source', type: 'config_error' } as const;
      return { status: 'failed', failure, arrived: nothing, disablesConnection: error.disablesConnection };
    }
    throw error;
  }
}

/** The last lines of a log that nothing went wrong in. */
function logSuccess(log: JobLog, { streams, moreStreams, records, bytes }: SyncOutcome, tookMs: number): void {
  const counted = (number: number, what: string) => `${number.toLocaleString('en')} ${what}${number === 1 ? '' : 's'}`;
  for (const { stream, recordsEmitted, recordsWritten } of streams) {
    const name = [stream.namespace, stream.name].filter(Boolean).join('.');
    log.write('INFO', 'platform', `${name}: ${counted(recordsWritten ?? recordsEmitted, 'row')}`);
  }
  if (moreStreams > 0) log.write('INFO', 'platform', `… and ${counted(moreStreams, 'more stream')}`);
  const sum = [counted(streams.length + moreStreams, 'stream'), counted(records, 'row'), counted(bytes, 'byte')];
  log.write('INFO', 'platform', `Succeeded: ${sum.join(', ')} in ${(tookMs / 1000).toFixed(1)} s.`);
}

function delayed(delay: Failure, log: JobLog): AttemptEnd {
  log.write('WARN', 'platform', `${delay.message} The job is waiting and continues automatically.`);
  return { status: 'interrupted', delay };
}

/**
 * `tokenEnd`: the source's access token expired, and the job continues with a new one. `delay`: why no new one was
 * available.
 */
type AttemptOutcome = SyncOutcome & { tokenEnd?: string; delay?: Failure };

async function sync(ctx: JobsContext, run: Run, parts: Parts, options: AttemptOptions): Promise<AttemptOutcome> {
  const { connection, source, destination } = parts;
  const ref = refOf(connection);
  const { specification } = await getDefinition(ctx.actors.definitions, definitionOf(destination));
  const { signal, log, trace } = options;
  const discovered = await discoverCatalog(ctx.actors, source, { ignoreCache: true, signal, log, trace });
  const accepted = await findAcceptedCatalog(ctx.store.db, ref);
  // Planning thousands of streams takes long enough to yield to the event loop.
  await nextTurn();
  const plan = planSync(connection, discovered, accepted, specification);
  await nextTurn();
  if (plan.shortcoming !== undefined)
    log.write('WARN', 'platform', `${plan.shortcoming} The other streams are synced.`);
  const catalog = await catalogText(plan.catalog);
  const rename = renaming(connection);
  const prepare = (tx: Db) =>
    prepareReading(tx, ref, { jobId: run.job.job_id, now: ctx.runtime.now() }, plan.streams, rename);
  const reading = await asRun(ctx, run, async (tx) => {
    await keepAcceptedCatalog(tx, ref, catalog);
    await followSource(tx, connection, plan.configurations);
    return await prepare(tx);
  });
  const selectedFields = new Map(
    plan.streams.flatMap(({ stream, selectedFields }) =>
      selectedFields ? [[streamKey(stream), selectedFields] as const] : [],
    ),
  );
  const use = { signal, log, forMs: tokenForMs };
  const move = ({ unsettled, ...reading }: Reading) =>
    useConnector(ctx.actors, source, use, (from) =>
      useConnector(ctx.actors, destination, {}, async (to): Promise<AttemptOutcome> => {
        // Whether the source fills fields that are new is known after the sync.
        const isKnown = ({ code }: StreamNotice) => code !== fieldsMissingCode;
        const warn = ({ message }: StreamNotice) => log.write('WARN', 'platform', message);
        [...reading.notices.values()].flat().filter(isKnown).forEach(warn);
        const outcome = await ctx.runner.sync({
          ...options,
          source: from,
          destination: to,
          rename,
          ...reading,
          selectedFields,
          keepHeld: (stream, held) => asRun(ctx, run, (tx) => keepHeld(tx, ref, stream, held)),
          keepState: (state, text) => asRun(ctx, run, (tx) => keepState(tx, ref, state, text)),
          keepConfiguration: keepConfiguration(ctx, run, parts),
        });
        if (outcome.status === 'succeeded') {
          for (const { notices = [] } of outcome.streams) notices.filter((notice) => !isKnown(notice)).forEach(warn);
          await asRun(ctx, run, (tx) => settle(tx, ref, unsettled, outcome.notReplaced));
        }
        if (outcome.failure && from.signIn?.delay) return { ...outcome, delay: from.signIn.delay };
        if (!isTokenEnd(from, outcome, ctx.runtime.now())) return outcome;
        return await afterTokenEnd(ctx, run, ref, outcome, log);
      }),
    );
  let outcome = await move(reading);
  if (outcome.status === 'lost') {
    // Nothing was moved. The states are forgotten before anything is: a crash in between loses nothing.
    const lost = (outcome.lostStreams ?? []).map(({ stream, how }) => ({
      stream,
      cause: `destination_${how}` as const,
    }));
    const anew = await asRun(ctx, run, async (tx) => {
      await startOver(tx, ref, lost);
      return await prepare(tx);
    });
    outcome = await move(anew);
    if (outcome.status === 'lost') throw new RunFailure(lostAgain);
  }
  if (outcome.status !== 'succeeded' || plan.shortcoming === undefined) return outcome;
  const message = `${plan.shortcoming} All other streams were synced.`;
  const { records, bytes } = outcome;
  const failure = { message, origin: 'source', type: 'config_error' } as const;
  return { ...outcome, status: 'failed', failure, arrived: { records, bytes } };
}

async function clear(ctx: JobsContext, run: Run, parts: Parts, options: AttemptOptions): Promise<AttemptOutcome> {
  const { connection, destination } = parts;
  const { specification } = await getDefinition(ctx.actors.definitions, definitionOf(destination));
  if (specification.supported_destination_sync_modes?.includes('overwrite') === false) {
    throw new PlanFault('This destination cannot delete data. Delete it at the destination yourself.', false);
  }
  const { job_id, cleared_streams } = run.job;
  const only = cleared_streams === null ? undefined : (JSON.parse(cleared_streams) as StreamDescriptor[]);
  const catalog = await asRun(ctx, run, (tx) => prepareClearing(tx, refOf(connection), job_id, only));
  if (catalog.streams.length === 0)
    return { status: 'succeeded', records: 0, bytes: 0, streams: [], moreStreams: 0, changedValues: {} };
  return await useConnector(ctx.actors, destination, {}, (to) =>
    ctx.runner.clear({
      ...options,
      destination: to,
      rename: renaming(connection),
      catalog,
      keepConfiguration: keepConfiguration(ctx, run, parts),
    }),
  );
}

const lostAgain: Failure = {
  origin: 'destination',
  type: 'transient_error',
  message: 'Data was removed from the destination while the sync was starting.',
};

/** A token that is got for a source that cannot ask for another one should be valid for as long as most syncs take. */
const tokenForMs = 1_800_000;

/** The job continues, unless it has made no progress since the last token expired. */
async function afterTokenEnd(
  ctx: JobsContext,
  run: Run,
  ref: ReturnType<typeof refOf>,
  outcome: SyncOutcome,
  log: JobLog,
): Promise<AttemptOutcome> {
  const { unfinished = [] } = outcome;
  const { streams, whole } = await readStates(ctx.store.db, ref);
  const end = noteTokenEnd(unfinished, streams, whole);
  const failure = standstill(run.job.token_end, end, unfinished);
  if (failure) return { ...outcome, failure };
  log.write('INFO', 'platform', 'The access token expired. The sync continues from its last state with a new one.');
  return { ...outcome, tokenEnd: JSON.stringify(end) };
}

function keepConfiguration(ctx: JobsContext, run: Run, parts: Parts) {
  return async (kind: 'source' | 'destination', configuration: Configuration): Promise<void> => {
    await asRun(ctx, run, (tx) => renewConfiguration(ctx.actors, tx, parts[kind], configuration));
  };
}

function refOf({ workspace_id, connection_id }: ConnectionRow) {
  return { workspaceId: workspace_id, connectionId: connection_id };
}
