import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { builtFolder } from '../built-folder.ts';

export const version: string = manifest.version;

/** For a person who asks which program this is. The build notes its commit beside the program (scripts/ensure-built.mjs). */
export function describeVersion(): string {
  const file = join(builtFolder, 'commit');
  const commit = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const built = commit ? `commit ${commit}` : 'built without git';
  return `inlay ${version} (${built}, Node ${process.versions.node})`;
}
