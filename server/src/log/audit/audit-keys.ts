/**
 * The Ed25519 keys that sign checkpoints. They are made and sealed as the keys of tokens are, but are not the same: a key of
 * tokens is removed to end its tokens, and old checkpoints must stay verifiable. So no key is ever removed.
 */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { databaseTime } from '@inlay/database/open-database';
import type { Db, Store } from '../../kernel/db/open.ts';
import type { AuditKeyRow } from '../../kernel/db/tables.ts';
import { jwkOf, newSealedKey } from '../../kernel/key-pairs.ts';
import type { Sealer } from '../../kernel/sealing.ts';
import type { Journal } from '../events/journal.ts';
import * as keys from './audit-keys.store.ts';
import type { KeySet } from './checkpoints.ts';

export interface AuditKeysContext {
  store: Store;
  sealer: Sealer;
  journal: Journal;
  /** Keys belong to the deployment, so they are logged for every organization. */
  listOrganizationIds(db: Db): Promise<string[]>;
}

/** What a key is sealed for. Its time belongs to it: otherwise the owner of the database could let an old key sign again. */
const contextOf = (kid: string, boundTime: number | undefined) =>
  boundTime === undefined ? `audit key ${kid}` : `audit key ${kid} ${boundTime}`;

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

async function addKey({ sealer, journal, listOrganizationIds }: AuditKeysContext, tx: Db): Promise<AuditKeyRow> {
  const [newest] = await keys.listKeys(tx);
  // Later than the others even after the clock was set back: the newest key signs.
  const created_at = Math.max(await databaseTime(tx), (newest?.created_at ?? 0) + 1);
  const key = { ...newSealedKey(sealer, (kid) => contextOf(kid, created_at)), created_at, binds_time: 1 };
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

function openKey(sealer: Sealer, { kid, sealed_private_key, created_at, binds_time }: AuditKeyRow) {
  const secret = sealer.open(sealed_private_key, contextOf(kid, binds_time === 0 ? undefined : created_at));
  return { kid, privateKey: createPrivateKey({ key: secret, format: 'der', type: 'pkcs8' }) };
}

export interface OwnKeys {
  keys: KeySet;
  /** As they are published. */
  jwks: ReturnType<typeof jwkOf>[];
  /** The ids of keys in the database that are not as this deployment made them. */
  forged: string[];
}

/**
 * The keys that this deployment has really made: their private halves are sealed with its encryption key. Someone who can
 * only write to the database cannot add or change one.
 */
export async function readOwnKeys(db: Db, sealer: Sealer): Promise<OwnKeys> {
  const own: OwnKeys & { keys: Map<string, KeyObject> } = { keys: new Map(), jwks: [], forged: [] };
  for (const row of await keys.listKeys(db)) {
    const publicKey = findPublicKey(sealer, row);
    const jwk = publicKey && jwkOf(publicKey);
    if (publicKey && jwk?.kid === row.kid && JSON.stringify(jwk) === row.public_jwk) {
      own.keys.set(row.kid, publicKey);
      own.jwks.push(jwk);
    } else own.forged.push(row.kid);
  }
  return own;
}

/** Undefined: the row was not sealed by this deployment, or not as it is now. */
function findPublicKey(sealer: Sealer, row: AuditKeyRow): KeyObject | undefined {
  // Decoders pass over characters that do not belong to base64url, and over what follows a further dot.
  if (row.binds_time !== 0 && row.binds_time !== 1) return undefined;
  if (!/^v1\.[0-9a-f]{8}\.[A-Za-z0-9_-]+$/.test(row.sealed_private_key)) return undefined;
  const payload = row.sealed_private_key.split('.')[2] ?? '';
  if (Buffer.from(payload, 'base64url').toString('base64url') !== payload) return undefined;
  try {
    return createPublicKey(openKey(sealer, row).privateKey);
  } catch {
    return undefined;
  }
}
