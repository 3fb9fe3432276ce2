/*
 * Reads protocol messages from a stream, one batch per chunk. The data of a record in the bundled connectors' own form
 * is parsed only on access; a connector that only stores it uses the original bytes.
 */
import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import { ConnectorError, type DestinationInput } from './connector.ts';
import { parseJson, stringifyJson } from './json.ts';
import { emittedAtMs, RecordBeginning, type RecordMessage, type RowsMessage, rowsType } from './protocol.ts';
import { faultOfHeader, OpenBlock, type RowBlock } from './row-blocks.ts';
import type { TextBuffer } from './text-buffer.ts';

type InputRecord = RecordMessage['record'];

const newline = 10;

/**
 * Lines that are not a relevant protocol message are ignored, as the protocol requires; an unreadable record or state
 * is a failure. An aborted signal ends the input. A block of rows comes whole, or not at all if its sender died.
 */
export async function* readInput(input: Readable, signal?: AbortSignal): AsyncGenerator<DestinationInput[]> {
  const recognizeRecord = recordRecognizer();
  let open: OpenBlock | undefined;
  for await (const block of blocksOf(input, signal)) {
    const batch: DestinationInput[] = [];
    const view = new DataView(block.buffer, block.byteOffset, block.length);
    for (let start = 0; start < block.length; ) {
      if (open) {
        start = open.take(block, start);
        if (start === -1) throw damagedRows(open.rows.stream, 'it ends within a row');
        if (open.isWhole) {
          // Only destinations that know blocks are sent any.
          batch.push(wholeBlock(open) as unknown as DestinationInput);
          open = undefined;
        }
        continue;
      }
      const newlineAt = block.indexOf(newline, start);
      const end = newlineAt === -1 ? block.length : newlineAt;
      if (startsRows(block, start)) {
        open = newlineAt === -1 ? undefined : openBlock(block.toString('utf8', start, end));
        start = end + 1;
        continue;
      }
      const record = recognizeRecord(block, view, start, end);
      if (record) batch.push({ type: 'RECORD', record });
      else batch.push(...readMessage(block.toString('utf8', start, end), newlineAt !== -1));
      start = end + 1;
    }
    if (batch.length > 0) yield batch;
  }
}

/** One or more whole lines each; the last one may lack its newline, and may then have been cut off. */
async function* blocksOf(input: Readable, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
  const pieces: Buffer[] = [];
  for await (const chunk of chunksOf(input, signal)) {
    let start = 0;
    if (pieces.length > 0) {
      // The line that was begun alone: to copy the others as well would take as long as everything else here.
      start = chunk.indexOf(newline) + 1;
      if (start > 0) yield Buffer.concat([...pieces.splice(0), chunk.subarray(0, start)]);
    }
    const end = chunk.lastIndexOf(newline) + 1;
    if (start < end) yield chunk.subarray(start, end);
    if (end < chunk.length) pieces.push(chunk.subarray(end));
  }
  if (pieces.length > 0) yield Buffer.concat(pieces);
}

async function* chunksOf(input: Readable, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
  const end = () => input.destroy();
  signal?.addEventListener('abort', end, { once: true });
  try {
    for await (const chunk of input) yield chunk;
  } catch (error) {
    if (!signal?.aborted) throw error;
  } finally {
    signal?.removeEventListener('abort', end);
  }
}

/** The data of a record as JSON text: for a record that came so, the very text that its source wrote. */
export function dataText(record: InputRecord): string {
  return record instanceof UnparsedRecord ? record.text : stringifyJson(record.data);
}

/** Adds the same text without its closing brace, for fields to follow. Returns whether the data has any of its own. */
export function addUnclosedData(record: InputRecord, to: TextBuffer): boolean {
  if (record instanceof UnparsedRecord) return record.addUnclosed(to);
  const text = stringifyJson(record.data);
  to.add(text.slice(0, -1));
  return text !== '{}';
}

/** A record whose data nobody has looked at yet: what lies between `start` and `end` in the block, a JSON object. */
export class UnparsedRecord implements InputRecord {
  readonly stream: string;
  declare readonly namespace?: string;
  readonly emitted_at: number;
  readonly block: Buffer;
  readonly start: number;
  readonly end: number;
  #data: Record<string, unknown> | undefined;

  constructor(
    { name, namespace, emittedAt }: Pick<RecordBeginning, 'name' | 'namespace' | 'emittedAt'>,
    block: Buffer,
    start: number,
    end: number,
  ) {
    this.stream = name;
    if (namespace !== undefined) this.namespace = namespace;
    this.emitted_at = emittedAt;
    this.block = block;
    this.start = start;
    this.end = end;
  }

  get text(): string {
    return this.block.toString('utf8', this.start, this.end);
  }

  get data(): Record<string, unknown> {
    try {
      this.#data ??= parseJson(this.text) as Record<string, unknown>;
    } catch (error) {
      throw unreadable(error);
    }
    return this.#data;
  }

  addUnclosed(to: TextBuffer): boolean {
    let end = this.end - 1;
    while (isSpace(this.block[end - 1])) end--;
    to.addSlice(this.block, this.start, end);
    return end > this.start + 1;
  }
}

function isSpace(byte: number | undefined): boolean {
  return byte !== undefined && byte <= 32;
}

const [openingBrace, closingBrace] = ['{', '}'].map((brace) => brace.charCodeAt(0)) as [number, number];

function recordRecognizer(): (block: Buffer, view: DataView, start: number, end: number) => UnparsedRecord | undefined {
  let latest: RecordBeginning | undefined;
  return (block, view, start, end) => {
    if (!latest?.begins(view, start, end)) {
      latest = RecordBeginning.read(block, start, end);
      if (!latest) return undefined;
    }
    const dataStart = start + latest.dataAt;
    const dataEnd = end - '}}'.length;
    // A record of others may have something behind its data, and end in the same way.
    const isClosed = block[end - 1] === closingBrace && block[end - 2] === closingBrace;
    if (!isClosed || !isOneObject(block, dataStart, dataEnd)) return undefined;
    return new UnparsedRecord(latest, block, dataStart, dataEnd);
  };
}

/** Whether what lies between is one object and nothing more, given that it begins as one. */
function isOneObject(block: Buffer, start: number, end: number): boolean {
  // Most data has no braces within, and finding that out is quick. The next line begins with one.
  if (block.indexOf(closingBrace, start) === end - 1) {
    const next = block.indexOf(openingBrace, start + 1);
    if (next === -1 || next >= end) return true;
  }
  const text = block.toString('latin1', start, end);
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else if (character === '{') depth++;
    else if (character === '}' && --depth === 0) return at === text.length - 1;
  }
  return false;
}

/** Its closing quote. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length && text[at] !== '"'; at++) if (text[at] === '\\') at++;
  return at;
}

const rowsStart = Buffer.from(`{"type":"${rowsType}",`);

function startsRows(block: Buffer, start: number): boolean {
  for (let at = 0; at < rowsStart.length; at++) if (block[start + at] !== rowsStart[at]) return false;
  return true;
}

function openBlock(line: string): OpenBlock {
  let message: Partial<RowsMessage>;
  try {
    message = JSON.parse(line) as Partial<RowsMessage>;
  } catch (error) {
    throw unreadable(error);
  }
  const fault = faultOfHeader(message.rows);
  if (fault !== undefined) throw damagedRows(message.rows?.stream, fault);
  return new OpenBlock(message.rows as RowsMessage['rows']);
}

function wholeBlock({ rows, pieces }: OpenBlock): RowBlock {
  if (!pieces.every(isUtf8)) throw damagedRows(rows.stream, 'it is not UTF-8 text');
  let count = 0;
  for (const piece of pieces) {
    for (let at = piece.indexOf(newline); at !== -1; at = piece.indexOf(newline, at + 1)) count++;
  }
  if (count !== rows.count) throw damagedRows(rows.stream, `its header says ${rows.count} rows, and it has ${count}`);
  return { type: rowsType, rows, pieces };
}

/** `why` completes the sentence. */
export function damagedRows(stream: string | undefined, why: string): ConnectorError {
  const which = stream === undefined ? '' : ` of the stream ${stream}`;
  const message = `The destination received a damaged block of rows${which}: ${why}. Nothing after it was stored.`;
  return new ConnectorError(message, { failureType: 'transient_error' });
}

/** The runner lets no such line through; any other program that feeds a destination learns what is wrong. */
function unreadable(cause: unknown): ConnectorError {
  const message = 'The destination received a record or state that is not valid JSON. Nothing after it was stored.';
  return new ConnectorError(message, { failureType: 'transient_error', cause });
}

/** The runner has seen to it already; any other program that feeds a destination may write a time as it likes. */
function withTime({ record }: RecordMessage): void {
  if (record) record.emitted_at = emittedAtMs(record.emitted_at) ?? Date.now();
}

function readMessage(line: string, isWhole: boolean): DestinationInput[] {
  if (!line.startsWith('{')) return [];
  let message: { type?: unknown };
  try {
    message = parseJson(line) as { type?: unknown };
  } catch (error) {
    // Someone printed to the wrong stream; a cut-off line is the end of a sender that died.
    if (isWhole && /"type"\s*:\s*"(RECORD|STATE)"/.test(line)) throw unreadable(error);
    return [];
  }
  const { type } = message;
  if (type === 'RECORD') withTime(message as RecordMessage);
  return type === 'RECORD' || type === 'STATE' || type === 'TRACE' ? [message as DestinationInput] : [];
}
