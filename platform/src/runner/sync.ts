/**
 * One sync: the source's output becomes the destination's input, and the states that the destination confirms are kept.
 *
 * Invariants: the source is read only as fast as the destination accepts data (backpressure); a state is kept only
 * after the destination has confirmed it, in order; a stream is reported complete to the destination only after the
 * source said so and exited successfully. The outcome reports the first failure.
 */
import { isObject } from '@inlay/contract/catalog/connector-configuration';
import {
  type ConfiguredCatalog,
  type ConfiguredStream,
  type Message,
  type StreamDescriptor,
  type StreamHolding,
  type StreamStatus,
  streamHoldingType,
  streamKey,
} from '@inlay/protocol/protocol';
import { rowFormat } from '@inlay/protocol/row-blocks';
import { type AskSettings, failureOfReading, platformFailure } from './ask.ts';
import { catalogText } from './catalog-text.ts';
import { Confirmations } from './confirmations.ts';
import { type CommandFiles, type ConnectorProcess, startConnector } from './connector-process.ts';
import { Conversation, renewedConfiguration, streamReport } from './conversation.ts';
import { selectSchemas } from './field-selection.ts';
import { JsonText, membersOf } from './json-members.ts';
import { linesOf, readBlocks } from './lines.ts';
import { Relay } from './relay.ts';
import {
  type ConfiguredConnector,
  type Failure,
  type LostStream,
  type Progress,
  RunFailure,
  type SyncOutcome,
  type SyncRequest,
  type WriteRequest,
} from './runner.ts';
import { displayName, type StreamNames, streamNames } from './stream-names.ts';
import { StreamReports } from './stream-reports.ts';
import { lastTokenEnd, TokenDesk } from './token-desk.ts';
import { Watchdog } from './watchdog.ts';

export interface SyncSettings extends AskSettings {
  /** How long nothing may move. */
  stuckAfterMs: number;
}

const progressEveryMs = 1000;
const silentAfterTokenMs = 300_000;
const longestTimerMs = 2 ** 31 - 1;

/** Without a source: as if one had ended without a record. */
export async function runSync(request: SyncRequest | WriteRequest, settings: SyncSettings): Promise<SyncOutcome> {
  const nothing = { records: 0, bytes: 0, streams: [], moreStreams: 0, changedValues: {} };
  if (request.signal?.aborted) return { status: 'cancelled', ...nothing };
  try {
    const selected = 'source' in request ? request.selectedFields : undefined;
    const catalog = selected ? selectSchemas(request.catalog, selected) : request.catalog;
    const names = await streamNames(catalog, request.rename, request.writer);
    return await new SyncRun(request, catalog, names, settings).run();
  } catch (error) {
    // Two streams would get the same name at the destination, or a process could not be given its files.
    const failure = error instanceof RunFailure ? error.failure : platformFailure(error);
    return { status: 'failed', failure, ...nothing };
  }
}

class SyncRun {
  readonly #request: SyncRequest | WriteRequest;
  readonly #settings: SyncSettings;
  readonly #catalog: ConfiguredCatalog;
  readonly #names: StreamNames;
  readonly #confirmations = new Confirmations();
  readonly #reports: StreamReports;
  readonly #watchdog: Watchdog;
  readonly #processes: ConnectorProcess[] = [];
  readonly #destinationWords: Conversation;
  #relay: Relay | undefined;
  #waitingFor: 'source' | 'destination' = 'source';
  #failure: Failure | undefined;
  #isCancelled = false;
  /** Keyed by `streamKey`: streams that continue from a state, and those of them that the destination has lost. */
  readonly #goingOn: ReadonlySet<string>;
  readonly #lost = new Map<string, LostStream>();
  #isDestinationDone = false;
  /** Streams reported complete to the destination, by `streamKey`. */
  readonly #complete = new Set<string>();

  constructor(
    request: SyncRequest | WriteRequest,
    catalog: ConfiguredCatalog,
    names: StreamNames,
    settings: SyncSettings,
  ) {
    this.#request = request;
    this.#settings = settings;
    this.#catalog = catalog;
    this.#names = names;
    const goingOn = catalog.streams.filter(({ inlay_held }) => inlay_held !== undefined);
    this.#goingOn = new Set(goingOn.map(({ stream }) => streamKey(stream)));
    const notices = 'source' in request ? request.notices : undefined;
    this.#reports = new StreamReports(
      this.#catalog.streams.map(({ stream }) => stream),
      {},
      notices,
    );
    this.#destinationWords = new Conversation(request.destination, request.log);
    this.#watchdog = new Watchdog(settings.runtime, settings.stuckAfterMs, () => this.#endStuckSync());
  }

  async run(): Promise<SyncOutcome> {
    const { signal } = this.#request;
    const cancel = () => {
      this.#isCancelled = true;
      this.#stop();
    };
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      const { configuration: config } = this.#request.destination;
      const files = { config, catalog: new JsonText(await catalogText(this.#names.destinationCatalog)) };
      const destination = await this.#start(this.#request.destination, 'write', files, this.#destinationWords);
      const [progress] = await Promise.all([this.#feed(destination), this.#listen(destination)]);
      const arrived = this.#arrived();
      const moved = { ...progress, ...this.#reports.outcome() };
      if (this.#isCancelled) return { status: 'cancelled', ...moved, arrived };
      if (this.#lost.size > 0) return { status: 'lost', ...moved, lostStreams: [...this.#lost.values()] };
      if (!this.#failure) return { status: 'succeeded', ...moved, ...arrived, notReplaced: this.#reports.unreplaced };
      const unfinished = this.#relay?.unfinishedStreams() ?? [];
      return { status: 'failed', failure: this.#failure, ...moved, arrived, unfinished };
    } finally {
      signal?.removeEventListener('abort', cancel);
      this.#watchdog.end();
    }
  }

  /**
   * What this sync has changed at the destination: of each stream the rows that the destination says to have written and
   * removed. Where it says nothing: of a stream that was to be replaced all if it was, and else nothing; of a stream that is added to all after
   * a success, and else what the destination has confirmed.
   */
  #arrived(): Progress {
    const hasSucceeded = !this.#isCancelled && !this.#failure;
    const { streams } = this.#catalog;
    const isOverwritten = ({ destination_sync_mode }: ConfiguredStream) => destination_sync_mode === 'overwrite';
    const isUnreported = ({ stream }: ConfiguredStream) => this.#reports.changedRowsOf(stream) === undefined;
    const ofAll = this.#confirmations.arrivedOfAll;
    if (!hasSucceeded && ofAll && streams.every((each) => isUnreported(each) && !isOverwritten(each))) return ofAll;
    const arrived = { records: 0, bytes: 0 };
    for (const configured of streams) {
      const { stream } = configured;
      const moved = this.#relay?.movedOf(stream) ?? { records: 0, bytes: 0 };
      const isAll = isOverwritten(configured)
        ? this.#isDestinationDone && this.#complete.has(streamKey(stream))
        : hasSucceeded;
      const confirmed = isOverwritten(configured) ? undefined : this.#confirmations.arrivedOf(stream);
      const records = this.#reports.changedRowsOf(stream) ?? (isAll ? moved.records : (confirmed?.records ?? 0));
      arrived.records += records;
      arrived.bytes += records === confirmed?.records ? confirmed.bytes : bytesOf(records, moved);
    }
    return arrived;
  }

  async #start(
    connector: ConfiguredConnector,
    command: string,
    files: CommandFiles,
    words: Conversation,
  ): Promise<ConnectorProcess> {
    const onErrorLine = (line: string) => words.log('INFO', line);
    const { trace } = this.#request;
    const child = await startConnector(connector, command, files, onErrorLine, this.#settings, trace);
    this.#processes.push(child);
    // May have been decided in the meantime.
    if (this.#isCancelled || this.#failure) child.stop();
    return child;
  }

  /** Sends the destination its complete input and always closes it. */
  async #feed(destination: ConnectorProcess): Promise<Progress> {
    try {
      const request = this.#request;
      if (!('source' in request)) {
        await this.#tellStatuses(destination, () => true);
        return { records: 0, bytes: 0 };
      }
      const relay = await this.#relaySource(request, destination);
      return relay.progress;
    } finally {
      this.#waitingFor = 'destination';
      this.#watchdog.sign();
      destination.stdin.end();
    }
  }

  async #relaySource(request: SyncRequest, destination: ConnectorProcess): Promise<Relay> {
    const { source, selectedFields = new Map() } = request;
    const words = new Conversation(source, request.log);
    const { now } = this.#settings.runtime;
    const offered = this.#offerBlocks(request);
    const relay = new Relay(offered, this.#names, selectedFields, words, this.#confirmations, this.#reports, now);
    this.#relay = relay;
    const desk = new TokenDesk(source, words, this.#settings.runtime);
    const catalog = new JsonText(await catalogText(offered));
    const files = { config: source.configuration, catalog, ...stateFile(request.state), ...desk.offer };
    const over = new AbortController();
    try {
      const child = await this.#start(source, 'read', files, words);
      desk.serve(child);
      void this.#endAfterToken(source, words, relay, over.signal);
      await this.#pump(request, child, destination, words, relay, desk);
    } catch (error) {
      this.#fail(platformFailure(error));
    } finally {
      over.abort();
    }
    relay.reportEmitted();
    return relay;
  }

  /** Rows go in blocks where both sides know their format and nothing in a record is to be changed. */
  #offerBlocks({ source, destination, selectedFields }: SyncRequest): ConfiguredCatalog {
    const format = source.rowBlocks;
    if (format !== rowFormat || destination.rowBlocks !== format) return this.#catalog;
    const streams = this.#catalog.streams.map((configured) =>
      selectedFields?.has(streamKey(configured.stream)) ? configured : { ...configured, inlay_row_blocks: format },
    );
    return { streams };
  }

  /**
   * A source whose access token expired, and that cannot get another one, should fail on its own. One that keeps
   * retrying without sending a record is ended.
   */
  async #endAfterToken(
    source: ConfiguredConnector,
    words: Conversation,
    relay: Relay,
    over: AbortSignal,
  ): Promise<void> {
    const { runtime } = this.#settings;
    const endsInMs = (lastTokenEnd(source) ?? Number.POSITIVE_INFINITY) - runtime.now();
    if (endsInMs > longestTimerMs) return;
    await runtime.sleep(Math.max(0, endsInMs), over);
    let records = relay.progress.records;
    while (!over.aborted) {
      await runtime.sleep(silentAfterTokenMs, over);
      if (over.aborted) return;
      if (this.#waitingFor === 'source' && relay.progress.records === records) {
        this.#fail(words.fail('transient_error', 'The access token expired, and the source sent no more data.'));
        return this.#stop();
      }
      records = relay.progress.records;
    }
  }

  async #pump(
    request: SyncRequest,
    source: ConnectorProcess,
    destination: ConnectorProcess,
    words: Conversation,
    relay: Relay,
    desk: TokenDesk,
  ): Promise<void> {
    const { maxLineBytes } = this.#settings;
    const { elapsed } = this.#settings.runtime;
    let reportedAtMs = elapsed();
    try {
      for await (const blocks of readBlocks(source.stdout, maxLineBytes, () => relay.skip(maxLineBytes))) {
        this.#watchdog.sign();
        const output = relay.pass(blocks);
        for (const renewed of relay.renewals.splice(0)) await this.#keepConfiguration(request.source, renewed);
        // Other parts of the source continue in the meantime.
        for (const asked of relay.tokenRequests.splice(0)) void this.#watchdog.during(desk.hear(asked));
        if (!(await this.#send(destination, output))) {
          // The destination has ended, and listen() gets the reason. The source's exit no longer counts as a failure.
          source.stop();
          await source.ended;
          return;
        }
        if (relay.fault) throw relay.fault;
        if (elapsed() - reportedAtMs >= progressEveryMs) {
          reportedAtMs = elapsed();
          request.onProgress?.({ ...relay.progress });
        }
      }
      relay.noteEnd();
    } catch (error) {
      this.#fail(failureOfReading(error, words));
      source.stop();
    }
    const ending = await source.ended;
    const wasBrokenOff = this.#isCancelled || this.#lost.size > 0 || this.#failure !== undefined;
    this.#fail(words.failureAfter(ending) ?? relay.cutOff ?? incompleteness(words, relay));
    if (!wasBrokenOff && !relay.cutOff && ending.code === 0) await this.#tellWhatIsComplete(destination, words, relay);
  }

  /**
   * For a source that exited successfully. A stream that the source reported as completely read is complete, even if
   * others are not. A stream that the source never mentioned is complete if it mentioned none and there was no failure.
   * If it mentioned others, this one may have been skipped: nothing is replaced, and appended rows are kept.
   */
  async #tellWhatIsComplete(destination: ConnectorProcess, words: Conversation, relay: Relay): Promise<void> {
    const incomplete = new Set(relay.incompleteStreams().map(streamKey));
    const unmentioned = new Set(relay.unmentionedStreams().map(streamKey));
    const isComplete = (configured: ConfiguredStream): boolean => {
      const { stream } = configured;
      if (relay.isToldComplete(stream)) return true;
      if (this.#failure || incomplete.has(streamKey(stream))) return false;
      if (!unmentioned.has(streamKey(stream)) || !replacesRows(configured)) return true;
      const unsaid = `The source did not report whether it read ${displayName(stream)} completely.`;
      this.#reports.notReplaced(stream);
      this.#confirmations.release(stream);
      words.log('WARN', `${unsaid} Earlier rows of this stream are kept at the destination.`);
      return false;
    };
    await this.#tellStatuses(destination, isComplete);
  }

  async #listen(destination: ConnectorProcess): Promise<void> {
    const words = this.#destinationWords;
    try {
      for await (const blocks of readBlocks(destination.stdout, this.#settings.maxLineBytes)) {
        this.#watchdog.sign();
        for (const line of linesOf(blocks)) await this.#act(words.hear(line, ['STATE'])?.message);
      }
    } catch (error) {
      this.#fail(failureOfReading(error, words));
      this.#stop();
    }
    const failure = words.failureAfter(await destination.ended) ?? this.#shortcoming(destination);
    this.#isDestinationDone = !failure;
    if (failure || this.#lost.size > 0) {
      this.#fail(failure);
      this.#stop();
    }
  }

  /** What the destination says and others have to act on. */
  async #act(message: Message | undefined): Promise<void> {
    const renewed = renewedConfiguration(message);
    if (renewed) await this.#keepConfiguration(this.#request.destination, renewed);
    const told = streamReport(message);
    const reported = told && this.#names.atSource(told.stream);
    if (reported) this.#reports.add(reported, told.report, (words) => this.#destinationWords.redact(words));
    await this.#note(streamReport(message, streamHoldingType));
    if (message?.type !== 'STATE' || !isObject(message.state) || !('source' in this.#request)) return;
    const state = this.#names.stateFromDestination(message.state);
    const stream = state.stream?.stream_descriptor;
    if (state.type === 'STREAM' && !(stream && this.#names.atDestination(stream))) {
      this.#destinationWords.log('WARN', 'Ignored a confirmed state of a stream that was not sent.');
      return;
    }
    const text = this.#confirmations.textOf(state) ?? JSON.stringify(state);
    await this.#watchdog.during(this.#request.keepState(state, text));
    this.#confirmations.confirmed(state);
  }

  /** What the destination says about the place of a stream. */
  async #note(told: ReturnType<typeof streamReport>): Promise<void> {
    const stream = told && this.#names.atSource(told.stream);
    if (!stream || !('source' in this.#request)) return;
    const { held, lost, is_emptied } = told.report as Partial<StreamHolding>;
    if (typeof held === 'string' && this.#request.keepHeld) {
      await this.#watchdog.during(this.#request.keepHeld(stream, held));
    }
    if (is_emptied === true) {
      const message = `${displayName(stream)} was emptied at the destination outside of Inlay. Earlier rows are not sent again.`;
      this.#reports.notice(stream, { code: 'emptied_not_refilled', message });
      this.#destinationWords.log('WARN', message);
    }
    const key = streamKey(stream);
    if (this.#goingOn.has(key) && (lost === 'gone' || lost === 'emptied')) this.#lost.set(key, { stream, how: lost });
  }

  async #keepConfiguration(
    { kind, signIn }: ConfiguredConnector,
    configuration: Record<string, unknown>,
  ): Promise<void> {
    const keep = async () => {
      await signIn?.takeBack(configuration);
      await this.#request.keepConfiguration?.(kind, configuration);
    };
    await this.#watchdog.during(keep());
  }

  /** Waits until the destination is ready for more; false when it has gone. */
  async #send({ stdin }: ConnectorProcess, output: readonly Buffer[]): Promise<boolean> {
    if (stdin.destroyed) return false;
    // Everything in one write.
    stdin.cork();
    for (const piece of output) stdin.write(piece);
    stdin.uncork();
    if (!stdin.writableNeedDrain) return true;
    this.#waitingFor = 'destination';
    await new Promise<void>((resolve) => {
      const go = () => {
        stdin.off('drain', go).off('close', go);
        resolve();
      };
      stdin.on('drain', go).on('close', go);
    });
    this.#waitingFor = 'source';
    this.#watchdog.sign();
    return !stdin.destroyed;
  }

  async #tellStatuses(destination: ConnectorProcess, isComplete: (stream: ConfiguredStream) => boolean): Promise<void> {
    const lines = this.#catalog.streams.map((configured) => {
      const stream_descriptor = this.#names.atDestination(configured.stream) as StreamDescriptor;
      const status: StreamStatus = isComplete(configured) ? 'COMPLETE' : 'INCOMPLETE';
      if (status === 'COMPLETE') this.#complete.add(streamKey(configured.stream));
      const message: Message = {
        type: 'TRACE',
        trace: {
          type: 'STREAM_STATUS',
          emitted_at: this.#settings.runtime.now(),
          stream_status: { stream_descriptor, status },
        },
      };
      return `${JSON.stringify(message)}\n`;
    });
    await this.#send(destination, [Buffer.from(lines.join(''))]);
  }

  /** What a destination that ended well has left undone. */
  #shortcoming({ stdin }: ConnectorProcess): Failure | undefined {
    const words = this.#destinationWords;
    if (this.#lost.size > 0) return undefined;
    if (!stdin.writableFinished) {
      return words.fail('system_error', 'The destination stopped before it had read all data.');
    }
    if (this.#confirmations.areComplete) return undefined;
    return words.fail('system_error', 'The destination stopped without confirming all data.');
  }

  #endStuckSync(): void {
    const origin = this.#waitingFor;
    const seconds = Math.round(this.#settings.stuckAfterMs / 1000);
    this.#fail({
      origin,
      type: 'transient_error',
      message: `The ${origin} was stopped because no data moved for ${seconds} s.`,
    });
    this.#stop();
  }

  #fail(failure: Failure | undefined): void {
    // A source that is stopped because its streams are read from the start has not failed.
    if (!this.#isCancelled && this.#lost.size === 0) this.#failure ??= failure;
  }

  #stop(): void {
    for (const child of this.#processes) child.stop();
  }
}

/** Whether rows of earlier syncs go when the stream is complete. */
function replacesRows({ destination_sync_mode, minimum_generation_id }: ConfiguredStream): boolean {
  return destination_sync_mode === 'overwrite' || minimum_generation_id > 0;
}

/** Share of the moved records: exact for all or none of them, proportional for a part. */
function bytesOf(records: number, moved: Progress): number {
  return moved.records === 0 ? 0 : Math.round(moved.bytes * Math.min(1, records / moved.records));
}

function incompleteness(words: Conversation, relay: Relay): Failure | undefined {
  const streams = relay.incompleteStreams().map(displayName);
  if (streams.length === 0) return undefined;
  return words.fail(
    'system_error',
    `The source stopped before it had read these streams completely: ${streams.join(', ')}.`,
  );
}

function stateFile(states: readonly string[]): { state?: JsonText } {
  const [first] = states;
  if (first === undefined) return {};
  const members = membersOf(first);
  const type = members.get('type') ?? 'null';
  const isLegacy = type === 'null' || type === '"LEGACY"';
  return { state: new JsonText(isLegacy ? (members.get('data') ?? '{}') : `[${states.join(',')}]`) };
}
