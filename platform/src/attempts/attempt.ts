/**
 * One attempt of a job, from what the source has to the outcome. What comes in between (states, renewed configurations) is
 * durable when the runner is told so. The same code runs in a coordinator's process and on a worker: all it knows is its desk and
 * its runner.
 */
import type { TraceContext } from '@inlay/contract/text/trace-context';
import { storageFaultOf } from '@inlay/database/storage-state';
import { platformFailure } from '../runner/ask.ts';
import {
  type ConfiguredConnector,
  type Failure,
  fieldsMissingCode,
  type Progress,
  RunDelayed,
  RunFailure,
  type Runner,
  type StreamNotice,
  type SyncOutcome,
} from '../runner/runner.ts';
import { lastTokenEnd } from '../runner/token-desk.ts';
import type { Runtime } from '../runtime.ts';
import { type AttemptReport, type Desk, type Move, StaleAttempt, type Stop } from './desk.ts';
import { renaming } from './naming.ts';

export interface AttemptOptions {
  runner: Runner;
  runtime: Pick<Runtime, 'now'>;
  /** Its reason is a `Stop`, or a RunFailure if the attempt must end as failed. */
  signal: AbortSignal;
  trace: TraceContext;
  /** Called for faults of the platform itself; the attempt fails. */
  onFault(error: unknown): void;
}

const nothing: Progress = { records: 0, bytes: 0 };

/** Discovery does not normally take longer. */
const tokenForDiscoveryMs = 600_000;
/** A token that is got for a source that cannot ask for another one should be valid for as long as most syncs take. */
const tokenForMs = 1_800_000;

/** Returns when it has ended, or when it was found to be no longer the current one. */
export async function runAttempt(desk: Desk, options: AttemptOptions): Promise<void> {
  try {
    await desk.finish(await report(desk, options));
  } catch (error) {
    // What it has done since then counts nowhere.
    if (!(error instanceof StaleAttempt)) throw error;
  }
}

async function report(desk: Desk, options: AttemptOptions): Promise<AttemptReport> {
  const { signal, onFault } = options;
  try {
    const { kind, attempt } = desk.assignment;
    desk.log.write('INFO', 'platform', `${kind}, attempt ${attempt}`);
    const ended = await (kind === 'sync' ? sync : clear)(desk, options);
    const { outcome } = ended;
    if (outcome.status === 'cancelled') return stopped(desk, signal, outcome);
    desk.progress({ records: outcome.records, bytes: outcome.bytes });
    return { status: 'ended', ...ended };
  } catch (error) {
    if (signal.aborted || error instanceof StaleAttempt) return stopped(desk, signal, nothingMoved);
    if (error instanceof RunFailure) {
      return { status: 'failed', failure: error.failure, isDelay: error instanceof RunDelayed };
    }
    onFault(error);
    return { status: 'failed', failure: failureOf(error), isDelay: false };
  }
}

function stopped({ log }: Desk, { reason }: AbortSignal, outcome: SyncOutcome): AttemptReport {
  const arrived = outcome.arrived ?? nothing;
  if (!(reason instanceof RunFailure)) return { status: 'stopped', stop: (reason as Stop) ?? 'lost', arrived };
  const { failure } = reason;
  log.write('ERROR', 'platform', failure.message);
  return { status: 'ended', outcome: { ...outcome, status: 'failed', failure, arrived }, tokenEnded: false };
}

/** For faults of the platform itself. */
export function failureOf(error: unknown): Failure {
  return storageFaultOf(error)
    ? platformFailure(error)
    : { message: 'The job could not run because of a platform error.', origin: 'platform', type: 'system_error' };
}

type Ended = Omit<Extract<AttemptReport, { status: 'ended' }>, 'status'>;

async function sync(desk: Desk, options: AttemptOptions): Promise<Ended> {
  const { log } = desk;
  const { runner, signal, trace } = options;
  const discovered = await desk.useConnector('source', { signal, forMs: tokenForDiscoveryMs }, (source) =>
    runner.discover(source, { signal, log, trace }),
  );
  const ended = await move(desk, await desk.plan(discovered), options);
  if (ended.outcome.status !== 'lost') return ended;
  // Nothing was moved.
  const anew = await move(desk, await desk.planAnew(ended.outcome.lostStreams ?? []), options);
  if (anew.outcome.status === 'lost') throw new RunFailure(lostAgain);
  return anew;
}

async function move(desk: Desk, planned: Move, options: AttemptOptions): Promise<Ended> {
  const { log } = desk;
  const { runner, runtime, signal } = options;
  const { naming, ...reading } = planned;
  // Whether the source fills fields that are new is known after the sync.
  const isKnown = ({ code }: StreamNotice) => code !== fieldsMissingCode;
  const warn = ({ message }: StreamNotice) => log.write('WARN', 'platform', message);
  return await desk.useConnector('source', { signal, forMs: tokenForMs }, (source) =>
    desk.useConnector('destination', { signal }, async (destination): Promise<Ended> => {
      [...reading.notices.values()].flat().filter(isKnown).forEach(warn);
      const outcome = await runner.sync({
        ...reading,
        ...commonOf(desk, options),
        source,
        destination,
        rename: renaming(naming),
        keepHeld: (stream, held) => desk.keepHeld(stream, held),
        keepState: (state, text) => desk.keepState(state, text),
        onProgress: (progress) => desk.progress(progress),
      });
      if (outcome.status === 'succeeded') {
        for (const { notices = [] } of outcome.streams) notices.filter((notice) => !isKnown(notice)).forEach(warn);
      }
      const delay = outcome.failure && source.signIn?.delay;
      return { outcome, tokenEnded: isTokenEnd(source, outcome, runtime.now()), ...(delay && { delay }) };
    }),
  );
}

async function clear(desk: Desk, options: AttemptOptions): Promise<Ended> {
  const { catalog, naming } = await desk.planClearing();
  if (catalog.streams.length === 0) return { outcome: { ...nothingMoved, status: 'succeeded' }, tokenEnded: false };
  const rename = renaming(naming);
  const outcome = await desk.useConnector('destination', { signal: options.signal }, (destination) =>
    options.runner.clear({ ...commonOf(desk, options), destination, catalog, rename }),
  );
  return { outcome, tokenEnded: false };
}

function commonOf(desk: Desk, { signal, trace }: AttemptOptions) {
  const { connectionId, epoch } = desk.assignment;
  return {
    signal,
    trace,
    log: desk.log,
    writer: { connectionId, epoch },
    keepConfiguration: desk.keepConfiguration.bind(desk),
  };
}

const nothingMoved: SyncOutcome = { status: 'cancelled', ...nothing, streams: [], moreStreams: 0, changedValues: {} };

const lostAgain: Failure = {
  origin: 'destination',
  type: 'transient_error',
  message: 'Data was removed from the destination while the sync was starting.',
};

/** The clock of the provider may be ahead of ours. */
const mostSkewMs = 60_000;

/** Whether a failure of the source is to be put down to the end of its token. */
function isTokenEnd(source: ConfiguredConnector, { failure }: SyncOutcome, now: number): boolean {
  const endsAt = lastTokenEnd(source);
  if (endsAt === undefined || failure?.origin !== 'source') return false;
  const life = endsAt - (source.signIn?.startedAt ?? endsAt);
  return now >= endsAt - Math.min(mostSkewMs, Math.max(0, life) / 10);
}
