/**
 * A file that the build has made for browsers, also in compressed forms. It is read once and answered from memory.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

/** The encodings and the ends of their file names, the preferred one first. */
export const encodings = { br: '.br', gzip: '.gz' } as const;
export type Encoding = keyof typeof encodings | 'identity';

const mediaTypes: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  tgz: 'application/gzip',
  ts: 'application/typescript; charset=utf-8',
};

export interface BuiltFile {
  mediaType: string;
  etag: string;
  content: ReadonlyMap<Encoding, Buffer>;
}

const known = new Map<string, { version: string; file: BuiltFile }>();

/** Apps of one process, as in tests, share what is read: it is megabytes. */
export function readBuiltFile(file: string): BuiltFile {
  const { mtimeMs, size } = statSync(file);
  const version = `${mtimeMs} ${size}`;
  const before = known.get(file);
  if (before?.version === version) return before.file;
  const read = readFromDisk(file);
  known.set(file, { version, file: read });
  return read;
}

function readFromDisk(file: string): BuiltFile {
  const plain = readFileSync(file);
  const content = new Map<Encoding, Buffer>();
  for (const [encoding, ending] of Object.entries(encodings)) {
    if (existsSync(file + ending)) content.set(encoding as Encoding, readFileSync(file + ending));
  }
  content.set('identity', plain);
  const mediaType = mediaTypes[file.slice(file.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
  return { mediaType, etag: etagOf(plain), content };
}

/** Made by this process, once, and served like what the build has made. */
export function builtJson(value: unknown): BuiltFile {
  const plain = Buffer.from(JSON.stringify(value));
  const content = new Map<Encoding, Buffer>([
    ['gzip', gzipSync(plain)],
    ['identity', plain],
  ]);
  return { mediaType: 'application/json; charset=utf-8', etag: etagOf(plain), content };
}

function etagOf(content: Buffer): string {
  return `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
}

/** The smallest form that the client has said it reads. */
export function preferredEncoding(file: BuiltFile, acceptEncoding = ''): Encoding {
  const accepted = acceptEncoding
    .split(',')
    .map((part) => part.trim())
    .filter((part) => !/;\s*q=0(\.0*)?$/.test(part))
    .map((part) => part.split(';')[0]);
  for (const encoding of file.content.keys()) if (accepted.includes(encoding)) return encoding;
  return 'identity';
}
