/** Reads manifests by the program of the bundled connectors, whichever platform runs them later. */
import { join } from 'node:path';
import { describeManifest, ManifestReader } from '@inlay/platform/definitions/describe-manifest';
import type { ManifestDescription } from '@inlay/protocol/protocol';
import { builtFolder } from '../../built-folder.ts';

export { describePlace, refusalOf, UnreadableManifest } from '@inlay/platform/definitions/describe-manifest';
export type { ManifestDescription, Place } from '@inlay/protocol/protocol';

const program = (componentsFile?: string) => ({
  connectorsProgram: join(builtFolder, 'connectors/main.js'),
  ...(componentsFile !== undefined && { componentsFile }),
});

/** Organizations take turns. Throws an UnreadableManifest, or QueueFull if too many of the organization wait. */
export async function readManifest(organizationId: string, text: string): Promise<ManifestDescription> {
  return await describeManifest(program(), organizationId, text);
}

/** For the command line, which waits for nobody. `componentsFile`: code for the classes that manifests name. */
export const openManifestReader = (componentsFile?: string) => new ManifestReader(program(componentsFile));
