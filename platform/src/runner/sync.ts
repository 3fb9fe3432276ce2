/**
 * One sync: the source's output becomes the destination's input, and the states that the destination confirms are kept.
 *
 * What always holds: bytes are read from the source only as fast as the destination takes them; a state is kept only after the
 * destination has confirmed it, and in that order; a stream is told complete to the destination only after the source
 * has said so and ended well. What went wrong first is what the outcome tells.
 */
import { isObject } from '@inlay/contract/connector-configuration';
import {
  type ConfiguredCatalog,
  type ConfiguredStream,
  type Message,
  type StreamDescriptor,
  type StreamStatus,
  streamKey,
} from '../protocol.ts';
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
    const names = await streamNames(catalog, request.rename);
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
    this.#reports = new StreamReports(this.#catalog.streams.map(({ stream }) => stream));
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
      const moved = { ...progress, ...this.#reports.outcome() };
      if (this.#isCancelled) return { status: 'cancelled', ...moved };
      if (!this.#failure) return { status: 'succeeded', ...moved };
      const unfinished = this.#relay?.unfinishedStreams() ?? [];
      return { status: 'failed', failure: this.#failure, ...moved, arrived: this.#arrived(), unfinished };
    } finally {
      signal?.removeEventListener('abort', cancel);
      this.#watchdog.end();
    }
  }

  /**
   * What is at the destination after a sync that failed: what it says itself; else, of streams that are added to, what it
   * has confirmed. What was to replace a stream does so only at the end, which was not reached.
   */
  #arrived(): Progress {
    const ofAll = this.#confirmations.arrivedOfAll;
    const isOverwritten = ({ destination_sync_mode }: ConfiguredStream) => destination_sync_mode === 'overwrite';
    if (ofAll && !this.#catalog.streams.some(isOverwritten)) return ofAll;
    const arrived = { records: 0, bytes: 0 };
    for (const configured of this.#catalog.streams) {
      const { name, namespace } = configured.stream;
      const stream = namespace ? { name, namespace } : { name };
      const confirmed = isOverwritten(configured) ? undefined : this.#confirmations.arrivedOf(stream);
      arrived.records += this.#reports.writtenOf(stream) ?? confirmed?.records ?? 0;
      arrived.bytes += confirmed?.bytes ?? 0;
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
    // It may have been decided meanwhile.
    if (this.#isCancelled || this.#failure) child.stop();
    return child;
  }

  /** Gives the destination everything it is to have, and closes its input in any case. */
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
    const relay = new Relay(this.#catalog, this.#names, selectedFields, words, this.#confirmations, this.#reports);
    this.#relay = relay;
    const desk = new TokenDesk(source, words, this.#settings.runtime);
    const catalog = new JsonText(await catalogText(this.#catalog));
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

  /**
   * A source whose access token has ended, and that cannot get another one, is to fail by itself. One that tries again and
   * again without a record is ended.
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
        this.#fail(words.fail('transient_error', 'The access token has ended, and the source gave nothing more.'));
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
    const { elapsed } = this.#settings.runtime;
    let reportedAtMs = elapsed();
    try {
      for await (const blocks of readBlocks(source.stdout, this.#settings.maxLineBytes)) {
        this.#watchdog.sign();
        const output = relay.pass(blocks);
        for (const renewed of relay.renewals.splice(0)) await this.#keepConfiguration(request.source, renewed);
        // Other parts of the source go on meanwhile.
        for (const asked of relay.tokenRequests.splice(0)) void this.#watchdog.during(desk.hear(asked));
        if (!(await this.#send(destination, output))) {
          // The destination has ended, and listen() learns why. What becomes of the source now is no failure of its own.
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
    } catch (error) {
      this.#fail(failureOfReading(error, words));
      source.stop();
    }
    const ending = await source.ended;
    const wasBrokenOff = this.#isCancelled || this.#failure !== undefined;
    this.#fail(words.failureAfter(ending) ?? relay.cutOff ?? incompleteness(words, relay));
    if (!wasBrokenOff && !relay.cutOff && ending.code === 0) await this.#tellWhatIsComplete(destination, words, relay);
  }

  /**
   * After a source that ended well. A stream that the source said it had read to its end is complete, also when others
   * are not. A stream that the source never mentioned is complete when it mentioned none, and there was no failure. When
   * it told of others, this one may have been left out: nothing of it is replaced, and what was added stays.
   */
  async #tellWhatIsComplete(destination: ConnectorProcess, words: Conversation, relay: Relay): Promise<void> {
    const incomplete = new Set(relay.incompleteStreams().map(streamKey));
    const unmentioned = new Set(relay.unmentionedStreams().map(streamKey));
    const isComplete = ({ stream, destination_sync_mode }: ConfiguredStream): boolean => {
      if (relay.isToldComplete(stream)) return true;
      if (this.#failure || incomplete.has(streamKey(stream))) return false;
      if (!unmentioned.has(streamKey(stream)) || destination_sync_mode !== 'overwrite') return true;
      const unsaid = `The source did not say whether it had read ${displayName(stream)} to its end.`;
      this.#reports.notReplaced(stream);
      words.log('WARN', `${unsaid} The earlier rows of this stream stay at the destination.`);
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
    if (failure) {
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
    if (message?.type !== 'STATE' || !isObject(message.state) || !('source' in this.#request)) return;
    const state = this.#names.stateFromDestination(message.state);
    const stream = state.stream?.stream_descriptor;
    if (state.type === 'STREAM' && !(stream && this.#names.atDestination(stream))) {
      this.#destinationWords.log('WARN', 'It confirmed a state of a stream that it was not sent.');
      return;
    }
    const text = this.#confirmations.textOf(state) ?? JSON.stringify(state);
    await this.#watchdog.during(this.#request.keepState(state, text));
    this.#confirmations.confirmed(state);
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
    if (!stdin.writableFinished) {
      return words.fail('system_error', 'The destination ended before it had taken everything.');
    }
    if (this.#confirmations.areComplete) return undefined;
    return words.fail('system_error', 'The destination ended without confirming everything it was sent.');
  }

  #endStuckSync(): void {
    const origin = this.#waitingFor;
    const seconds = Math.round(this.#settings.stuckAfterMs / 1000);
    this.#fail({
      origin,
      type: 'transient_error',
      message: `The ${origin} was stopped: nothing moved for ${seconds} s.`,
    });
    this.#stop();
  }

  #fail(failure: Failure | undefined): void {
    if (!this.#isCancelled) this.#failure ??= failure;
  }

  #stop(): void {
    for (const child of this.#processes) child.stop();
  }
}

function incompleteness(words: Conversation, relay: Relay): Failure | undefined {
  const streams = relay.incompleteStreams().map(displayName);
  if (streams.length === 0) return undefined;
  return words.fail('system_error', `The source ended without having read to the end: ${streams.join(', ')}.`);
}

function stateFile(states: readonly string[]): { state?: JsonText } {
  const [first] = states;
  if (first === undefined) return {};
  const members = membersOf(first);
  const type = members.get('type') ?? 'null';
  const isLegacy = type === 'null' || type === '"LEGACY"';
  return { state: new JsonText(isLegacy ? (members.get('data') ?? '{}') : `[${states.join(',')}]`) };
}
