/**
 * The desk of an attempt over the store: what it gives out, keeps, and decides at the end. See attempts/desk.ts for what each
 * call means.
 *
 * Invariant: a desk can be opened anew for each call, in any coordinator, and the attempt ends the same: what later calls need of
 * earlier ones is in the store. Only the rows of the connection and its connectors stay as they were when the desk was opened.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { databaseTime } from '@inlay/database/open-database';
import type { ChangeKind, State, StreamDescriptor } from '@inlay/protocol/protocol';
import { longListText, readLongList } from '@inlay/schedule/pieces';
import { getActor, renewConfiguration } from '../actors/actors.ts';
import { keepDiscovered } from '../actors/discovery.ts';
import { useConnector } from '../actors/prepared-connector.ts';
import type { AttemptRef, AttemptReport, Desk, Move, Naming } from '../attempts/desk.ts';
import { renaming } from '../attempts/naming.ts';
import { followSource, getConnection } from '../connections/connections.ts';
import {
  chosenBefore,
  findAcceptedCatalog,
  keepAcceptedCatalog,
  keepHeld,
  keepState,
  type PlannedStream,
  prepareClearing,
  prepareReading,
  type Reading,
  readPlanned,
  readStates,
  settle,
  startOver,
} from '../connections/stream-states.ts';
import { namingOf } from '../connections/table-owners.ts';
import type { Db } from '../db/open.ts';
import type { ActorRow, ConnectionRow, JobRow } from '../db/tables.ts';
import { definitionOf, getDefinition } from '../definitions/definitions.ts';
import { catalogText } from '../runner/catalog-text.ts';
import type { OpenJobLog } from '../runner/job-log.ts';
import { type Failure, type Progress, RunFailure, type StreamsMoved, type SyncOutcome } from '../runner/runner.ts';
import { type AttemptEnd, asAttempt, assignmentOf, endAttempt, furtherColumns, staleAttempt } from './attempts-book.ts';
import type { JobsContext } from './context.ts';
import { openAttemptLog, removeLogs } from './job-logs.ts';
import * as jobs from './jobs.worker.store.ts';
import { PlanFault, planSync } from './sync-plan.ts';
import { noteTokenEnd, standstill } from './token-ends.ts';

/** How far the attempt is travels with its lease (renewAttempts). */
export interface StoreDesk extends Omit<Desk, 'progress'> {
  /** How the attempt has ended, once it has. */
  readonly end: AttemptEnd | undefined;
  /** Closes the log. */
  close(): void;
}

/** What later calls of an attempt need of `plan`. */
interface Planned {
  /** Nothing was planned: the connection doesn't fit its source. */
  isRefused?: boolean;
  naming: Naming;
  /** Set if the source lacks streams that were requested. */
  shortcoming?: string | undefined;
  /** Whether it was planned again. */
  isAnew?: boolean;
  /** Whether a person has to review the connection before its next sync. */
  disablesConnection?: boolean;
  streams: PlannedStream[];
}

interface Parts {
  connection: ConnectionRow;
  source: ActorRow;
  destination: ActorRow;
}

const keptJobs = 100;
const nothing: Progress = { records: 0, bytes: 0 };

/** Throws StaleAttempt. */
export async function openDesk(ctx: JobsContext, ref: AttemptRef, owner: string): Promise<StoreDesk> {
  const { store } = ctx;
  const job = await jobs.findHeldAttempt(store.db, ref, owner);
  if (!job) throw staleAttempt(ref);
  const assignment = assignmentOf(job);
  const connection = { workspaceId: job.workspace_id, connectionId: job.connection_id };
  const asCurrent = <T>(work: (tx: Db, job: JobRow) => Promise<T>) => asAttempt(ctx, ref, owner, work);

  let loaded: Promise<Parts> | undefined;
  const load = async (tx: Db): Promise<Parts> => {
    const found = await getConnection(tx, job.connection_id);
    return {
      connection: found,
      source: await getActor(tx, 'source', found.source_id),
      destination: await getActor(tx, 'destination', found.destination_id),
    };
  };
  const parts = () => {
    loaded ??= asCurrent(load);
    return loaded;
  };

  let opened: OpenJobLog | undefined;
  const log: Desk['log'] = {
    write(...line) {
      opened ??= openAttemptLog(ctx, job);
      opened.write(...line);
    },
  };
  let end: AttemptEnd | undefined;

  const specificationOf = async () =>
    (await getDefinition(ctx.actors.definitions, definitionOf((await parts()).destination))).specification;

  /** Also keeps what follows from the fault at the end of the attempt. */
  async function refuse(fault: unknown): Promise<never> {
    if (!(fault instanceof PlanFault)) throw fault;
    const { message, disablesConnection } = fault;
    const naming = namingOf((await parts()).connection);
    await asCurrent((tx) => putPlanned(tx, ref, { isRefused: true, naming, disablesConnection, streams: [] }));
    throw new RunFailure({ origin: 'source', type: 'config_error', message });
  }

  const prepare = async (tx: Db, streams: Parameters<typeof prepareReading>[3], naming: Naming) =>
    prepareReading(tx, connection, { jobId: job.job_id, now: await databaseTime(tx) }, streams, renaming(naming));

  const readMove = async (tx: Db, planned: Planned) =>
    moveOf(await readPlanned(tx, connection, planned.streams), planned);

  async function decide(report: AttemptReport, current: JobRow, planned: Planned | undefined): Promise<AttemptEnd> {
    if (report.status === 'stopped') return afterStop(ctx, current, report.arrived);
    if (report.status === 'failed') {
      const { failure, isDelay } = report;
      if (isDelay) return { status: 'interrupted', delay: failure };
      const { disablesConnection = false } = planned ?? {};
      return { status: 'failed', failure, arrived: nothing, disablesConnection };
    }
    const { outcome, tokenEnded, delay } = report;
    if (delay && outcome.failure) return { status: 'interrupted', delay };
    const noted = tokenEnded ? await afterTokenEnd(current, outcome) : {};
    if (noted.tokenEnd !== undefined) return { status: 'interrupted', tokenEnd: noted.tokenEnd };
    const failure = noted.failure ?? outcome.failure;
    if (failure) return { status: 'failed', failure, arrived: outcome.arrived ?? nothing };
    if (outcome.status !== 'succeeded') return { status: 'interrupted' };
    const { streams, moreStreams, changedValues, records, bytes } = outcome;
    if (planned?.shortcoming === undefined)
      return { status: 'succeeded', moved: { streams, moreStreams, changedValues } };
    const message = `${planned.shortcoming} All other streams were synced.`;
    const lacking: Failure = { message, origin: 'source', type: 'config_error' };
    return { status: 'failed', failure: lacking, arrived: { records, bytes } };
  }

  /** The job continues, unless it has made no progress since the last token expired. */
  async function afterTokenEnd(
    current: JobRow,
    { unfinished = [] }: SyncOutcome,
  ): Promise<{ failure?: Failure; tokenEnd?: string }> {
    const { streams, whole } = await readStates(store.db, connection);
    const noted = noteTokenEnd(unfinished, streams, whole);
    const failure = standstill(current.token_end, noted, unfinished);
    return failure ? { failure } : { tokenEnd: JSON.stringify(noted) };
  }

  return {
    assignment,
    log,
    get end() {
      return end;
    },
    close: () => opened?.close(),

    async useConnector(kind, options, work) {
      return await useConnector(ctx.actors, (await parts())[kind], { ...options, log }, work);
    },

    async plan(discovered) {
      const before = await readPlannedOf(store.db, ref);
      if (before && !before.isRefused) return await asCurrent((tx) => readMove(tx, before));
      const { connection: row, source } = await parts();
      const specification = await specificationOf();
      const accepted = await findAcceptedCatalog(store.db, connection);
      // Planning thousands of streams takes long enough to yield to the event loop.
      await nextTurn();
      const plan = await planOrRefuse(() => planSync(row, discovered, accepted, specification));
      await nextTurn();
      const { shortcoming } = plan;
      if (shortcoming !== undefined) log.write('WARN', 'platform', `${shortcoming} The other streams are synced.`);
      const catalog = await catalogText(plan.catalog);
      const naming = namingOf(row);
      const move = await asCurrent(async (tx) => {
        await keepAcceptedCatalog(tx, connection, catalog);
        await followSource(tx, row, plan.configurations);
        const reading = await prepare(tx, plan.streams, naming);
        const planned = { naming, shortcoming, streams: reading.streams };
        await putPlanned(tx, ref, planned);
        return moveOf(reading, planned);
      });
      await keepDiscovered(ctx.actors, source, discovered);
      return move;
    },

    async planClearing() {
      const specification = await specificationOf();
      if (specification.supported_destination_sync_modes?.includes('overwrite') === false) {
        await refuse(
          new PlanFault('This destination cannot delete data. Delete it at the destination yourself.', false),
        );
      }
      const only = job.cleared_streams === null ? undefined : (JSON.parse(job.cleared_streams) as StreamDescriptor[]);
      const catalog = await asCurrent((tx) => prepareClearing(tx, connection, job.job_id, only));
      const reading = { catalog, state: [], notices: new Map(), streams: [] };
      return moveOf(reading, { naming: namingOf((await parts()).connection), streams: [] });
    },

    async planAnew(lost) {
      const gone = lost.map(({ stream, how }) => ({ stream, cause: `destination_${how}` as const }));
      return await asCurrent(async (tx) => {
        const planned = await readPlannedOf(tx, ref);
        if (!planned) throw staleAttempt(ref);
        if (planned.isAnew) return await readMove(tx, planned);
        const chosen = await chosenBefore(tx, connection, planned.streams);
        // The states are forgotten before anything is moved: a crash in between loses nothing.
        await startOver(tx, connection, gone);
        const reading = await prepare(tx, chosen, planned.naming);
        const anew = { ...planned, isAnew: true, streams: reading.streams };
        await putPlanned(tx, ref, anew);
        return moveOf(reading, anew);
      });
    },

    async keepHeld(stream, held) {
      await asCurrent((tx) => keepHeld(tx, connection, stream, held));
    },

    async keepState(state: State, text: string) {
      await asCurrent((tx) => keepState(tx, connection, state, text));
    },

    async keepConfiguration(kind, configuration) {
      const actor = (await parts())[kind];
      await asCurrent((tx) => renewConfiguration(ctx.actors, tx, actor, configuration));
    },

    async finish(report) {
      const current = await jobs.findHeldAttempt(store.db, ref, owner);
      const planned = await readPlannedOf(store.db, ref);
      const decided = current?.status === 'running' ? await decide(report, current, planned) : undefined;
      // Before the job has ended for everybody: then its log is complete.
      if (current && decided && !end) {
        const startedAt = (await jobs.listStarts(store.db, [ref.jobId])).get(ref.jobId) ?? 0;
        const tookMs = Math.max(0, (await databaseTime(store.db)) - startedAt);
        for (const line of lastLines(report, decided, current.stop, tookMs)) log.write(...line);
        await opened?.flush();
      }
      end ??= decided;
      await store.transaction(async (tx) => {
        const held = await jobs.findHeldAttempt(tx, ref, owner);
        if (held?.status === 'cancelled') return await recordCancelled(tx, held, movedBy(report, held));
        if (held?.status !== 'running' || !decided) throw staleAttempt(ref);
        if (report.status === 'ended' && report.outcome.status === 'succeeded')
          await settle(tx, connection, planned?.streams ?? [], report.outcome.notReplaced);
        await endAttempt(tx, held, decided, movedBy(report, held));
      });
      if (decided?.status === 'succeeded') countChangedValues(ctx, decided.moved);
      await removeLogs(ctx, job.connection_id, await jobs.trimJobs(store.db, connection, keptJobs));
      ctx.onJobsChanged();
      ctx.wake();
    },
  };

  async function planOrRefuse<T>(plan: () => T): Promise<T> {
    try {
      return plan();
    } catch (error) {
      return await refuse(error);
    }
  }
}

function moveOf({ catalog, state, notices }: Reading, { naming, streams }: Planned): Move {
  const selectedFields = new Map(
    streams.flatMap(({ key, selectedFields }) => (selectedFields ? [[key, selectedFields] as const] : [])),
  );
  return { catalog, naming, state, selectedFields, notices };
}

/** The streams are on lines of their own after the rest: there can be thousands. */
async function putPlanned(tx: Db, ref: AttemptRef, { streams, ...rest }: Planned): Promise<void> {
  await jobs.putPlan(tx, ref, `${JSON.stringify(rest)}\n${await longListText(streams)}`);
}

/** Undefined before there is a plan, and after one was refused. */
async function readPlannedOf(db: Db, ref: AttemptRef): Promise<Planned | undefined> {
  const text = await jobs.findPlan(db, ref);
  if (text === null) return undefined;
  const end = text.indexOf('\n');
  const streams = (await readLongList(text.slice(end + 1))) ?? [];
  return { ...JSON.parse(text.slice(0, end)), streams };
}

/** Nobody writes another number for a job that was cancelled. */
async function recordCancelled(tx: Db, job: JobRow, moved: Progress): Promise<void> {
  const columns = furtherColumns(job, moved, await databaseTime(tx), true);
  await jobs.updateJob(tx, job, { ...columns, ...jobs.notHeld });
}

/** What the attempt has moved, for its plot; whether that counts is decided at its end. */
function movedBy(report: AttemptReport, job: JobRow): Progress {
  if (report.status === 'stopped') return report.arrived;
  return report.status === 'ended' ? report.outcome : job;
}

/** The store knows why an attempt had to stop. If it doesn't, whoever ran it had to. */
function afterStop({ maxAttemptMs, maxJobMs }: JobsContext, { stop }: JobRow, arrived: Progress): AttemptEnd {
  if (stop === 'attempt_limit') return overdue(maxAttemptMs, 'an attempt', arrived);
  if (stop === 'job_limit') return { ...overdue(maxJobMs, 'a job', arrived), isFinal: true };
  return { status: 'interrupted' };
}

/** What the destination has confirmed is kept, so an incremental sync resumes from there. */
function overdue(limitMs: number, limited: string, arrived: Progress): Extract<AttemptEnd, { status: 'failed' }> {
  const message = `The sync was stopped after ${durationInWords(limitMs)}, the time limit for ${limited}.`;
  return { status: 'failed', failure: { message, origin: 'platform', type: 'transient_error' }, arrived };
}

function durationInWords(ms: number): string {
  const units = [
    [3_600_000, 'hour'],
    [60_000, 'minute'],
  ] as const;
  const [unitMs, unit] = units.find(([length]) => ms % length === 0) ?? [1_000, 'second'];
  const count = ms / unitMs;
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** Only after it was written: an attempt that could not be recorded is repeated. */
function countChangedValues({ onValuesChanged }: JobsContext, { changedValues }: StreamsMoved): void {
  for (const [kind, count] of Object.entries(changedValues)) onValuesChanged(kind as ChangeKind, count);
}

type Line = Parameters<OpenJobLog['write']>;

/** What the log says in the end. */
function lastLines(report: AttemptReport, end: AttemptEnd, stop: JobRow['stop'], tookMs: number): Line[] {
  if (end.status === 'succeeded' && report.status === 'ended') return successLines(report.outcome, tookMs);
  if (end.status === 'failed') return report.status === 'stopped' ? [['ERROR', 'platform', end.failure.message]] : [];
  if (end.status !== 'interrupted') return [];
  if (end.delay) return [['WARN', 'platform', `${end.delay.message} The job is waiting and continues automatically.`]];
  if (end.tokenEnd !== undefined) {
    const message = 'The access token expired. The sync continues from its last state with a new one.';
    return [['INFO', 'platform', message]];
  }
  if (stop !== 'turn') return [];
  return [['INFO', 'platform', 'Paused so that another workspace gets its turn. The job continues automatically.']];
}

/** The last lines of a log that nothing went wrong in. */
function successLines({ streams, moreStreams, records, bytes }: SyncOutcome, tookMs: number): Line[] {
  const counted = (number: number, what: string) => `${number.toLocaleString('en')} ${what}${number === 1 ? '' : 's'}`;
  const sum = [counted(streams.length + moreStreams, 'stream'), counted(records, 'row'), counted(bytes, 'byte')];
  const messages = [
    ...streams.map(({ stream, recordsEmitted, recordsWritten }) => {
      const name = [stream.namespace, stream.name].filter(Boolean).join('.');
      return `${name}: ${counted(recordsWritten ?? recordsEmitted, 'row')}`;
    }),
    ...(moreStreams > 0 ? [`… and ${counted(moreStreams, 'more stream')}`] : []),
    `Succeeded: ${sum.join(', ')} in ${(tookMs / 1000).toFixed(1)} s.`,
  ];
  return messages.map((message) => ['INFO', 'platform', message]);
}
