/** The commands about connectors that were added to the bundled platform of this machine. */
import { resolve } from 'node:path';
import type { Definition } from '@inlay/platform/definitions/definitions';
import {
  listRegisteredDefinitions,
  type Registration,
  registerDefinition,
  removeDefinition,
} from '@inlay/platform/definitions/registered-definitions';
import type { OpenPlatform } from '@inlay/platform/open-platform';
import { openBundledPlatform, platformCredentials } from '../bundled-platform.ts';
import { byCommandLine } from '../cause.ts';
import { readConfig } from '../config.ts';
import { openDataDir } from '../data-dir.ts';
import { openSealer } from '../encryption-keys.ts';
import { OperatorError } from '../errors.ts';
import { createJournal } from '../events/journal.ts';
import { createLog } from '../log.ts';
import { listOrganizationIds } from '../organizations/organizations.ts';
import { systemRuntime } from '../runtime.ts';
import { withStore } from './opened-store.ts';
import { print, table } from './output.ts';

/** The bundled platform of this data directory, beside a service that may be running on it. It runs no jobs. */
export async function withPlatform(work: (platform: OpenPlatform) => Promise<void>): Promise<void> {
  const { config, secrets } = readConfig(process.env);
  if (config.platformUrl !== undefined) {
    throw new OperatorError(
      'Connectors are added where the bundled platform runs. INLAY_PLATFORM_URL names another platform.',
    );
  }
  const dataDir = openDataDir(config.dataDir);
  const parts = { dataDir, sealer: openSealer(secrets, dataDir), log: createLog('silent'), isInternal: true };
  const { platform, close } = await openBundledPlatform(config, platformCredentials(secrets, dataDir), parts);
  try {
    await work(platform);
  } finally {
    await close();
  }
}

export const addConnector = (command: string[], options: ConnectorOptions) =>
  withPlatform(async (platform) => {
    const registration = readRegistration(command, options);
    const { definitionId, kind, name } = await registerDefinition(platform.definitions, registration);
    await tellOfDefinition('definition.created', { id: definitionId, kind, name });
    print(`Added ${name} (${definitionId}). It can be used at once.`);
  });

export const showConnectors = () =>
  withPlatform(async (platform) => {
    const definitions = await listRegisteredDefinitions(platform.definitions);
    table(
      ['ID', 'KIND', 'NAME', 'RUNS'],
      definitions.map(({ definitionId, kind, name, launch }) => [definitionId, kind, name, describeLaunch(launch)]),
    );
  });

export const removeConnector = (id: string) =>
  withPlatform(async (platform) => {
    const known = (await listRegisteredDefinitions(platform.definitions)).find((one) => one.definitionId === id);
    await removeDefinition(platform.definitions, id);
    if (known) await tellOfDefinition('definition.deleted', { id, kind: known.kind, name: known.name });
    print(`Removed ${id}.`);
  });

/**
 * Connectors belong to the platform, which has a database of its own. So this entry comes just after the change, not with it.
 * A machine that runs a platform alone has no log.
 */
async function tellOfDefinition(
  type: 'definition.created' | 'definition.deleted',
  definition: { id: string; kind: 'source' | 'destination'; name: string },
): Promise<void> {
  await withStore(async (store) => {
    await store.transaction(async (tx) => {
      for (const id of await listOrganizationIds(tx)) await journal.record(tx, id, { type, data: { definition } });
    });
  });
}

const journal = createJournal({ runtime: systemRuntime, cause: byCommandLine });

export interface ConnectorOptions {
  source?: true;
  destination?: true;
  name: string;
  image?: string;
  directory?: string;
}

function readRegistration(
  [program, ...args]: string[],
  { source, destination, name, image, directory = '.' }: ConnectorOptions,
): Registration {
  if (source === destination) throw new OperatorError('Say which it is: --source or --destination.');
  if ((program === undefined) === (image === undefined)) {
    throw new OperatorError('Say what runs it: --image <image>, or a command after --.');
  }
  const kind = source ? 'source' : 'destination';
  if (image !== undefined) return { kind, name, launch: { type: 'image', image } };
  // An absolute path, because the service may run in another directory.
  return { kind, name, launch: { type: 'command', command: [program ?? '', ...args], folder: resolve(directory) } };
}

function describeLaunch(launch: Definition['launch']): string {
  if (launch?.type === 'image') return launch.image;
  return launch?.type === 'command' ? launch.command.join(' ') : '';
}
