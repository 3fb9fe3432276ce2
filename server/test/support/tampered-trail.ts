// Trails that the owner of the database changes, and what each way of verifying finds.

import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { AuditCheckpoint, AuditEvent } from '@inlay/contract/log/audit';
import { sql } from 'kysely';
import { byWorker } from '../../src/kernel/cause.ts';
import type { Db } from '../../src/kernel/db/open.ts';
import type { LogEntryRow } from '../../src/kernel/db/tables.ts';
import { isoTime } from '../../src/kernel/iso-time.ts';
import { jwkOf } from '../../src/kernel/key-pairs.ts';
import { currentAuditKey } from '../../src/log/audit/audit-keys.ts';
import { keySetOf, presentCheckpoint, signCheckpoint } from '../../src/log/audit/checkpoints.ts';
import { erase, listCheckpoints, readTrail } from '../../src/log/audit/trail.ts';
import { createVerifier } from '../../src/log/audit/verify.ts';
import { verifyDatabase } from '../../src/log/audit/verify-database.ts';
import { canonicalJson } from '../../src/log/events/canonical-json.ts';
import { chainedEntry, genesisHash, hashOf } from '../../src/log/events/chain.ts';
import { from, openTrail, type Trail, tag } from './audit-trail.ts';

export const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
export const dayMs = 86_400_000;

export const isRow = (row: Record<string, unknown> = {}) =>
  sql.join(
    Object.entries(row).map(([column, is]) => sql`${sql.ref(column)} ${is === null ? sql`is null` : sql`= ${is}`}`),
    sql` and `,
  );

/** Entries of a person, two checkpoints, an erasure, and an end that is not signed yet. */
export async function makeTrail(kind: 'sqlite' | 'postgres') {
  const trail = await openTrail(kind);
  await trail.record(from('192.0.2.1'), ...upTo(6).map((index) => tag(`t${index}`)));
  await trail.sequence();
  await trail.signed();
  await trail.record(from('192.0.2.2'), ...upTo(4).map((index) => tag(`u${index}`)));
  await trail.sequence();
  await erase(trail.ctx, trail.organizationId, { address: '192.0.2.2' });
  await trail.sequence();
  await trail.signed();
  await trail.record(from('192.0.2.1'), tag('end'));
  await trail.sequence();
  const list = await listCheckpoints(trail.ctx, trail.organizationId, 24);
  return { ...trail, kept: list.checkpoints, keys: keySetOf(list.keys) };
}
export type Made = Awaited<ReturnType<typeof makeTrail>>;

/** The lines of an export of the database as it is. Undefined: there is none, because the database cannot be read. */
export async function exported(made: Made, store: Made['store']): Promise<string[] | undefined> {
  try {
    const { data } = await readTrail({ ...made.ctx, store }, made.reader, { after: undefined, limit: 500 });
    return data.map((entry) => canonicalJson(entry));
  } catch {
    return undefined;
  }
}

export function offline(
  lines: readonly string[],
  known: { keys?: Made['keys']; kept?: readonly AuditCheckpoint[] } = {},
) {
  const verifier = createVerifier({ kept: [], ...known });
  for (const line of lines) verifier.add(JSON.parse(line));
  return verifier.end();
}

/** What each way of verifying finds: in the database and in an export, without and with what was kept. */
export async function verifyAll(made: Made, change: (db: Db) => Promise<unknown>) {
  const { organizationId, kept, keys } = made;
  return await made.tampered(change, async (inside) => {
    const lines = (await exported(made, inside.store)) ?? [];
    const found = {
      online: await verifyDatabase(inside, organizationId),
      onlineKept: await verifyDatabase(inside, organizationId, kept),
      offline: offline(lines),
      offlineKept: offline(lines, { keys, kept }),
    };
    const problems = (name: keyof typeof found) => found[name].faults.map(({ problem }) => problem);
    return {
      lines,
      found,
      online: problems('online'),
      onlineKept: problems('onlineKept'),
      offline: problems('offline'),
      offlineKept: problems('offlineKept'),
    };
  });
}
export const nobodyFinds = { online: [], onlineKept: [], offline: [], offlineKept: [] };

/** Rechains all entries after tampering, and updates the head to match. */
export async function chainAnew(db: Db, organizationId: string): Promise<void> {
  const rows = await db
    .selectFrom('log_entries')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('trail_position')
    .execute();
  let hash: string | null = null;
  for (const row of rows as LogEntryRow[]) {
    hash = hashOf(chainedEntry(row, hash ?? genesisHash));
    await db
      .updateTable('log_entries')
      .set({ hash })
      .where('organization_id', '=', organizationId)
      .where('trail_position', '=', row.trail_position)
      .execute();
  }
  const last = rows.at(-1);
  const events = rows.flatMap(({ position }) => position ?? []);
  await db
    .updateTable('log_heads')
    .set({
      hash,
      trail_position: Number(last?.trail_position),
      position: events.at(-1) ?? 0,
      sequenced_at: Number(last?.sequenced_at),
    })
    .where('organization_id', '=', organizationId)
    .execute();
}

export const forgeFirst = (db: Db) =>
  db.updateTable('log_entries').set({ actor_name: 'somebody else' }).where('trail_position', '=', 2).execute();

/** Removes every checkpoint, and every entry that names one or a key, as if the trail had never been signed. */
export async function unsign(db: Db): Promise<void> {
  await db.deleteFrom('audit_checkpoints').execute();
  await db.deleteFrom('audit_keys').execute();
  const told = ['audit.checkpoint', 'audit.key_created', 'audit.erased'];
  await db.deleteFrom('log_personal').execute();
  await db.deleteFrom('log_entries').where('type', 'in', told).execute();
  await db.updateTable('log_entries').set({ commitments: null }).execute();
  const rows = await db.selectFrom('log_entries').selectAll().orderBy('trail_position').execute();
  for (const [index, row] of rows.entries()) {
    const place = { trail_position: index + 1, position: index + 1 };
    await db.updateTable('log_entries').set(place).where('id', '=', row.id).execute();
  }
  const time = Number(rows.at(-1)?.sequenced_at);
  await db.updateTable('log_heads').set({ checkpoint_position: 0, checkpoint_at: time }).execute();
}

/** Signs every checkpoint again, in the table and in the entries that name them, with the forger's key. */
export async function signAnew(
  db: Db,
  organizationId: string,
  { kid, privateKey }: { kid: string; privateKey: KeyObject },
) {
  const points = await db.selectFrom('audit_checkpoints').selectAll().orderBy('position').execute();
  for (const point of points) {
    // The entries that name checkpoints are rechained too, so each hash is only known now.
    await chainAnew(db, organizationId);
    const { position } = point;
    const [entry] = await db.selectFrom('log_entries').select('hash').where('trail_position', '=', position).execute();
    const { signature: _, ...said } = presentCheckpoint(point);
    const signed = signCheckpoint({ ...said, hash: String(entry?.hash), key_id: kid }, privateKey);
    await db
      .updateTable('audit_checkpoints')
      .set({ hash: signed.hash, key_id: kid, signature: signed.signature })
      .where('position', '=', position)
      .execute();
    const told = await db
      .selectFrom('log_entries')
      .select(['id', 'data'])
      .where('type', '=', 'audit.checkpoint')
      .execute();
    const telling = told.find(({ data }) => JSON.parse(data).position === position);
    await db
      .updateTable('log_entries')
      .set({ data: JSON.stringify(signed) })
      .where('id', '=', String(telling?.id))
      .execute();
  }
  await chainAnew(db, organizationId);
}

export function forgersKey() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const jwk = jwkOf(publicKey);
  return { kid: jwk.kid, privateKey, jwk };
}

/** As versions that did not record cuts have signed. */
export async function signAsBefore(trail: Trail): Promise<AuditCheckpoint> {
  const { store, organizationId, ctx } = trail;
  const { kid, privateKey } = await currentAuditKey(ctx);
  await trail.sequence();
  const { hash, position } = (await trail.read()).data.at(-1) as AuditEvent;
  const now = await store.now();
  const said = { organization_id: organizationId, position, hash: String(hash), signed_at: isoTime(now), key_id: kid };
  const checkpoint = signCheckpoint(said, privateKey);
  await store.transaction(async (tx) => {
    await tx
      .insertInto('audit_checkpoints')
      .values({ ...checkpoint, signed_at: now, cut: null })
      .execute();
    await tx.updateTable('log_heads').set({ checkpoint_position: position, checkpoint_at: now }).execute();
    await ctx.journal.record(tx, organizationId, { type: 'audit.checkpoint', data: checkpoint });
  });
  await trail.sequence();
  return checkpoint;
}

/** Entries as they were before there was a chain. */
export async function unchain(db: Db): Promise<void> {
  await db.deleteFrom('log_personal').execute();
  await db.updateTable('log_entries').set({ hash: null, commitments: null }).execute();
  await db.updateTable('log_heads').set({ hash: null, checkpoint_at: 0 }).execute();
}

export async function cutAt(db: Db, position: number): Promise<void> {
  await db.updateTable('log_heads').set({ cut_until: position }).execute();
  await db
    .deleteFrom('log_personal')
    .where(sql<boolean>`entry_id in (select id from log_entries where trail_position <= ${position})`)
    .execute();
  await db.deleteFrom('log_entries').where('trail_position', '<=', position).execute();
  await db.deleteFrom('audit_checkpoints').where('position', '<', position).execute();
}

/** As earlier versions have sealed their key. Gives its id. */
export async function sealAsBefore({ ctx, store: { db } }: Trail): Promise<string> {
  const [row] = await db.selectFrom('audit_keys').selectAll().execute();
  const secret = ctx.sealer.open(String(row?.sealed_private_key), `audit key ${row?.kid} ${row?.created_at}`);
  const sealed_private_key = ctx.sealer.seal(secret, `audit key ${row?.kid}`);
  await db.updateTable('audit_keys').set({ binds_time: 0, sealed_private_key }).execute();
  return String(row?.kid);
}

/** A trail that only earlier versions have signed. */
export async function makeEarlier(kind: 'sqlite' | 'postgres') {
  const trail = await openTrail(kind);
  await trail.record(byWorker, ...upTo(4).map((index) => tag(`t${index}`)));
  await trail.sequence();
  const first = await signAsBefore(trail);
  await trail.record(byWorker, ...upTo(3).map((index) => tag(`u${index}`)));
  await trail.sequence();
  const second = await signAsBefore(trail);
  await trail.record(byWorker, tag('end'));
  await trail.sequence();
  return { ...trail, first, second };
}
