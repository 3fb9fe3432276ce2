/* Converts the bytes of a file to text: detects and unpacks gzip, and refuses binary content. */
import { pipeline, Readable } from 'node:stream';
import { TextDecoder } from 'node:util';
import { createGunzip } from 'node:zlib';
import { ConnectorError } from '@inlay/protocol/connector';

export type Encoding = 'utf-8' | 'latin1';

export async function* readText(body: Readable, encoding: Encoding): AsyncGenerator<string> {
  // What is called Latin-1 is mostly the encoding of Windows, which has more characters and is otherwise the same.
  const decoder = new TextDecoder(encoding === 'latin1' ? 'windows-1252' : 'utf-8', { fatal: true });
  for await (const chunk of unpacked(body)) yield decode(decoder, chunk);
  yield decode(decoder, undefined);
}

function decode(decoder: TextDecoder, chunk: Uint8Array | undefined): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch (cause) {
    throw new ConnectorError(
      'The file is not encoded as UTF-8. Choose a different encoding or save the file as UTF-8.',
      {
        cause,
      },
    );
  }
}

async function* unpacked(body: Readable): AsyncGenerator<Buffer> {
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Buffer> & { return(): Promise<unknown> };
  try {
    const beginning = await readBeginning(chunks);
    if (isZip(beginning)) {
      throw new ConnectorError(
        'The file is a ZIP archive or a spreadsheet. Provide a text file, optionally compressed with gzip.',
      );
    }
    const whole = prepended(beginning, chunks);
    // The reader of the result learns of a failure on the way.
    if (isGzip(beginning)) yield* pipeline(Readable.from(whole), createGunzip({ chunkSize: 64 * 1024 }), () => {});
    else yield* whole;
  } finally {
    await chunks.return();
  }
}

/** As many bytes as it takes to recognize a format, unless the file is shorter. */
async function readBeginning(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  let beginning = Buffer.alloc(0);
  while (beginning.length < 4) {
    const { done, value } = await chunks.next();
    if (done) break;
    beginning = Buffer.concat([beginning, value]);
  }
  return beginning;
}

async function* prepended(beginning: Buffer, chunks: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield beginning;
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
}

const isGzip = (bytes: Buffer) => bytes[0] === 0x1f && bytes[1] === 0x8b;
const isZip = (bytes: Buffer) => bytes.subarray(0, 4).equals(Buffer.from('PK\x03\x04'));
