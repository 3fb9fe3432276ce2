/**
 * Turns a source's output into a destination's input: records and states of the configured streams, under the
 * destination's names. Notes whether each stream is complete and reports it to the destination at the end.
 *
 * A record in the bundled connectors' own form is forwarded as the same bytes, at most with a new head; any other
 * message is parsed and checked. Either way, the values of a record reach the destination exactly as written.
 */
import { isUtf8 } from 'node:buffer';
import { isObject } from '@inlay/contract/catalog/connector-configuration';
import { endOfObject } from '@inlay/contract/text/json-check';
import { pathKey, ShortMembers, textOf } from '@inlay/contract/text/short-members';
import {
  type ConfiguredCatalog,
  emittedAtMs,
  type Message,
  RecordBeginning,
  type RecordMessage,
  type RowsHeader,
  recordHead,
  rowsType,
  type State,
  type StreamDescriptor,
  type StreamStatus,
  streamKey,
  tokenRequestType,
  type ValueChange,
} from '@inlay/protocol/protocol';
import { faultOfHeader, OpenBlock } from '@inlay/protocol/row-blocks';
import type { Confirmations } from './confirmations.ts';
import { type Conversation, renewedConfiguration, streamReport } from './conversation.ts';
import { type SelectedFields, selectFields } from './field-selection.ts';
import { membersOf, objectText } from './json-members.ts';
import { LineTooLong, type LongLine } from './lines.ts';
import { type HeardMessage, withoutNotNumbers } from './message-text.ts';
import { type Failure, type Progress, RunFailure } from './runner.ts';
import { displayName, type StreamNames } from './stream-names.ts';
import type { StreamReports } from './stream-reports.ts';

interface RelayedStream {
  source: StreamDescriptor;
  destination: StreamDescriptor;
  isRenamed: boolean;
  fields: ReadonlySet<string> | undefined;
  takesBlocks: boolean;
  /** How its records begin for the destination. */
  newHead: Buffer;
  /** Paths of its key in the data. */
  key: readonly (readonly string[])[];
  records: number;
  bytes: number;
  skipped: number;
}

interface RelayedBlock {
  open: OpenBlock;
  header: Buffer | undefined;
}

const newline = 10;
/** Limit per stream. Further ones are included in the sum. */
const maxSkipsLogged = 20;
/** Writing many small pieces takes longer than joining them first. */
const maxPieces = 8;
const closingBrace = '}'.charCodeAt(0);

export class Relay {
  readonly progress: Progress = { records: 0, bytes: 0 };
  /** Configurations that the source has renewed. The caller keeps them. */
  readonly renewals: Record<string, unknown>[] = [];
  /** Requests for fresh tokens. The caller answers them. */
  readonly tokenRequests: Message[] = [];
  /** Why nothing more may be passed. */
  fault: unknown;
  /** Why the source failed, if nothing else explains it: its last line was a truncated record or state. */
  cutOff: Failure | undefined;
  readonly #names: StreamNames;
  readonly #source: Conversation;
  readonly #confirmations: Confirmations;
  readonly #reports: StreamReports;
  readonly #now: () => number;
  readonly #streams = new Map<string, RelayedStream>();
  readonly #statuses = new Map<string, StreamStatus>();
  readonly #foreign = new Set<string>();
  /** A block of rows whose end has not come; `header` is undefined where its rows are ignored. */
  #block: RelayedBlock | undefined;
  #latest: { beginning: RecordBeginning; stream: RelayedStream } | undefined;

  constructor(
    catalog: ConfiguredCatalog,
    names: StreamNames,
    selected: SelectedFields,
    source: Conversation,
    confirmations: Confirmations,
    reports: StreamReports,
    now: () => number,
  ) {
    this.#now = now;
    this.#reports = reports;
    this.#names = names;
    this.#source = source;
    this.#confirmations = confirmations;
    for (const configured of catalog.streams) {
      const { stream, primary_key: key = stream.source_defined_primary_key ?? [] } = configured;
      const { name, namespace } = stream;
      const descriptor = namespace === undefined ? { name } : { name, namespace };
      const destination = names.atDestination(descriptor) ?? descriptor;
      const fields = selected.get(streamKey(descriptor));
      const relayed: RelayedStream = {
        source: descriptor,
        destination,
        isRenamed: streamKey(destination) !== streamKey(descriptor),
        fields: fields && new Set(fields),
        takesBlocks: configured.inlay_row_blocks !== undefined,
        newHead: Buffer.from(recordHead(destination)),
        key,
        records: 0,
        bytes: 0,
        skipped: 0,
      };
      this.#streams.set(streamKey(descriptor), relayed);
    }
  }

  /** Takes blocks of whole lines from the source; returns the destination's input, which can be empty. */
  pass(blocks: readonly Buffer[]): Buffer[] {
    const output: Buffer[] = [];
    try {
      for (const block of blocks) this.#passLines(block, output);
    } catch (error) {
      // Everything before it is forwarded: the states in it can still be confirmed.
      this.fault = error;
    }
    return output.length > maxPieces ? [Buffer.concat(output)] : output;
  }

  #passLines(block: Buffer, output: Buffer[]): void {
    let start = this.#block ? this.#passRows(block, 0, output) : 0;
    if (start === block.length) return;
    const isText = isUtf8(start === 0 ? block : block.subarray(start));
    const view = new DataView(block.buffer, block.byteOffset, block.length);
    // Everything before this offset is processed; the bytes between it and the current line are forwarded unchanged.
    let done = start;
    while (start < block.length) {
      const newlineAt = block.indexOf(newline, start);
      const end = newlineAt === -1 ? block.length : newlineAt;
      const own = isText ? this.#recognize(block, view, start, end) : undefined;
      if (own) {
        this.progress.records++;
        this.progress.bytes += end - start;
        own.stream.records++;
        own.stream.bytes += end - start;
        if (own.stream.isRenamed) {
          output.push(block.subarray(done, start), own.stream.newHead);
          done = start + own.beginning.headLength;
        }
      } else {
        if (done < start) output.push(block.subarray(done, start));
        const message = this.#translate(block.subarray(start, end), newlineAt !== -1, isText);
        if (message !== undefined) output.push(Buffer.from(`${message}\n`));
        done = end + 1;
      }
      start = end + 1;
      if (this.#block && start < block.length) {
        start = this.#passRows(block, start, output);
        done = start;
      }
    }
    if (done < block.length) output.push(block.subarray(done));
  }

  /** Takes what belongs to the block, and returns the place after it. A block is passed on when it is whole. */
  #passRows(lines: Buffer, start: number, output: Buffer[]): number {
    const { open, header } = this.#block as RelayedBlock;
    const end = open.take(lines, start);
    if (end === -1) throw this.#damaged(open.rows, 'it ends within a row');
    if (!open.isWhole) return end;
    this.#block = undefined;
    if (header) {
      const { stream, namespace, count, bytes } = open.rows;
      for (const sum of [this.progress, this.#streams.get(streamKey({ name: stream, namespace }))]) {
        if (!sum) continue;
        sum.records += count;
        sum.bytes += bytes;
      }
      output.push(header, ...open.pieces);
    }
    return end;
  }

  #startRows(rows: RowsHeader): void {
    const fault = faultOfHeader(rows);
    if (fault !== undefined) throw this.#damaged(rows, fault);
    const { stream: name, namespace, ...rest } = rows;
    const stream = this.#getStream({ name, ...(namespace !== undefined && { namespace }) }, 'records');
    if (stream && !stream.takesBlocks) throw this.#damaged(rows, 'it was not asked for blocks');
    const destination = stream && { stream: stream.destination.name, ...spaceOf(stream.destination), ...rest };
    const message = destination && { type: rowsType, rows: destination };
    this.#block = { open: new OpenBlock(rows), header: message && Buffer.from(`${JSON.stringify(message)}\n`) };
  }

  #damaged(rows: RowsHeader | undefined, why: string): RunFailure {
    const which = typeof rows?.stream === 'string' ? ` of ${displayName({ name: rows.stream, ...spaceOf(rows) })}` : '';
    return this.#invalid(`The source sent a damaged block of rows${which}: ${why}.`);
  }

  /** Call at the end of the output: a source that stopped within a block has not sent its rows. */
  noteEnd(): void {
    if (!this.#block) return;
    const { stream } = this.#block.open.rows;
    this.cutOff ??= this.#source.fail(
      'system_error',
      `The source stopped in the middle of a block of rows of ${stream}.`,
    );
  }

  /**
   * Handles a line over the size limit. A record is skipped and counted: the sync continues and later states are kept,
   * so that the record is not retried forever. Any other message of that size is a failure.
   */
  skip(maxBytes: number): LongLine {
    const keys = [...this.#streams.values()].flatMap(({ key }) => key.map((path) => ['record', 'data', ...path]));
    const members = new ShortMembers([['type'], ['record', 'stream'], ['record', 'namespace'], ...keys]);
    const textAt = (...path: string[]) => textOf(members.found.get(pathKey(path)));
    let bytes = 0;
    const refuseOthers = (isRecord: boolean) => {
      if (!isRecord) throw new LineTooLong(maxBytes);
    };
    return {
      add: (piece) => {
        bytes += piece.length;
        members.add(piece);
        refuseOthers((textAt('type') ?? 'RECORD') === 'RECORD');
      },
      end: (isWhole) => {
        refuseOthers(textAt('type') === 'RECORD');
        const name = textAt('record', 'stream');
        if (!isWhole) {
          const which = name === undefined ? '' : ` of ${name}`;
          this.cutOff = this.#source.fail('system_error', `The source stopped in the middle of a record${which}.`);
          return;
        }
        if (name === undefined) throw this.#invalid('The source sent a record without a stream name.');
        const namespace = textAt('record', 'namespace');
        const stream = this.#getStream({ name, ...(namespace && { namespace }) }, 'records');
        if (stream) this.#noteSkipped(stream, members, bytes, maxBytes);
      },
    };
  }

  #noteSkipped(stream: RelayedStream, members: ShortMembers, bytes: number, maxBytes: number): void {
    stream.skipped++;
    const fields = stream.key.flatMap((path) => {
      const value = members.found.get(pathKey(['record', 'data', ...path]));
      return value === undefined ? [] : [`${path.join('.')} ${textOf(value) ?? value}`];
    });
    const place = `record ${stream.records + stream.skipped}`;
    const key = this.#source.redact(fields.length > 0 ? fields.join(', ') : place);
    this.#reports.skipped(stream.source, { count: 1, keys: [key] });
    if (stream.skipped > maxSkipsLogged) return;
    const size = `${Math.round(bytes / 1e5) / 10} MB`;
    const what = `Skipped a record of ${displayName(stream.source)} (${key})`;
    this.#source.log('WARN', `${what}: its size of ${size} exceeds the limit of ${maxBytes / 1e6} MB.`);
  }

  /** Call once, after everything was forwarded. */
  reportEmitted(): void {
    for (const { source, records, skipped } of this.#streams.values()) {
      this.#reports.emitted(source, records);
      if (skipped === 0) continue;
      const count = skipped === 1 ? '1 record was' : `${skipped} records were`;
      this.#source.log('WARN', `${count} skipped in ${displayName(source)}: larger than the limit.`);
    }
  }

  /** What was passed of a stream. */
  movedOf(stream: StreamDescriptor): Progress | undefined {
    return this.#streams.get(streamKey(stream));
  }

  /** Whether the source has said itself that it has read the stream to its end. */
  isToldComplete(stream: StreamDescriptor): boolean {
    return this.#statuses.get(streamKey(stream)) === 'COMPLETE';
  }

  /** Streams of which the source has spoken, and has not said in the end that it has read them to their end. */
  incompleteStreams(): StreamDescriptor[] {
    return this.#streamsWhere((status) => status !== undefined && status !== 'COMPLETE');
  }

  /** Streams of which anything has come, and that the source has not said to have read to their end. */
  unfinishedStreams(): StreamDescriptor[] {
    return [...this.#streams].flatMap(([key, { source, records }]) => {
      const status = this.#statuses.get(key);
      return (records > 0 || status !== undefined) && status !== 'COMPLETE' ? [source] : [];
    });
  }

  /**
   * Streams that the source has not reported although it reported others. If it reports none, its exit code decides.
   */
  unmentionedStreams(): StreamDescriptor[] {
    return this.#statuses.size === 0 ? [] : this.#streamsWhere((status) => status === undefined);
  }

  #streamsWhere(matches: (status: StreamStatus | undefined) => boolean): StreamDescriptor[] {
    return [...this.#streams].filter(([key]) => matches(this.#statuses.get(key))).map(([, { source }]) => source);
  }

  /**
   * A record that can be forwarded unparsed. Its line must be complete (a dying source truncates its last one), valid
   * JSON (checked unless the source is known to produce it), and have no members other than those of the bundled
   * connectors' records.
   */
  #recognize(block: Buffer, view: DataView, start: number, end: number) {
    if (end === block.length) return undefined;
    if (!this.#latest?.beginning.begins(view, start, end))
      this.#latest = this.#begin(RecordBeginning.read(block, start, end));
    const latest = this.#latest;
    if (!latest || block[end - 1] !== closingBrace || block[end - 2] !== closingBrace) return undefined;
    if (this.#source.isRecordTextValid) return latest;
    return endOfObject(block, start + latest.beginning.dataAt) === end - '}}'.length ? latest : undefined;
  }

  #begin(beginning: RecordBeginning | undefined) {
    const stream = beginning && this.#streams.get(streamKey(beginning));
    // Fields can be taken out only of a record that is taken apart, and another time put in.
    return stream && !stream.fields && beginning.isInMs ? { beginning, stream } : undefined;
  }

  #translate(bytes: Buffer, isWhole: boolean, isText: boolean): string | undefined {
    const line = bytes.toString();
    const heard = this.#hear(line, isWhole);
    if (!heard) return undefined;
    const { message, text, notNumbers } = heard;
    if (message.type === 'RECORD' || message.type === 'STATE') {
      if (!isText && !isUtf8(bytes)) throw this.#source.unreadable(message.type, line, 'it is not UTF-8 text');
    }
    if (message.type === 'RECORD') return this.#translateRecord(text, message.record, bytes.length, line, notNumbers);
    if (message.type === 'STATE') return this.#translateState(text, message.state, notNumbers);
    if (message.type === 'TRACE') this.#noteStatus(message.trace);
    const told = streamReport(message);
    if (told) this.#reports.add(told.stream, told.report, (words) => this.#source.redact(words));
    const renewed = renewedConfiguration(message);
    if (renewed) this.renewals.push(renewed);
    if (message.type === rowsType) this.#startRows(message.rows);
    if (message.type === tokenRequestType) this.tokenRequests.push(message);
    return undefined;
  }

  /** A dying source truncates its last line. Its exit gives the reason and takes precedence over that line. */
  #hear(line: string, isWhole: boolean): HeardMessage | undefined {
    try {
      return this.#source.hear(line, ['RECORD', 'STATE', rowsType]);
    } catch (error) {
      if (isWhole || !(error instanceof RunFailure)) throw error;
      this.cutOff = error.failure;
      return undefined;
    }
  }

  #translateRecord(
    line: string,
    record: RecordMessage['record'],
    bytes: number,
    written: string,
    notNumbers: number,
  ): string | undefined {
    if (!isObject(record) || typeof record.stream !== 'string') {
      throw this.#invalid('The source sent a record without a stream name.');
    }
    const descriptor = { name: record.stream, ...(record.namespace && { namespace: record.namespace }) };
    const stream = this.#getStream(descriptor, 'records');
    if (!stream) return undefined;
    if (!isObject(record.data)) {
      throw this.#invalid(
        `The source sent an invalid record of ${displayName(descriptor)}: its data is not an object.`,
      );
    }
    this.progress.records++;
    this.progress.bytes += bytes;
    stream.records++;
    stream.bytes += bytes;
    this.#noteChanges(stream, record, notNumbers > 0 ? written : undefined);
    const emittedAt = emittedAtMs(record.emitted_at) ?? this.#now();
    const isKept = !stream.isRenamed && !stream.fields && emittedAt === record.emitted_at;
    return isKept ? line : rewriteRecord(line, stream, emittedAt);
  }

  /** What the source says that it changed itself, and words that were read as null; those are still in `written`. */
  #noteChanges(stream: RelayedStream, { meta }: RecordMessage['record'], written: string | undefined): void {
    const example = `record ${stream.records}`;
    const note = (field: string, kind: ValueChange['kind'], count: number) => {
      if (!stream.fields || stream.fields.has(field)) {
        this.#reports.changed(stream.source, { field: this.#source.redact(field), kind, count, example });
      }
    };
    const changes: unknown = meta?.changes;
    for (const change of Array.isArray(changes) ? changes : []) {
      if (!isObject(change) || typeof change.field !== 'string') continue;
      if (change.change === 'NULLED') note(change.field, 'nulled', 1);
      if (change.change === 'TRUNCATED') note(change.field, 'shortened', 1);
    }
    if (written === undefined) return;
    const data = membersOf(membersOf(written.slice(written.indexOf('{'))).get('record') ?? '{}').get('data') ?? '{}';
    for (const [field, value] of membersOf(data)) note(field, 'not_a_number', withoutNotNumbers(value).count);
  }

  #translateState(line: string, state: State, notNumbers: number): string | undefined {
    if (!isObject(state)) throw this.#invalid('The source sent a state message without a state.');
    const streams = streamsNamedIn(state);
    if (!streams.every(isDescriptor)) throw this.#invalid('The source sent a state without a stream.');
    if (state.type === 'STREAM' && !streams.some((stream) => this.#getStream(stream, 'states'))) return undefined;
    if (notNumbers > 0) this.#source.log('WARN', 'A state contains NaN or Infinity, which is treated as null.');
    const [stream] = state.type === 'STREAM' ? streams : [];
    const moved = (stream && this.#streams.get(streamKey(stream))) ?? this.progress;
    const { records, bytes } = moved;
    this.#confirmations.sent(state, membersOf(line).get('state') ?? '{}', { records, bytes });
    return this.#names.stateForDestination(line);
  }

  #noteStatus(trace: Extract<Message, { type: 'TRACE' }>['trace']): void {
    const told = trace?.stream_status;
    if (!isDescriptor(told?.stream_descriptor)) return;
    // Also for a stream that was not requested: a source that reports one stream must report all of them.
    this.#statuses.set(streamKey(told.stream_descriptor), told.status);
  }

  #getStream(descriptor: StreamDescriptor, what: string): RelayedStream | undefined {
    const key = streamKey(descriptor);
    const stream = this.#streams.get(key);
    if (!stream && !this.#foreign.has(key)) {
      this.#foreign.add(key);
      this.#source.log('WARN', `${displayName(descriptor)} is not a configured stream; its ${what} are ignored.`);
    }
    return stream;
  }

  #invalid(message: string): RunFailure {
    return new RunFailure(this.#source.fail('system_error', message));
  }
}

/** As the source wrote them, whatever that is. */
function streamsNamedIn({ type, stream, global }: State): unknown[] {
  if (type === 'STREAM') return [stream?.stream_descriptor];
  if (type !== 'GLOBAL') return [];
  const states: unknown = global?.stream_states ?? [];
  return Array.isArray(states) ? states.map((each) => each?.stream_descriptor) : [undefined];
}

function spaceOf({ namespace }: { namespace?: string }): { namespace?: string } {
  return namespace === undefined ? {} : { namespace };
}

function isDescriptor(stream: unknown): stream is StreamDescriptor {
  return isObject(stream) && typeof stream.name === 'string';
}

function rewriteRecord(line: string, { destination, fields }: RelayedStream, emittedAt: number): string {
  const record = membersOf(membersOf(line).get('record') ?? '{}');
  record.set('emitted_at', String(emittedAt));
  record.delete('namespace');
  record.set('stream', JSON.stringify(destination.name));
  if (destination.namespace !== undefined) record.set('namespace', JSON.stringify(destination.namespace));
  if (fields) record.set('data', selectFields(record.get('data') ?? '{}', fields));
  return `{"type":"RECORD","record":${objectText(record)}}`;
}
