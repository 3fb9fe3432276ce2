/**
 * What the owner of the database can do to the trail, on both databases: verification finds every change, in the database and
 * in an export, with and without a checkpoint that was kept. What it cannot find: untraceable.test.ts.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { isLongRun } from '../../../../scripts/long-run.ts';
import { describeInTurns } from '../../../test/support/databases.ts';
import {
  chainAnew,
  dayMs,
  exported,
  forgeFirst,
  forgersKey,
  isRow,
  makeTrail,
  nobodyFinds,
  offline,
  signAnew,
  unsign,
  verifyAll,
} from '../../../test/support/tampered-trail.ts';
import { unguarded } from '../../../test/support/unguarded.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { LogEntryRow } from '../../kernel/db/tables.ts';
import { createSealer } from '../../kernel/sealing.ts';
import { currentAuditKey } from './audit-keys.ts';
import { createTrailRetention } from './retention.worker.ts';
import { signNow } from './signing.ts';
import { listCheckpoints } from './trail.ts';
import { verifyDatabase } from './verify-database.ts';

const trailTables = ['log_entries', 'log_personal', 'log_heads', 'audit_checkpoints', 'audit_keys'] as const;

describeInTurns('A trail that the owner of the database has changed', (kind, it) => {
  it('passes in every way while nobody has changed it', async () => {
    const made = await makeTrail(kind);
    expect(await verifyAll(made, async () => {})).toMatchObject(nobodyFinds);
  });

  it.each(trailTables)('is found by any value of any column of %s', async (table) => {
    const made = await makeTrail(kind);
    const { db } = made.store;
    const tables = await db.introspection.getTables();
    const columns = tables.find(({ name }) => name === table)?.columns ?? [];
    expect(columns.length).toBeGreaterThan(3);
    const whole = await exported(made, made.store);
    const rows: Record<string, unknown>[] = await db.selectFrom(table).selectAll().execute();
    const [middle, last] = [rows[Math.floor(rows.length / 2)], rows.at(-1)];
    const chosen = new Set(isLongRun ? [middle, last] : [kind === 'sqlite' ? middle : last]);
    for (const row of chosen) {
      for (const { name, dataType, isNullable } of columns) {
        const before = row?.[name];
        const isNumber = /int/i.test(dataType);
        const all = isNumber
          ? [Number(before ?? 0) + (name.endsWith('position') ? 500 : 1), Number(before ?? 0) + 1_000]
          : dataType === 'uuid' || name.endsWith('_id')
            ? [randomUUID()]
            : [` ${before ?? ''}`, `${before ?? ''}x`, 'x'];
        const values = isLongRun ? all : all.slice(0, 1);
        for (const value of [...values, ...(isNullable && before !== null ? [null] : [])]) {
          const change = (tx: Db) =>
            sql`update ${sql.table(table)} set ${sql.ref(name)} = ${value} where ${isRow(row)}`.execute(tx);
          const { online, onlineKept, offline, offlineKept, lines } = await verifyAll(made, change);
          const words = `${table}.${name}: ${before} -> ${value}`;
          expect(online, words).not.toEqual([]);
          expect(onlineKept, words).not.toEqual([]);
          // An export has entries only. Whatever reaches it is found, unless it is the end that is missing; or there is no export.
          if (JSON.stringify(lines) === JSON.stringify(whole?.slice(0, lines.length))) continue;
          expect(offline, words).not.toEqual([]);
          expect(offlineKept, words).not.toEqual([]);
        }
      }
    }
  });

  it('is found by every row that was deleted', async () => {
    const made = await makeTrail(kind);
    for (const table of trailTables) {
      const rows: Record<string, unknown>[] = await made.store.db.selectFrom(table).selectAll().execute();
      for (const [index, row] of rows.entries()) {
        if (!isLongRun && index % 2 === (kind === 'sqlite' ? 1 : 0) && rows.length > 1) continue;
        const change = (tx: Db) => sql`delete from ${sql.table(table)} where ${isRow(row)}`.execute(tx);
        const { faults } = await made.tampered(change, (inside) => verifyDatabase(inside, made.organizationId));
        expect(faults, `${table} ${JSON.stringify(row)}`).not.toEqual([]);
      }
    }
  });

  it('is found although all hashes and signatures were recreated, with a key of the forger', async () => {
    const made = await makeTrail(kind);
    const key = forgersKey();
    const rewritten = (db: Db) => forgeFirst(db).then(() => signAnew(db, made.organizationId, key));
    const unknown = await verifyAll(made, rewritten);
    const isUnknown = expect.stringContaining(`the key ${key.kid} is unknown`);
    for (const way of ['online', 'onlineKept', 'offline', 'offlineKept'] as const) {
      expect(unknown[way], way).toContainEqual(isUnknown);
    }

    // The same, with the key in the database, sealed with an encryption key of the forger, or under the id of the real key.
    const sealed = createSealer(randomBytes(32)).seal(
      key.privateKey.export({ format: 'der', type: 'pkcs8' }),
      `audit key ${key.kid} 1`,
    );
    const row = { kid: key.kid, public_jwk: JSON.stringify(key.jwk), sealed_private_key: sealed };
    const added = await verifyAll(made, async (db) => {
      await rewritten(db);
      await db
        .insertInto('audit_keys')
        .values({ ...row, created_at: 1, binds_time: 1 })
        .execute();
    });
    expect(added.online).toContainEqual(expect.stringContaining('not match'));
    expect(added.online).toContainEqual(isUnknown);
    const { kid } = await currentAuditKey(made.ctx);
    const posing = await verifyAll(made, async (db) => {
      await forgeFirst(db);
      await signAnew(db, made.organizationId, { ...key, kid });
    });
    for (const way of ['online', 'onlineKept', 'offline', 'offlineKept'] as const) {
      expect(posing[way], way).toContainEqual(expect.stringMatching(/^The signature .* invalid/));
    }
  });

  it('is found by one hash that is null, by several, and by all', async () => {
    const made = await makeTrail(kind);
    const last = (await exported(made, made.store))?.length ?? 0;
    const nulls = (first: number, until: number) => (db: Db) =>
      db
        .updateTable('log_entries')
        .set({ hash: null })
        .where('trail_position', '>=', first)
        .where('trail_position', '<=', until)
        .execute();
    for (const [first, until] of [
      [1, 1],
      [1, 5],
      [4, 4],
      [4, 6],
      [last, last],
      [last - 1, last],
      [1, last],
    ] as const) {
      const found = await verifyAll(made, nulls(first, until));
      for (const way of ['online', 'onlineKept', 'offline', 'offlineKept'] as const) {
        expect(found[way], `${first} to ${until} ${way}`).not.toEqual([]);
      }
    }
    const several = await verifyAll(made, nulls(4, 6));
    for (const way of ['online', 'offline'] as const) {
      expect(several[way].filter((problem) => /^The hash .* missing/.test(problem))).toHaveLength(3);
    }
    const everything = await verifyAll(made, async (db) => {
      await unsign(db);
      await chainAnew(db, made.organizationId);
      await db.updateTable('log_entries').set({ hash: null }).execute();
      await db.updateTable('log_heads').set({ hash: null, checkpoint_at: 0 }).execute();
    });
    for (const way of ['online', 'offline'] as const) {
      expect(everything[way]).toContainEqual(expect.stringMatching(/^No entry has a hash/));
    }
  });

  it('is found without its beginning, whatever the database says of a cut', async () => {
    const made = await makeTrail(kind);
    const points = await made.store.db.selectFrom('audit_checkpoints').select('position').orderBy('position').execute();
    for (const position of [...points.map((point) => point.position), 3]) {
      const cut = async (db: Db) => {
        await db
          .deleteFrom('log_personal')
          .where(sql<boolean>`entry_id in (
          select id from log_entries where trail_position <= ${position})`)
          .execute();
        await db.deleteFrom('log_entries').where('trail_position', '<=', position).execute();
      };
      const noted = async (db: Db) => {
        await cut(db);
        await db.updateTable('log_heads').set({ cut_until: position }).execute();
        await db.deleteFrom('audit_checkpoints').where('position', '<', position).execute();
      };
      for (const change of [cut, noted]) {
        const found = await verifyAll(made, change);
        for (const way of ['online', 'onlineKept', 'offline', 'offlineKept'] as const) {
          expect(found[way], `${position} ${way}`).toContainEqual(
            expect.stringMatching(`^Entries 1 to ${position} are missing`),
          );
        }
      }
    }
  });

  it('is found without its end, if anything that refers to the end is left', async () => {
    const made = await makeTrail(kind);
    const last = (await exported(made, made.store))?.length ?? 0;
    const without = (db: Db) =>
      db
        .deleteFrom('log_entries')
        .where('trail_position', '>', last - 2)
        .execute();
    expect((await verifyAll(made, without)).online).not.toEqual([]);
    // The end is still there, but the head speaks of an earlier one.
    const hidden = await verifyAll(made, async (db) => {
      const rows = await db.selectFrom('log_entries').selectAll().orderBy('trail_position').execute();
      const { trail_position, hash, sequenced_at } = rows.at(-2) as LogEntryRow;
      const position = rows.slice(0, -1).findLast((row) => row.position !== null)?.position ?? 0;
      await db.updateTable('log_heads').set({ trail_position, hash, sequenced_at, position }).execute();
    });
    expect(hidden.online).toEqual([expect.stringContaining(`continues after position ${last - 1},`)]);
    // Only the checkpoints are left of an end that the head no longer has.
    const found = await verifyAll(made, async (db) => {
      await db.deleteFrom('log_entries').where('trail_position', '>', 6).execute();
      await db.deleteFrom('log_personal').where(sql<boolean>`entry_id not in (select id from log_entries)`).execute();
      await chainAnew(db, made.organizationId);
    });
    expect(found.online).toContainEqual(expect.stringContaining('missing at the end'));
  });

  it('is found by a personal value that nobody erased', async () => {
    const made = await makeTrail(kind);
    const before = (await made.verify()).erased;
    expect(before).toBe(8);
    const found = await verifyAll(made, (db) =>
      db
        .deleteFrom('log_personal')
        .where('field', '=', 'address')
        .where('organization_id', '=', made.organizationId)
        .execute(),
    );
    for (const way of ['online', 'onlineKept', 'offline', 'offlineKept'] as const) {
      expect(found[way], way).toContainEqual(expect.stringMatching(/^The address .* missing, .*erased/));
    }
  });
});

describeInTurns('A trail whose beginning is gone', (kind, it) => {
  /** Two checkpoints, the trail cut at the first as the retention says, and a checkpoint that was kept before and one after. */
  async function makeCut(retention = { eventsMs: -60_000, auditMs: -60_000 }) {
    const made = await makeTrail(kind);
    const retain = createTrailRetention(made.ctx, retention);
    await retain();
    await made.sequence();
    await retain();
    await made.sequence();
    return made;
  }

  it('passes where retention removed it, and says so', async () => {
    const made = await makeCut();
    const { data } = await made.read();
    const position = Number(data[0]?.position) - 1;
    expect(position).toBeGreaterThan(0);
    const { checkpoints } = await listCheckpoints(made.ctx, made.organizationId, 24);
    const cut = { position, at: expect.any(String), retention_days: -60_000 / dayMs };
    expect(await made.verify()).toMatchObject({ faults: [], cut, unchained: 0 });
    expect(await made.verify(checkpoints)).toMatchObject({ faults: [], cut });
    const lines = (await exported(made, made.store)) ?? [];
    expect(offline(lines, { keys: made.keys, kept: checkpoints })).toMatchObject({ faults: [], cut });
    await made.signed();
    expect(await made.verify(), 'later checkpoints say the same').toMatchObject({ faults: [], cut });
  });

  it('fails with a kept checkpoint that lies before the cut: nobody can compare it', async () => {
    const made = await makeCut();
    const before = made.kept.filter(({ position }) => position === 6);
    const problem = expect.stringMatching(
      /^The trail starts after position \d+, so it cannot be compared with your checkpoint of /,
    );
    expect((await made.verify(before)).faults).toMatchObject([{ position: 6, problem }]);
    const lines = (await exported(made, made.store)) ?? [];
    expect(offline(lines, { keys: made.keys, kept: before }).faults).toMatchObject([{ position: 6, problem }]);
  });

  it('fails where the signature at the cut is wrong or gone', async () => {
    const made = await makeCut();
    const position = Number((await made.read()).data[0]?.position) - 1;
    for (const change of [
      (db: Db) =>
        db.updateTable('audit_checkpoints').set({ signature: 'AAAA' }).where('position', '=', position).execute(),
      (db: Db) => db.deleteFrom('audit_checkpoints').where('position', '=', position).execute(),
      (db: Db) => db.updateTable('audit_checkpoints').set({ cut: 'null' }).execute(),
    ]) {
      expect((await verifyAll(made, change)).online).not.toEqual([]);
    }
  });

  it('fails where the retention of that time would have kept it, even if the service itself signed the cut', async () => {
    const made = await makeTrail(kind);
    const { db } = made.store;
    await signNow(made.ctx, made.organizationId, { cut: { position: 6, retentionMs: 30 * dayMs } });
    await made.sequence();
    await db.updateTable('log_heads').set({ cut_until: 6 }).execute();
    await db
      .deleteFrom('log_personal')
      .where(sql<boolean>`entry_id in (
      select id from log_entries where trail_position <= 6)`)
      .execute();
    await db.deleteFrom('log_entries').where('trail_position', '<=', 6).execute();
    const found = await verifyAll(made, async () => {});
    for (const way of ['online', 'offline'] as const) {
      expect(found[way]).toMatchObject([expect.stringContaining('retention of 30 days')]);
    }
  });

  it('is not removed by a service that finds a cut which it did not sign, and the next checkpoint does not confirm it', async () => {
    const made = await makeTrail(kind);
    const { db } = made.store;
    await unguarded(made.store, () => db.updateTable('log_heads').set({ cut_until: 6 }).execute());
    await createTrailRetention(made.ctx, { eventsMs: dayMs, auditMs: dayMs })();
    expect(await db.selectFrom('log_entries').select('id').where('trail_position', '<=', 6).execute()).toHaveLength(6);
    expect(await made.signed()).toMatchObject({ cut: null });
    expect((await made.verify()).faults).not.toEqual([]);
  });
});
