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
import { deleteDefinition, findOwnDefinition, listOwnDefinitions } from '../../catalog/definitions/own-definitions.ts';
import { tellOfRegistered } from '../../catalog/definitions/registered-changes.ts';
import { byCommandLine } from '../../kernel/cause.ts';
import { type Config, readConfig, type Secrets } from '../../kernel/config/config.ts';
import { noData, openDataDir, openExistingDataDir } from '../../kernel/config/data-dir.ts';
import { openSealer } from '../../kernel/config/encryption-keys.ts';
import type { Store } from '../../kernel/db/open.ts';
import { OperatorError } from '../../kernel/errors.ts';
import { systemRuntime } from '../../kernel/runtime.ts';
import { createLog } from '../../kernel/telemetry/log.ts';
import { createJournal } from '../../log/events/journal.ts';
import { definitionUses } from '../../pipelines/set-up/definition-copies.ts';
import { listOrganizationIds } from '../../tenancy/organizations/organizations.ts';
import { notedChanges, openBundledPlatform, passingCredentials } from '../bundled-platform.ts';
import { findPlatformStore } from '../platform-store.ts';
import { findApi, meansService } from './api-client.ts';
import { usageError } from './exit-codes.ts';
import { mayHaveStore, openOwnSealer, upgradeFor, withStore, withStoreAsItIs } from './opened-store.ts';
import { print, printJson, table } from './output.ts';

/** Whether there is a bundled platform, and the service uses it. */
export const hasPlatform = (config: Config, secrets: Secrets) => findPlatformStore(config, secrets) !== undefined;

/**
 * The bundled platform of this data directory, beside a service that may be running on it. It runs no jobs. Only a command
 * that adds something `creates` a platform where there is none.
 */
export async function withPlatform(
  work: (platform: OpenPlatform) => Promise<void>,
  { creates = false } = {},
): Promise<void> {
  const { config, secrets } = readConfig(process.env);
  if (config.platformUrl !== undefined) {
    throw new OperatorError(
      'INLAY_PLATFORM_URL points to another platform. Run this command where that platform runs.',
    );
  }
  if (!hasPlatform(config, secrets) && (!creates || meansService(process.env))) throw noData(config.dataDir);
  const dataDir = creates ? openDataDir(config.dataDir) : openExistingDataDir(config.dataDir);
  const credentials = passingCredentials(secrets, config.dataDir);
  // Refuses another key before it seals anything for the platform.
  await withStoreIfAny(async () => {});
  await upgradeFor({ config, secrets }, undefined);
  const parts = {
    ...{ dataDir, databaseUrl: secrets.platformDatabaseUrl, sealer: openSealer(secrets, dataDir) },
    ...{ log: createLog('silent'), isInternal: true },
  };
  const { platform, close } = await openBundledPlatform(config, credentials, parts);
  try {
    await work(platform);
  } finally {
    await close();
  }
}

/** A manifest is added by manifests.ts. */
export async function addProgram(command: string[], options: ConnectorOptions): Promise<void> {
  const add = async (platform: OpenPlatform) => {
    const registration = readRegistration(command, options);
    const { definitionId, name } = await registerDefinition(platform.definitions, registration);
    await tellOfConnectors(platform);
    print(`Added ${name} (${definitionId}), ready to use.`);
  };
  await withPlatform(add, { creates: true });
}

interface AddedConnector {
  id: string;
  type: Definition['kind'];
  name: string;
  version: string | null;
  /** What runs it. The API doesn't say. */
  runs: string | null;
}

export async function showConnectors({ json }: { json?: true }): Promise<void> {
  const data = await listConnectors();
  if (json) return printJson({ data });
  if (data.length === 0) return print('No connectors added yet. To add one, see: inlay connector add --help');
  table(
    ['ID', 'KIND', { title: 'NAME', isCut: true }, { title: 'RUNS', isCut: true }],
    data.map(({ id, type, name, version, runs }) => [id, type, name, runs ?? (version ? `version ${version}` : '-')]),
  );
}

/** On this machine: its own, and the manifests of all organizations. */
async function listConnectors(): Promise<AddedConnector[]> {
  const api = findApi(process.env);
  if (api) {
    const sources = await api.request('GET /integrations/definitions/sources', {});
    const destinations = await api.request('GET /integrations/definitions/destinations', {});
    const added = [...sources.data, ...destinations.data].filter(({ custom }) => custom);
    return added.map(({ id, type, name, version }) => ({ id, type, name, version, runs: null }));
  }
  const rows: AddedConnector[] = [];
  const { config, secrets } = readConfig(process.env);
  if (!hasPlatform(config, secrets) && !mayHaveStore(config, secrets)) throw noData(config.dataDir);
  const readStore = async (store: Store) => {
    for (const organizationId of await listOrganizationIds(store.db)) {
      for (const { id, kind, name, version } of await listOwnDefinitions({ store }, organizationId)) {
        rows.push({ id, type: kind, name, version, runs: `manifest, version ${version}` });
      }
    }
  };
  if (mayHaveStore(config, secrets)) await withStoreAsItIs(readStore);
  if (hasPlatform(config, secrets)) {
    await withPlatform(async (platform) => {
      for (const definition of await listRegisteredDefinitions(platform.definitions)) {
        const { definitionId: id, kind: type, name, version } = definition;
        rows.push({ id, type, name, version: version || null, runs: describeLaunch(definition) });
      }
    });
  }
  return rows;
}

export async function removeConnector(id: string): Promise<void> {
  const api = findApi(process.env);
  if (api) {
    await api.request('DELETE /integrations/definitions/sources/{source_definition_id}', { ids: [id] });
    return print(`Removed ${id}.`);
  }
  let isOwn = false;
  await withStoreIfAny(async (store) => {
    for (const organizationId of await listOrganizationIds(store.db)) {
      if (!(await findOwnDefinition({ store }, organizationId, id))) continue;
      isOwn = true;
      const sealer = await openOwnSealer(store);
      const ctx = { store, runtime: systemRuntime, sealer, journal, uses: definitionUses };
      await deleteDefinition(ctx, organizationId, id);
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
  await withStoreIfAny(async (store) => {
    const sealer = await openOwnSealer(store);
    await tellOfRegistered({ store, sealer, journal }, notedChanges(platform));
  });
}

/** A machine that runs a platform alone has no store, and a machine before its first start has none yet. */
async function withStoreIfAny(work: (store: Store) => Promise<void>): Promise<void> {
  const { config, secrets } = readConfig(process.env);
  if (mayHaveStore(config, secrets)) await withStore(work);
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
  if (source === destination) throw usageError('Pass either --source or --destination.');
  if ((program === undefined) === (image === undefined)) {
    throw usageError('Pass --manifest <file>, --image <image>, or a command after --.');
  }
  if (name === undefined) throw usageError('Pass a name with --name.');
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
