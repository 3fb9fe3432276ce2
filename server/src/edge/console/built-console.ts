/** The files of the console's page, as the build has made them (`dist/console`). Names of files contain their hash. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuiltFile, encodings, readBuiltFile } from '../../kernel/built-file.ts';

export interface BuiltConsole {
  /** The files by name, as in their address. */
  assets: ReadonlyMap<string, BuiltFile>;
  script: string;
  styles: readonly string[];
}

interface ManifestEntry {
  file: string;
  isEntry?: boolean;
  css?: string[];
}

/** Undefined where the build has made no console. */
export function readBuiltConsole(folder: string): BuiltConsole | undefined {
  const manifestFile = join(folder, 'console/manifest.json');
  if (!existsSync(manifestFile)) return undefined;
  const manifest: Record<string, ManifestEntry> = JSON.parse(readFileSync(manifestFile, 'utf8'));
  const entry = Object.values(manifest).find(({ isEntry }) => isEntry);
  if (!entry) throw new Error(`${manifestFile} has no entry file.`);
  const assets = join(folder, 'console/assets');
  const compressed = Object.values(encodings);
  const names = readdirSync(assets).filter((name) => !compressed.some((ending) => name.endsWith(ending)));
  // All styles are in one file, which the manifest names beside the entry.
  const styles = Object.values(manifest)
    .map(({ file }) => file)
    .filter((file) => file.endsWith('.css'));
  return {
    assets: new Map(names.map((name) => [name, readBuiltFile(join(assets, name))])),
    script: entry.file,
    styles: [...new Set([...(entry.css ?? []), ...styles])],
  };
}
