/**
 * Work over the sources and destinations of all workspaces: when the platform is opened, and when the operator asks for it
 * on the command line. No request leads here.
 */
import type { Db, Store } from '../db/open.ts';
import { findSealedManifest } from '../definitions/manifests.ts';
import {
  findSealedConfiguration,
  listConfigurations,
  listNamesByDefinition,
  listPlainConfigurations,
  replaceConfiguration,
} from './actors.worker.store.ts';
import { openConfiguration, type Sealer, sealConfiguration } from './sealed-configuration.ts';

interface Parts {
  store: Store;
  sealer: Sealer;
}

/** Throws where the key is not the one that was used last: before anything is sealed with it. */
export async function assertKeyKnown({ store: { db }, sealer }: Parts): Promise<void> {
  const row = await findSealedConfiguration(db);
  if (row) sealer.assertKnown?.(JSON.parse(row.configuration));
  const manifest = await findSealedManifest(db);
  if (manifest !== undefined) sealer.assertKnown?.(manifest);
}

/** Seals what versions that did not seal have left. */
export async function sealPlainConfigurations({ store, sealer }: Parts): Promise<void> {
  await store.transaction(async (tx) => {
    for (const { connector_id: id, configuration } of await listPlainConfigurations(tx)) {
      await replaceConfiguration(tx, id, configuration, sealConfiguration(sealer, id, JSON.parse(configuration)));
    }
  });
}

/** Few enough that a platform that runs on the same file never waits for long. */
const atOnce = 100;

/**
 * Re-seals everything with the sealer's current key, after which the older keys are no longer needed. A row that
 * changes in the meantime was sealed by a process that uses the same key.
 */
export async function resealConfigurations({ store, sealer }: Parts): Promise<void> {
  const rows = await listConfigurations(store.db);
  for (let done = 0; done < rows.length; done += atOnce) {
    await store.transaction(async (tx) => {
      for (const row of rows.slice(done, done + atOnce)) {
        const { connector_id: id, configuration } = row;
        await replaceConfiguration(
          tx,
          id,
          configuration,
          sealConfiguration(sealer, id, openConfiguration(sealer, row)),
        );
      }
    });
  }
}

/** The names of the sources and destinations that are made from a definition. */
export async function listUsersOfDefinition(tx: Db, definitionId: string): Promise<string[]> {
  return await listNamesByDefinition(tx, definitionId);
}
