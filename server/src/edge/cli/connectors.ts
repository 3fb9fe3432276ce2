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
import { notedChanges, openBundledPlatform, platformCredentials } from '../bundled-platform.ts';
import { byCommandLine } from '../cause.ts';
import { readConfig } from '../config.ts';
import { openDataDir } from '../data-dir.ts';
import { deleteDefinition, findOwnDefinition, listOwnDefinitions } from '../definitions/own-definitions.ts';
import { tellOfRegistered } from '../definitions/registered-changes.ts';
import { openSealer } from '../encryption-keys.ts';
import { OperatorError } from '../errors.ts';
import { createJournal } from '../events/journal.ts';
import { createLog } from '../log.ts';
import { listOrganizationIds } from '../organizations/organizations.ts';
import { listVersionsInUse } from '../pipelines/placed-definitions.ts';
import { systemRuntime } from '../runtime.ts';
import { listTemplatesOfDefinition } from '../templates/source-templates.ts';
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

/** A manifest is added by manifests.ts. */
export const addProgram = (command: string[], options: ConnectorOptions) =>
  withPlatform(async (platform) => {
    const registration = readRegistration(command, options);
    const { definitionId, name } = await registerDefinition(platform.definitions, registration);
    await tellOfConnectors(platform);
    print(`Added ${name} (${definitionId}). It can be used at once.`);
  });

/** Those of this machine, and the manifests of all organizations. */
export async function showConnectors(): Promise<void> {
  const rows: string[][] = [];
  await withStore(async (store) => {
    for (const organizationId of await listOrganizationIds(store.db)) {
      for (const { id, kind, name, version } of await listOwnDefinitions({ store }, organizationId)) {
        rows.push([id, kind, name, `manifest, version ${version}`]);
      }
    }
  });
  if (readConfig(process.env).config.platformUrl === undefined) {
    await withPlatform(async (platform) => {
      for (const definition of await listRegisteredDefinitions(platform.definitions)) {
        const { definitionId, kind, name } = definition;
        rows.push([definitionId, kind, name, describeLaunch(definition)]);
      }
    });
  }
  table(['ID', 'KIND', { title: 'NAME', isCut: true }, { title: 'RUNS', isCut: true }], rows);
}

export async function removeConnector(id: string): Promise<void> {
  let isOwn = false;
  await withStore(async (store) => {
    for (const organizationId of await listOrganizationIds(store.db)) {
      if (!(await findOwnDefinition({ store }, organizationId, id))) continue;
      isOwn = true;
      const { config, secrets } = readConfig(process.env);
      const sealer = openSealer(secrets, openDataDir(config.dataDir));
      const rules = { store, sealer, journal, listTemplatesOf: listTemplatesOfDefinition, listVersionsInUse };
      await deleteDefinition(rules, organizationId, id);
    }
  });
  if (isOwn) print(`Removed ${id}.`);
  else await removeRegistered(id);
}

const removeRegistered = (id: string) =>
  withPlatform(async (platform) => {
    await removeDefinition(platform.definitions, id);
    await tellOfConnectors(platform);
    print(`Removed ${id}.`);
  });

/** At once, and not when a service looks for it the next time. A machine that runs a platform alone has no log. */
export async function tellOfConnectors(platform: OpenPlatform): Promise<void> {
  const { config, secrets } = readConfig(process.env);
  const sealer = openSealer(secrets, openDataDir(config.dataDir));
  await withStore((store) => tellOfRegistered({ store, sealer, journal, listOrganizationIds }, notedChanges(platform)));
}

const journal = createJournal({ runtime: systemRuntime, cause: byCommandLine });

export interface ConnectorOptions {
  source?: true;
  destination?: true;
  name?: string;
  image?: string;
  directory?: string;
  manifest?: string;
  icon?: string;
  components?: string;
  organization?: string;
}

function readRegistration(
  [program, ...args]: string[],
  { source, destination, name, image, directory = '.' }: ConnectorOptions,
): Registration {
  if (source === destination) throw new OperatorError('Say which it is: --source or --destination.');
  if ((program === undefined) === (image === undefined)) {
    throw new OperatorError('Say what runs it: --manifest <file>, --image <image>, or a command after --.');
  }
  if (name === undefined) throw new OperatorError('Give it a name with --name.');
  const kind = source ? 'source' : 'destination';
  if (image !== undefined) return { kind, name, launch: { type: 'image', image } };
  // An absolute path, because the service may run in another directory.
  return { kind, name, launch: { type: 'command', command: [program ?? '', ...args], folder: resolve(directory) } };
}

function describeLaunch({ launch, manifest }: Definition): string {
  if (manifest) return 'componentsFile' in manifest ? `manifest with ${manifest.componentsFile}` : 'manifest';
  if (launch?.type === 'image') return launch.image;
  return launch?.type === 'command' ? launch.command.join(' ') : '';
}
