/**
 * The Ed25519 keys that sign checkpoints. They are made and sealed as the keys of tokens are, but are not the same: a key of
 * tokens is removed to end its tokens, and old checkpoints must stay verifiable. So no key is ever removed.
 */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import type { Db, Store } from '../db/open.ts';
import type { AuditKeyRow } from '../db/tables.ts';
import type { Journal } from '../events/journal.ts';
import type { Sealer } from '../sealing.ts';
import { newSealedKey } from '../tokens/signing-keys.ts';
import * as keys from './audit-keys.store.ts';
import type { KeySet } from './checkpoints.ts';

export interface AuditKeysContext {
  store: Store;
  sealer: Sealer;
  journal: Journal;
  /** Keys belong to the deployment, so the log of every organization tells of them. */
  listOrganizationIds(db: Db): Promise<string[]>;
}

const contextOf = (kid: string) => `audit key ${kid}`;

/** The key to sign with now. Makes the first one. */
export async function currentAuditKey(ctx: AuditKeysContext): Promise<{ kid: string; privateKey: KeyObject }> {
  const [newest] = await keys.listKeys(ctx.store.db);
  if (newest) return openKey(ctx.sealer, newest);
  return await ctx.store.exclusively(async (tx) => {
    const [made] = await keys.listKeys(tx);
    return made ? openKey(ctx.sealer, made) : openKey(ctx.sealer, await addKey(ctx, tx));
  });
}

/** From now on another key signs. Gives its id. */
export async function rotateAuditKey(ctx: AuditKeysContext): Promise<string> {
  return (await ctx.store.transaction((tx) => addKey(ctx, tx))).kid;
}

async function addKey(
  { sealer, journal, listOrganizationIds }: AuditKeysContext,
  tx: Db,
): Promise<Omit<AuditKeyRow, 'created_at'>> {
  const key = newSealedKey(sealer, contextOf);
  await keys.insertKey(tx, key);
  for (const id of await listOrganizationIds(tx)) {
    await journal.record(tx, id, {
      type: 'audit.key_created',
      data: { key: { id: key.kid } },
      change: { before: undefined, after: { public_key: JSON.parse(key.public_jwk).x } },
    });
  }
  return key;
}

function openKey(sealer: Sealer, { kid, sealed_private_key }: Omit<AuditKeyRow, 'created_at'>) {
  const secret = sealer.open(sealed_private_key, contextOf(kid));
  return { kid, privateKey: createPrivateKey({ key: secret, format: 'der', type: 'pkcs8' }) };
}

export async function listPublicKeys(db: Db): Promise<Record<string, string>[]> {
  return (await keys.listKeys(db)).map((row) => JSON.parse(row.public_jwk));
}

/**
 * The keys that this deployment has really made: their private halves are sealed with its encryption key. Somebody who can
 * only write to the database cannot add one.
 */
export async function ownKeySet(db: Db, sealer: Sealer): Promise<KeySet> {
  const rows = await keys.listKeys(db);
  return new Map(rows.map((row) => [row.kid, createPublicKey(openKey(sealer, row).privateKey)]));
}
