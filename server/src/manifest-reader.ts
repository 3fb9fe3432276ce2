/** Reads manifests by the program of the bundled connectors, whichever platform runs them later. */
import { join } from 'node:path';
import { describeManifest } from '@inlay/platform/definitions/describe-manifest';
import type { ManifestDescription } from '@inlay/platform/protocol';
import { builtFolder } from './built-folder.ts';

export { refusalOf, UnreadableManifest } from '@inlay/platform/definitions/describe-manifest';
export type { ManifestDescription, Place } from '@inlay/platform/protocol';

/** Throws an UnreadableManifest. `componentsFile`: code for the classes that the manifest names. */
export async function readManifest(text: string, componentsFile?: string): Promise<ManifestDescription> {
  const connectorsProgram = join(builtFolder, 'connectors/main.js');
  return await describeManifest({ connectorsProgram, ...(componentsFile !== undefined && { componentsFile }) }, text);
}
