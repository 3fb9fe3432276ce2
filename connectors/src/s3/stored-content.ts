/*
 * Whether a store has what it was sent, as far as its own responses show: by a checksum if it returns one, or by the
 * ETag if that is the MD5 of the content.
 */
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Answer, Doubt } from './calls.ts';

type Headers = Answer['headers'];

const checksums: Record<string, (body: Buffer) => string> = {
  sha256: (body) => createHash('sha256').update(body).digest('base64'),
  sha1: (body) => createHash('sha1').update(body).digest('base64'),
  crc32: (body) => base64(crc32(body)),
  crc32c: (body) => base64(crc32c(body)),
  crc64nvme: (body) => base64(...crc64nvme(body)),
};

/** The answer to a request that has sent the content, or that has asked about it. */
export function doubtContent({ headers }: Pick<Answer, 'headers'>, body: Buffer): Doubt {
  for (const [name, checksum] of Object.entries(checksums)) {
    const told = headers[`x-amz-checksum-${name}`];
    if (typeof told === 'string' && told !== checksum(body)) return 'stored different bytes than it received';
  }
  const md5 = md5Told(headers);
  if (md5 === undefined || md5 === createHash('md5').update(body).digest('hex')) return undefined;
  return 'stored different bytes than it received';
}

/** The ETag of an object sent in one piece, unless the store encrypts it with a key: then it is not an MD5. */
function md5Told(headers: Headers): string | undefined {
  const encryption = String(headers['x-amz-server-side-encryption'] ?? 'AES256');
  const hasOtherETag = encryption !== 'AES256' || headers['x-amz-server-side-encryption-customer-algorithm'];
  return hasOtherETag ? undefined : /^"?([0-9a-f]{32})"?$/.exec(String(headers.etag ?? ''))?.[1];
}

function base64(...words: number[]): string {
  const bytes = Buffer.alloc(4 * words.length);
  for (const [index, word] of words.entries()) bytes.writeUInt32BE(word >>> 0, 4 * index);
  return bytes.toString('base64');
}

let crc32cTable: Uint32Array | undefined;

function crc32c(body: Buffer): number {
  crc32cTable ??= Uint32Array.from({ length: 256 }, (_, byte) => {
    let value = byte;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1;
    return value;
  });
  let value = -1;
  for (const byte of body) value = (value >>> 8) ^ (crc32cTable[(value ^ byte) & 255] as number);
  return ~value;
}

/** The high and the low half of each entry: a number cannot represent 64 bits. */
let crc64Tables: [Uint32Array, Uint32Array] | undefined;

function crc64nvme(body: Buffer): [number, number] {
  crc64Tables ??= makeCrc64Tables();
  const [highs, lows] = crc64Tables;
  let [high, low] = [-1, -1];
  for (const byte of body) {
    const index = (low ^ byte) & 255;
    low = ((low >>> 8) | (high << 24)) ^ (lows[index] as number);
    high = (high >>> 8) ^ (highs[index] as number);
  }
  return [~high, ~low];
}

function makeCrc64Tables(): [Uint32Array, Uint32Array] {
  const tables: [Uint32Array, Uint32Array] = [new Uint32Array(256), new Uint32Array(256)];
  for (let byte = 0; byte < 256; byte++) {
    let value = BigInt(byte);
    for (let bit = 0; bit < 8; bit++) value = value & 1n ? (value >> 1n) ^ 0x9a6c9329ac4bc9b5n : value >> 1n;
    tables[0][byte] = Number(value >> 32n);
    tables[1][byte] = Number(value & 0xffffffffn);
  }
  return tables;
}
