/**
 * The files that a browser loads: the widget's script and style, and the libraries for hosts: the embed library, and the
 * library that verifies webhooks. The build makes them, each also
 * compressed. Names of the widget's files contain their hash, so the content under a name never changes.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuiltFile, encodings, readBuiltFile } from '../../kernel/built-file.ts';
import { OperatorError } from '../../kernel/errors.ts';

export const embedFiles = ['embed.js', 'embed.mjs', 'embed.d.ts', 'embed.tgz', 'webhooks.mjs', 'webhooks.tgz'] as const;
type EmbedFile = (typeof embedFiles)[number];

export interface BuiltFiles {
  /** The files by name, as in their address. */
  assets: ReadonlyMap<string, BuiltFile>;
  script: string;
  styles: readonly string[];
  /** The script that makes the API reference interactive. */
  referenceScript: BuiltFile;
  /** The libraries as a script, as modules with types, and as packages that npm installs; by name. */
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
  const referenceFile = join(folder, 'reference/reference.js');
  const embedFolder = join(folder, 'embed');
  const needed = [manifestFile, referenceFile, ...embedFiles.map((name) => join(embedFolder, name))];
  if (!needed.every((file) => existsSync(file))) {
    throw new OperatorError('The widget is not built. Run "npm run build".');
  }
  const manifest: Record<string, ManifestEntry> = JSON.parse(readFileSync(manifestFile, 'utf8'));
  const entry = Object.values(manifest).find(({ isEntry }) => isEntry);
  if (!entry) throw new Error(`${manifestFile} has no entry file.`);
  const styles = Object.values(manifest)
    .map(({ file }) => file)
    .filter((file) => file.endsWith('.css'));
  return {
    assets: readAssets(join(folder, 'widget/assets')),
    script: entry.file,
    styles: [...new Set([...(entry.css ?? []), ...styles])],
    referenceScript: readBuiltFile(referenceFile),
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
