/*
 * Reads protocol messages from a stream, a batch for each chunk that arrives. The data of a record that the bundled
 * connectors wrote is parsed only when somebody looks at it; whoever only stores it takes the text as it came.
 */
import type { Readable } from 'node:stream';
import type { RecordMessage } from '../../src/protocol.ts';
import type { DestinationInput } from './connector.ts';

type InputRecord = RecordMessage['record'];

/**
 * Lines that are no protocol message of use to a destination are passed over, as the protocol asks. An aborted signal
 * ends the input where it is.
 */
export async function* readInput(input: Readable, signal?: AbortSignal): AsyncGenerator<DestinationInput[]> {
  const recogniseRecord = recordRecogniser();
  const read = (line: string): DestinationInput[] => {
    const record = recogniseRecord(line);
    return record ? [{ type: 'RECORD', record }] : readMessage(line);
  };
  let rest = '';
  input.setEncoding('utf8');
  for await (const chunk of chunksOf(input, signal)) {
    if (!chunk.includes('\n')) {
      rest += chunk;
      continue;
    }
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    const batch = lines.flatMap(read);
    if (batch.length > 0) yield batch;
  }
  // Without its newline it may have been cut off.
  const last = readMessage(rest);
  if (last.length > 0) yield last;
}

async function* chunksOf(input: Readable, signal: AbortSignal | undefined): AsyncGenerator<string> {
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

class UnparsedRecord implements InputRecord {
  readonly stream: string;
  declare readonly namespace?: string;
  readonly emitted_at: number;
  readonly text: string;
  #data: Record<string, unknown> | undefined;

  constructor(stream: string, namespace: string | undefined, emittedAt: number, text: string) {
    this.stream = stream;
    if (namespace !== undefined) this.namespace = namespace;
    this.emitted_at = emittedAt;
    this.text = text;
  }

  get data(): Record<string, unknown> {
    this.#data ??= JSON.parse(this.text) as Record<string, unknown>;
    return this.#data;
  }
}

/** The same form as `recordHead` makes; a JSON string is what stands between two quotes that are not escaped. */
const ownHead =
  /^\{"type":"RECORD","record":\{"stream":("(?:[^"\\]|\\.)*")(?:,"namespace":("(?:[^"\\]|\\.)*"))?,"emitted_at":(?=\d+,"data":\{)/;
const startOfData = ',"data":';
const endOfRecord = '}}';

/** Records come in long rows of one stream, so the head of the last one is tried first. */
function recordRecogniser(): (line: string) => UnparsedRecord | undefined {
  let head = '';
  let stream = '';
  let namespace: string | undefined;
  return (line) => {
    if (head === '' || !line.startsWith(head)) {
      const match = ownHead.exec(line);
      if (!match) return undefined;
      head = match[0];
      stream = JSON.parse(match[1] ?? '""');
      namespace = match[2] === undefined ? undefined : JSON.parse(match[2]);
    }
    const end = line.indexOf(startOfData, head.length);
    const emittedAt = Number(line.slice(head.length, end));
    if (end === -1 || !Number.isSafeInteger(emittedAt) || !line.endsWith('}}}')) return undefined;
    return new UnparsedRecord(stream, namespace, emittedAt, line.slice(end + startOfData.length, -endOfRecord.length));
  };
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
