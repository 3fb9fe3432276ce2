/**
 * The files that a browser loads: the widget's script and style, and the embed library. The build makes them, each also
 * compressed; they are read once and answered from memory. Names of the widget's files contain their hash, so a file
 * behind a name never changes.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../errors.ts';

/** In the order of preference. */
const encodings = { br: '.br', gzip: '.gz' } as const;
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

export const embedFiles = ['embed.js', 'embed.mjs', 'embed.d.ts', 'embed.tgz'] as const;
export type EmbedFile = (typeof embedFiles)[number];

export interface BuiltFiles {
  /** By name, as it stands in an address. */
  assets: ReadonlyMap<string, BuiltFile>;
  script: string;
  styles: readonly string[];
  /** The embed library as a script, as a module with its types, and as the package that npm installs; by name. */
  embedLibrary: Readonly<Record<EmbedFile, BuiltFile>>;
}

interface ManifestEntry {
  file: string;
  isEntry?: boolean;
  css?: string[];
}

/** `folder` is where the build puts what it makes. */
export function readBuiltFiles(folder: string): BuiltFiles {
  const manifestFile = join(folder, 'widget/manifest.json');
  const embedFolder = join(folder, 'embed');
  if (!existsSync(manifestFile) || !embedFiles.every((name) => existsSync(join(embedFolder, name)))) {
    throw new OperatorError('The widget is not built. Run "npm run build".');
  }
  const manifest: Record<string, ManifestEntry> = JSON.parse(readFileSync(manifestFile, 'utf8'));
  const entry = Object.values(manifest).find(({ isEntry }) => isEntry);
  if (!entry) throw new Error(`${manifestFile} names no entry.`);
  const styles = Object.values(manifest)
    .map(({ file }) => file)
    .filter((file) => file.endsWith('.css'));
  return {
    assets: readAssets(join(folder, 'widget/assets')),
    script: entry.file,
    styles: [...new Set([...(entry.css ?? []), ...styles])],
    embedLibrary: Object.fromEntries(
      embedFiles.map((name) => [name, readBuiltFile(join(embedFolder, name))]),
    ) as Record<EmbedFile, BuiltFile>,
  };
}

function readAssets(folder: string): Map<string, BuiltFile> {
  const compressed = Object.values(encodings);
  const names = readdirSync(folder).filter((name) => !compressed.some((ending) => name.endsWith(ending)));
  return new Map(names.map((name) => [name, readBuiltFile(join(folder, name))]));
}

function readBuiltFile(file: string): BuiltFile {
  const plain = readFileSync(file);
  const content = new Map<Encoding, Buffer>();
  for (const [encoding, ending] of Object.entries(encodings)) {
    if (existsSync(file + ending)) content.set(encoding as Encoding, readFileSync(file + ending));
  }
  content.set('identity', plain);
  const mediaType = mediaTypes[file.slice(file.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
  return { mediaType, etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`, content };
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
