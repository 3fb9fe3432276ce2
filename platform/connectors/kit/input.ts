/*
 * Reads protocol messages from a stream, a batch for each chunk that arrives. The data of a record that is written as the
 * bundled connectors write it is parsed only when somebody looks at it; whoever only stores it takes the bytes as they
 * came.
 */
import type { Readable } from 'node:stream';
import type { RecordMessage } from '../../src/protocol.ts';
import type { DestinationInput } from './connector.ts';
import type { TextBuffer } from './text-buffer.ts';

type InputRecord = RecordMessage['record'];

const newline = 10;

/**
 * Lines that are no protocol message of use to a destination are passed over, as the protocol asks. An aborted signal
 * ends the input where it is.
 */
export async function* readInput(input: Readable, signal?: AbortSignal): AsyncGenerator<DestinationInput[]> {
  const recogniseRecord = recordRecogniser();
  for await (const block of blocksOf(input, signal)) {
    const batch: DestinationInput[] = [];
    // One character a byte, so that places in it are places in the block: finding something in a string is the faster.
    const text = block.toString('latin1');
    for (let start = 0; start < text.length; ) {
      const newlineAt = text.indexOf('\n', start);
      const end = newlineAt === -1 ? text.length : newlineAt;
      const record = recogniseRecord(block, text, start, end);
      if (record) batch.push({ type: 'RECORD', record });
      else batch.push(...readMessage(block.toString('utf8', start, end)));
      start = end + 1;
    }
    if (batch.length > 0) yield batch;
  }
}

/** One or more whole lines each; the last one may lack its newline, and may then have been cut off. */
async function* blocksOf(input: Readable, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
  const pieces: Buffer[] = [];
  for await (const chunk of chunksOf(input, signal)) {
    const end = chunk.lastIndexOf(newline) + 1;
    if (end > 0) yield Buffer.concat([...pieces.splice(0), chunk.subarray(0, end)]);
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
  return record instanceof UnparsedRecord ? record.text : JSON.stringify(record.data);
}

/** Adds the same text without its closing brace, for fields to follow. Tells whether the data has any of its own. */
export function addUnclosedData(record: InputRecord, to: TextBuffer): boolean {
  if (record instanceof UnparsedRecord) return record.addUnclosed(to);
  const text = JSON.stringify(record.data);
  to.add(text.slice(0, -1));
  return text !== '{}';
}

class UnparsedRecord implements InputRecord {
  readonly stream: string;
  declare readonly namespace?: string;
  readonly emitted_at: number;
  readonly #block: Buffer;
  readonly #start: number;
  readonly #end: number;
  #data: Record<string, unknown> | undefined;

  /** The data is what lies between `start` and `end` in the block. */
  constructor({ stream, namespace, emittedAt }: Beginning, block: Buffer, start: number, end: number) {
    this.stream = stream;
    if (namespace !== undefined) this.namespace = namespace;
    this.emitted_at = emittedAt;
    this.#block = block;
    this.#start = start;
    this.#end = end;
  }

  get text(): string {
    return this.#block.toString('utf8', this.#start, this.#end);
  }

  get data(): Record<string, unknown> {
    this.#data ??= JSON.parse(this.text) as Record<string, unknown>;
    return this.#data;
  }

  addUnclosed(to: TextBuffer): boolean {
    let end = this.#end - 1;
    while (isSpace(this.#block[end - 1])) end--;
    to.addBytes(this.#block, this.#start, end);
    return end > this.#start + 1;
  }
}

function isSpace(byte: number | undefined): boolean {
  return byte !== undefined && byte <= 32;
}

/** What comes before the data of a record. */
interface Beginning {
  /** As it stands in the line. */
  text: string;
  stream: string;
  namespace: string | undefined;
  emittedAt: number;
}

/** The same form as `recordHead` makes; a JSON string is what stands between two quotes that are not escaped. */
const ownBeginning =
  /^\{"type":"RECORD","record":\{"stream":("(?:[^"\\]|\\.)*")(?:,"namespace":("(?:[^"\\]|\\.)*"))?,"emitted_at":(\d{1,15}),"data":(?=\{)/;
const behindData = '}}';

/** Records come in long rows of one stream and one millisecond, so the beginning of the last one is tried first. */
function recordRecogniser(): (block: Buffer, text: string, start: number, end: number) => UnparsedRecord | undefined {
  let latest: Beginning | undefined;
  return (block, text, start, end) => {
    if (!latest || !text.startsWith(latest.text, start)) {
      latest = readBeginning(text.slice(start, end));
      if (!latest) return undefined;
    }
    const dataStart = start + latest.text.length;
    const dataEnd = end - behindData.length;
    // A record of others may have something behind its data, and end in the same way.
    if (!text.startsWith(behindData, dataEnd) || !isOneObject(text, dataStart, dataEnd)) return undefined;
    return new UnparsedRecord(latest, block, dataStart, dataEnd);
  };
}

function readBeginning(line: string): Beginning | undefined {
  const match = ownBeginning.exec(line);
  if (!match) return undefined;
  const [text, stream = '""', namespace, emittedAt] = match;
  const read = (json: string) => JSON.parse(Buffer.from(json, 'latin1').toString()) as string;
  return {
    text,
    stream: read(stream),
    namespace: namespace === undefined ? undefined : read(namespace),
    emittedAt: Number(emittedAt),
  };
}

/** Whether what lies between is one object and nothing more, given that it begins as one. */
function isOneObject(text: string, start: number, end: number): boolean {
  // Most data has no braces within, and finding that out is quick. The next line begins with one.
  if (text.indexOf('}', start) === end - 1) {
    const next = text.indexOf('{', start + 1);
    if (next === -1 || next >= end) return true;
  }
  let depth = 0;
  for (let at = start; at < end; at++) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else if (character === '{') depth++;
    else if (character === '}' && --depth === 0) return at === end - 1;
  }
  return false;
}

/** Its closing quote. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length && text[at] !== '"'; at++) if (text[at] === '\\') at++;
  return at;
}

function readMessage(line: string): DestinationInput[] {
  if (!line.startsWith('{')) return [];
  let message: { type?: unknown };
  try {
    message = JSON.parse(line);
  } catch {
    // Somebody printed to the wrong stream; a cut-off line is the end of a sender that died.
    return [];
  }
  const { type } = message;
  return type === 'RECORD' || type === 'STATE' || type === 'TRACE' ? [message as DestinationInput] : [];
}
