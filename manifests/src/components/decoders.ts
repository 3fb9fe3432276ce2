/* Bodies that are not JSON as a whole. */
import { createInterface } from 'node:readline';
import { type Duplex, pipeline, Readable, Transform } from 'node:stream';
import { createGunzip, inflateRawSync } from 'node:zlib';
import { isCutOffJson } from '@inlay/protocol/cut-off-json';
import { parseJsonWithFloats } from '@inlay/protocol/json';
import {
  boolean,
  type ComponentDefinition,
  component,
  type Given,
  list,
  optional,
  required,
  text,
  withoutEffect,
} from '../component.ts';
import { Answer } from '../http/answer.ts';
import { readCsvRows } from '../run/csv-rows.ts';
import { type Decoder, jsonDecoder } from '../run/decoder.ts';
import { readJsonItems } from '../run/json-items.ts';
import { parseXml } from '../run/xml.ts';

const batchSize = 500;

function bodyOf(answer: Answer): Readable {
  return answer.stream ?? Readable.from([answer.bytes]);
}

/** Values one by one, handed on in batches. */
async function* inBatches(values: AsyncIterable<unknown>): AsyncGenerator<unknown[]> {
  let batch: unknown[] = [];
  for await (const value of values) {
    batch.push(value);
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function streamedDecoder(read: (body: Readable) => AsyncIterable<unknown>): Decoder {
  return {
    isStreamed: true,
    decode: (answer) => inBatches(read(bodyOf(answer))),
    // A body that is read while it comes cannot be looked at again.
    firstValue: () => ({}),
  };
}

async function* linesOf(body: Readable): AsyncGenerator<string> {
  for await (const line of createInterface({ input: body, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line !== '') yield line;
  }
}

async function* readJsonLines(body: Readable): AsyncGenerator<unknown> {
  let last = '';
  for await (const line of linesOf(body)) {
    last = line;
    let value: unknown;
    try {
      value = parseJsonWithFloats(line);
    } catch {
      // A line that is not JSON is ignored, as in the reference runtime.
      continue;
    }
    last = '';
    yield value;
  }
  // More lines may be missing behind it.
  if (isCutOffJson(last)) throw cutOff();
}

function cutOff(): Error {
  return new Error('The response is incomplete.');
}

async function* readLines(body: Readable): AsyncGenerator<unknown> {
  for await (const line of linesOf(body)) yield { record: line };
}

function makeCsvDecoder(given: Given): Decoder {
  const encoding = given.text('encoding') ?? 'utf-8';
  const delimiter = (given.text('delimiter') ?? ',').replaceAll('\\t', '\t');
  const nulls = given.texts('set_values_to_none');
  return streamedDecoder(async function* readCsv(body) {
    for await (const row of readRows(body, encoding, delimiter)) yield withNulls(row, nulls);
  });
}

/** Like `pipe`, but a body that breaks off ends what reads it, with the error. */
function through<Stream extends Duplex>(body: Readable, stream: Stream): Stream {
  // The stream's reader gets the error.
  pipeline(body, stream, () => {});
  return stream;
}

/**
 * Rows keyed by the names in the first row. Missing values of a short row are null; extra values of a long one become a
 * list.
 */
async function* readRows(body: Readable, encoding: string, delimiter: string): AsyncGenerator<Record<string, unknown>> {
  let names: readonly string[] | undefined;
  for await (const values of readCsvRows(decodedText(body, encoding), delimiter)) {
    if (!names) names = values;
    else {
      const row: Record<string, unknown> = Object.fromEntries(
        names.map((name, index) => [name, values[index] ?? null]),
      );
      // Python has no name for them, and JSON writes that as a word.
      if (values.length > names.length) row.null = values.slice(names.length);
      yield row;
    }
  }
}

function makeJsonItemsDecoder(given: Given): Decoder {
  const path = given.text('items_path') ?? '';
  const encoding = given.text('encoding') ?? 'utf-8';
  return streamedDecoder((body) => readJsonItems(decodedText(body, encoding), path));
}

/** Encodings by their Python names. A byte order mark is stripped. */
async function* decodedText(body: Readable, encoding: string): AsyncGenerator<string> {
  const name = encoding
    .toLowerCase()
    .replaceAll('_', '-')
    .replace(/-sig$/, '')
    .replace(/^latin-/, 'latin');
  const decoder = new TextDecoder(name);
  for await (const chunk of body) yield decoder.decode(chunk as Buffer, { stream: true });
  yield decoder.decode();
}

/** Texts that mean null in a table, as in the Python package `pandas`. */
const nothings = [
  ...['#N/A', '#N/A N/A', '#NA', '-1.#IND', '-1.#QNAN', '-NaN', '-nan', '1.#IND', '1.#QNAN'],
  ...['<NA>', 'N/A', 'NA', 'NULL', 'NaN', 'None', 'n/a', 'nan', 'null'],
];

/** A table, which may be packed. An empty value is null, and so is a missing one. */
export function tableDecoder(keepsNothings: boolean): Decoder {
  const nulls = ['', ...(keepsNothings ? [] : nothings)];
  return unpackedDecoder(
    streamedDecoder(async function* readTable(body) {
      for await (const row of readRows(withoutNullBytes(body), 'utf-8', ',')) {
        delete row.null;
        yield withNulls(row, nulls);
      }
    }),
  );
}

function withoutNullBytes(body: Readable): Readable {
  return through(
    body,
    new Transform({
      transform(chunk: Buffer, _encoding, done) {
        done(null, chunk.includes(0) ? chunk.filter((byte) => byte !== 0) : chunk);
      },
    }),
  );
}

function withNulls(row: Record<string, unknown>, nulls: readonly string[]): Record<string, unknown> {
  if (nulls.length === 0) return row;
  for (const [key, value] of Object.entries(row)) if (nulls.includes(String(value))) row[key] = null;
  return row;
}

/** Unpacks what is still packed: the client has unpacked what the answer calls its coding. */
function unpackedDecoder(inner: Decoder): Decoder {
  const unpack = async (answer: Answer): Promise<Answer> => {
    const { stream, isPacked } = await peek(bodyOf(answer));
    const plain = isPacked ? through(stream, createGunzip()) : stream;
    if (inner.isStreamed) return new Answer(answer.status, answer.rawHeaders, Buffer.alloc(0), plain);
    const chunks: Buffer[] = [];
    for await (const chunk of plain) chunks.push(chunk as Buffer);
    return new Answer(answer.status, answer.rawHeaders, Buffer.concat(chunks));
  };
  const unpacked = new WeakMap<Answer, Answer>();
  return {
    isStreamed: true,
    async *decode(answer) {
      const plain = await unpack(answer);
      unpacked.set(answer, plain);
      yield* inner.decode(plain);
    },
    firstValue: (answer) => inner.firstValue(unpacked.get(answer) ?? answer),
  };
}

/** Detected by the first two bytes. */
async function peek(body: Readable): Promise<{ stream: Readable; isPacked: boolean }> {
  const iterator = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let start = Buffer.alloc(0);
  while (start.length < 2) {
    const { value, done } = await iterator.next();
    if (done) break;
    start = Buffer.concat([start, value]);
  }
  async function* rest(): AsyncGenerator<Buffer> {
    yield start;
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value;
  }
  return { stream: Readable.from(rest()), isPacked: start[0] === 0x1f && start[1] === 0x8b };
}

/** The first file of a ZIP archive, or all of them in sequence. */
function makeZipDecoder(given: Given): Decoder {
  const inner = given.child<Decoder>('decoder') ?? jsonDecoder;
  return {
    isStreamed: false,
    async *decode(answer) {
      for (const file of filesOfZip(answer.bytes))
        yield* inner.decode(new Answer(answer.status, answer.rawHeaders, file));
    },
    firstValue: () => ({}),
  };
}

const mostUnpackedBytes = 512 * 1024 * 1024;

function filesOfZip(bytes: Buffer): Buffer[] {
  const end = bytes.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  if (end === -1) throw new Error('The response is not a ZIP archive.');
  const files: Buffer[] = [];
  let at = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left--) {
    const [method, packed] = [bytes.readUInt16LE(at + 10), bytes.readUInt32LE(at + 20)];
    const [nameLength, extraLength, noteLength] = [28, 30, 32].map((offset) => bytes.readUInt16LE(at + offset)) as [
      number,
      number,
      number,
    ];
    const local = bytes.readUInt32LE(at + 42);
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const content = bytes.subarray(start, start + packed);
    const isFolder = bytes.toString('utf8', at + 46, at + 46 + nameLength).endsWith('/');
    if (!isFolder) files.push(method === 0 ? content : inflateRawSync(content, { maxOutputLength: mostUnpackedBytes }));
    at += 46 + nameLength + extraLength + noteLength;
  }
  return files;
}

/** A response that is not XML has no records. Truncated XML is a failure. */
const xmlDecoder: Decoder = {
  isStreamed: false,
  async *decode(answer) {
    yield [readXml(answer)];
  },
  firstValue: readXml,
};

function readXml(answer: Answer): unknown {
  try {
    return parseXml(answer.text);
  } catch {
    const { text } = answer;
    const [, root] = /^\s*(?:<\?[^>]*>\s*)?<([^\s<>/!?]+)/.exec(text) ?? [];
    const isPage = root?.toLowerCase() === 'html';
    if (root !== undefined && !isPage && !text.trimEnd().endsWith(`</${root}>`)) throw cutOff();
    return {};
  }
}

const inner = component(
  'JsonDecoder',
  'JsonItemsDecoder',
  'JsonlDecoder',
  'CsvDecoder',
  'GzipDecoder',
  'ZipfileDecoder',
  'CustomDecoder',
);

export const decoderComponents: ComponentDefinition[] = [
  {
    name: 'JsonlDecoder',
    step: 'S3',
    words: 'Reads one JSON value per line. Streams the response.',
    options: {},
    make: () => streamedDecoder(readJsonLines),
  },
  {
    name: 'JsonItemsDecoder',
    step: 'S4',
    words: 'Reads the items of one list in a JSON body. Streams the response.',
    options: {
      items_path: required(text, 'Dot path to the list. `item` stands for each item of a list.'),
      encoding: optional(text, 'The character encoding.', 'utf-8'),
      spool_to_disk: withoutEffect(boolean, 'Responses are always streamed.'),
    },
    make: makeJsonItemsDecoder,
  },
  {
    name: 'IterableDecoder',
    step: 'S3',
    words: 'Reads each line as a record with one field, `record`.',
    options: {},
    make: () => streamedDecoder(readLines),
  },
  {
    name: 'CsvDecoder',
    step: 'S3',
    words: 'Reads CSV with a header row. Streams the response.',
    options: {
      encoding: optional(text, 'The character encoding.', 'utf-8'),
      delimiter: optional(text, 'The delimiter between values.', ','),
      set_values_to_none: optional(list(text), 'Values to read as null.'),
    },
    make: makeCsvDecoder,
  },
  {
    name: 'XmlDecoder',
    step: 'S3',
    words: 'Reads XML. Attribute names start with @; text next to elements becomes #text.',
    options: {},
    make: () => xmlDecoder,
  },
  {
    name: 'GzipDecoder',
    step: 'S3',
    words:
      'Decompresses a response, then decodes it with another decoder. Uncompressed responses are decoded directly.',
    options: { decoder: required(inner, 'Decodes the content.') },
    make: (given) => unpackedDecoder(given.child<Decoder>('decoder') ?? jsonDecoder),
  },
  {
    name: 'ZipfileDecoder',
    step: 'S4',
    words: 'Extracts a ZIP archive, then decodes its files with another decoder.',
    options: { decoder: required(inner, 'Decodes the content.') },
    make: makeZipDecoder,
  },
];
