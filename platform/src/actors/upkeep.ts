/**
 * Work over the sources and destinations of all workspaces: when the platform is opened, and when the operator asks for it
 * on the command line. No request leads here.
 */
import type { Db, Store } from '../db/open.ts';
import {
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

/** Seals what versions that did not seal have left. */
export async function sealPlainConfigurations({ store, sealer }: Parts): Promise<void> {
  await store.transaction(async (tx) => {
    for (const { connector_id: id, configuration } of await listPlainConfigurations(tx)) {
      await replaceConfiguration(tx, id, sealConfiguration(sealer, id, JSON.parse(configuration)));
    }
  });
}

/** Seals everything with the key that the sealer seals with now, after which the older keys are not needed any more. */
export async function resealConfigurations({ store, sealer }: Parts): Promise<void> {
  await store.transaction(async (tx) => {
    for (const row of await listConfigurations(tx)) {
      const id = row.connector_id;
      await replaceConfiguration(tx, id, sealConfiguration(sealer, id, openConfiguration(sealer, row)));
    }
  });
}

/** The names of the sources and destinations that are made from a definition. */
export async function listUsersOfDefinition(tx: Db, definitionId: string): Promise<string[]> {
  return await listNamesByDefinition(tx, definitionId);
}
