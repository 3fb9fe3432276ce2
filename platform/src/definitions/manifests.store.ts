/** The SQL of `manifests`: texts by their hash, which belong to nobody. Who may use one is decided by what refers to it. */
import type { Db } from '../db/open.ts';

export interface KeptManifest {
  hash: string;
  /** Sealed. */
  manifest: string;
  specification: string;
}

export async function putManifest(tx: Db, kept: KeptManifest): Promise<void> {
  await tx
    .insertInto('manifests')
    .values(kept)
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .execute();
}

export async function findManifest(db: Db, hash: string): Promise<KeptManifest | undefined> {
  return await db.selectFrom('manifests').selectAll().where('hash', '=', hash).executeTakeFirst();
}

/** Nothing refers to it any more. */
export async function deleteUnusedManifest(tx: Db, hash: string): Promise<void> {
  await tx
    .deleteFrom('manifests')
    .where('hash', '=', hash)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('declarative_definitions').select('seq').where('manifest_hash', '=', hash))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('registered_definitions').select('seq').where('manifest_hash', '=', hash))),
    )
    .execute();
}

export async function listManifests(tx: Db, limit?: number): Promise<Pick<KeptManifest, 'hash' | 'manifest'>[]> {
  const all = tx.selectFrom('manifests').select(['hash', 'manifest']);
  return await (limit === undefined ? all : all.limit(limit)).execute();
}

export async function replaceManifestText(tx: Db, hash: string, manifest: string): Promise<void> {
  await tx.updateTable('manifests').set({ manifest }).where('hash', '=', hash).execute();
}
