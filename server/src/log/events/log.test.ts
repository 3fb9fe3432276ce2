import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { sql } from 'kysely';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { describeOnBothDatabases } from '../../../test/support/databases.ts';
import { planOf, statementOf } from '../../../test/support/query-plan.ts';
import { openTestStore } from '../../../test/support/test-store.ts';
import { unguarded } from '../../../test/support/unguarded.ts';
import { byWorker } from '../../kernel/cause.ts';
import type { Db, Store } from '../../kernel/db/open.ts';
import { systemRuntime } from '../../kernel/runtime.ts';
import { createArrivals } from './arrivals.ts';
import type { Entry } from './catalogue.ts';
import { getEvent, type Reader, readPage } from './events.ts';
import { createJournal } from './journal.ts';
import { type EventFilter, findPositionAt, listEvents, listPositions } from './log.store.ts';
import { createEventRetention, createSequencer, type Sequencer } from './sequencer.worker.ts';
import { streamEvents } from './stream.ts';

const journal = createJournal({ runtime: systemRuntime, cause: byWorker });
const tag = (name: string): Entry => ({
  type: 'tag.created',
  data: { tag: { id: randomUUID(), name } },
  change: { before: undefined, after: { name } },
});
const nameOf = (row: { data: string }) => JSON.parse(row.data).tag?.name;

function sequencerOf(store: Store): Sequencer {
  return createSequencer({ store, runtime: systemRuntime, log: pino({ level: 'silent' }), onSequenced: () => {} });
}

/** Adds an organization, and gives what a test needs of its log. */
async function openLog(store: Store) {
  const organizationId = randomUUID();
  await store.db
    .insertInto('organizations')
    .values({ id: organizationId, name: 'one', platform_organization_id: organizationId, created_at: 0 })
    .execute();
  const ctx = { store, runtime: systemRuntime, arrivals: createArrivals(store, systemRuntime) };
  const reader: Reader = {
    organizationId,
    workspaceId: undefined,
    isCustomer: false,
    types: undefined,
    since: undefined,
  };
  return {
    organizationId,
    record: (...entries: Entry[]) => store.transaction((tx) => journal.record(tx, organizationId, ...entries)),
    entries: () =>
      store.db
        .selectFrom('log_entries')
        .selectAll()
        .where('organization_id', '=', organizationId)
        .orderBy('trail_position')
        .execute(),
    get: (id = '') => getEvent(ctx, organizationId, id),
    read: (after?: number, more: Partial<Reader> & { limit?: number } = {}) =>
      readPage(ctx, { ...reader, ...more }, { after, limit: more.limit ?? 100 }),
  };
}

/** A store that counts how often it reads entries of the log. */
function counting(store: Store): { store: Store; reads(): number } {
  let reads = 0;
  const db = new Proxy(store.db, {
    get(target, member) {
      if (member !== 'selectFrom') {
        const value = Reflect.get(target, member);
        return typeof value === 'function' ? value.bind(target) : value;
      }
      return (table: 'log_entries') => {
        if (table === 'log_entries') reads += 1;
        return target.selectFrom(table);
      };
    },
  });
  return { store: { ...store, db }, reads: () => reads };
}

describeOnBothDatabases('Open streams of events', (kind) => {
  const quick = { ...systemRuntime, sleep: (ms: number, signal?: AbortSignal) => systemRuntime.sleep(ms / 10, signal) };

  async function start(count: number, types?: string) {
    const plain = await openTestStore(kind);
    const { store, reads } = counting(plain);
    const { organizationId, record } = await openLog(plain);
    const arrivals = createArrivals(store, quick);
    const ended = new AbortController();
    setMaxListeners(0, ended.signal);
    const sequencer = createSequencer({
      ...{ store: plain, runtime: systemRuntime, log: pino({ level: 'silent' }) },
      onSequenced: (ids) => arrivals.look(ids),
    });
    const reader: Reader = { organizationId, workspaceId: undefined, isCustomer: false, types, since: undefined };
    const texts = Array.from({ length: count }, () => '');
    const streams = texts.map(async (_, index) => {
      const options = { after: undefined, ended: ended.signal, assertStillAllowed: async () => {} };
      for await (const text of streamEvents({ store, runtime: quick, arrivals }, reader, options)) texts[index] += text;
    });
    const tell = async (...names: string[]) => {
      await record(...names.map(tag));
      await sequencer.pass();
    };
    const namesIn = (text: string) =>
      [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) =>
        nameOf({ data: JSON.stringify(JSON.parse(data).data) }),
      );
    const stop = async () => {
      ended.abort();
      await Promise.all(streams);
    };
    return { texts, reads, tell, namesIn, stop };
  }

  it('read each event once for all of them, in order and without a gap', async () => {
    const { texts, reads, tell, namesIn, stop } = await start(30);
    await tell('begin');
    await expect.poll(() => texts.every((text) => text.includes('begin'))).toBe(true);
    // Every stream waits for what comes next, and this process has looked where that begins.
    await tell('settled');
    await expect.poll(() => texts.every((text) => text.includes('settled'))).toBe(true);
    const before = reads();
    const names = upTo(20).map((index) => `e${index}`);
    for (const name of names) {
      await tell(name);
      await expect.poll(() => texts.every((text) => text.includes(`"${name}"`))).toBe(true);
    }
    expect(reads() - before).toBeLessThanOrEqual(2 * names.length);
    for (const text of texts) expect(namesIn(text)).toEqual(['begin', 'settled', ...names]);
    await stop();
  });

  it('miss nothing of a burst that is larger than what the process keeps', async () => {
    const { texts, tell, namesIn, stop } = await start(3, 'tag.*');
    await tell('begin');
    await expect.poll(() => texts.every((text) => text.includes('begin'))).toBe(true);
    const names = upTo(1_200).map((index) => `e${index}`);
    await tell(...names.slice(0, 600));
    await tell(...names.slice(600));
    await expect.poll(() => texts.every((text) => namesIn(text).length > 1_200)).toBe(true);
    for (const text of texts) expect(namesIn(text)).toEqual(['begin', ...names]);
    await stop();
  });
});

describeOnBothDatabases('A reader that waits for events', (kind) => {
  it('is woken by an event although the only wait before it has timed out', async () => {
    const store = await openTestStore(kind);
    const { organizationId, record } = await openLog(store);
    const arrivals = createArrivals(store, systemRuntime);
    expect(await arrivals.wait(organizationId, 0, 1)).toBe(false);
    const woken = arrivals.wait(organizationId, 0, 30_000);
    await record(tag('late'));
    await sequencerOf(store).pass();
    expect(await woken).toBe(true);
  });
});

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

/** Lets others take the lease at once, as if the process that has it had died long ago. */
const loseLease = (db: Db) => db.updateTable('log_sequencer').set({ lease_until: 0 }).execute();

describeOnBothDatabases('The log', (kind) => {
  it('has an entry exactly if its transaction took effect, and gives positions without a gap', async () => {
    const store = await openTestStore(kind);
    const log = await openLog(store);
    const other = await openLog(store);
    const sequencer = sequencerOf(store);
    const failing = store.transaction(async (tx) => {
      await journal.record(tx, log.organizationId, tag('undone'));
      throw new Error('undone');
    });
    await expect(failing).rejects.toThrow('undone');
    await Promise.all(upTo(30).map((index) => log.record(tag(`a${index}`))));
    await other.record(tag('theirs'));
    // Many at once take another way into the log.
    await log.record(...upTo(30).map((index) => tag(`b${index}`)));
    expect((await log.read()).data, 'what has no position is not read').toEqual([]);
    expect(await sequencer.pass()).toBe(61);
    expect(await sequencer.pass()).toBe(0);

    const rows = await log.entries();
    expect(rows.map(({ position }) => position)).toEqual(upTo(60));
    expect(rows.slice(30).map(nameOf), 'in the order in which they were written').toEqual(
      upTo(30).map((index) => `b${index}`),
    );
    expect(new Set(rows.map(({ id }) => id)).size).toBe(60);
    expect((await other.entries()).map(({ position }) => position)).toEqual([1]);
    expect(rows[0]).toMatchObject({ actor_kind: 'worker', outcome: 'done', workspace_id: null });
    expect(await store.db.selectFrom('log_pending').selectAll().execute()).toEqual([]);
  });

  it('counts entries for the audit alone in the trail, not among the events', async () => {
    const store = await openTestStore(kind);
    const log = await openLog(store);
    const workspaceId = randomUUID();
    await store.db
      .insertInto('workspaces')
      .values({
        ...{ id: workspaceId, organization_id: log.organizationId, name: 'Acme', name_folded: 'acme' },
        ...{ desired_name: null, status: 'active', lifecycle: 'live', gen: 1, name_gen: 1, name_settled_at: 0 },
        ...{ token_gen: 1, created_at: 0, updated_at: 0, deleted_at: null, held_since: null, unwell_since: null },
      })
      .execute();
    await log.record(tag('first'));
    const change = { before: { name: 'Acme' }, after: undefined };
    await log.record({ type: 'workspace.deletion_requested', workspaceId, data: {}, change });
    await log.record({ type: 'workspace.deleted', workspaceId, data: {}, change });
    await sequencerOf(store).pass();
    const rows = await log.entries();
    expect(rows.map(({ trail_position, position }) => [trail_position, position])).toEqual([
      [1, 1],
      [2, null],
      [3, 2],
    ]);
    expect(rows.map(({ workspace_name }) => workspace_name)).toEqual([null, 'Acme', 'Acme']);
    const { data, next } = await log.read(1);
    expect(data).toMatchObject([
      { position: 2, type: 'workspace.deleted', workspace_id: workspaceId, data: { workspace: { name: 'Acme' } } },
    ]);
    expect(next).toBe(2);
  });

  it('stays dense and loses nothing while two sequencers take the lease from each other under writers', async () => {
    const store = await openTestStore(kind);
    const log = await openLog(store);
    const [one, two] = [sequencerOf(store), sequencerOf(store)];
    let isWriting = true;
    const sequencing = [one, two].map(async (sequencer) => {
      while (isWriting) {
        await sequencer.pass();
        await loseLease(store.db);
      }
    });
    const writing = upTo(4).map(async (writer) => {
      for (const index of upTo(25)) await log.record(tag(`${writer}.${index}`));
    });
    await Promise.all(writing);
    isWriting = false;
    await Promise.all(sequencing);
    await loseLease(store.db);
    await two.pass();
    const rows = await log.entries();
    expect(rows.map(({ position }) => position)).toEqual(upTo(100));
    for (const writer of upTo(4)) {
      const own = rows.map(nameOf).filter((name) => name.startsWith(`${writer}.`));
      expect(own, 'a writer that waits for its commits finds them in its order').toEqual(
        upTo(25).map((index) => `${writer}.${index}`),
      );
    }
  });

  it('is left to the process that has the lease, and to another once the lease has run out', async () => {
    const store = await openTestStore(kind);
    const log = await openLog(store);
    const [first, second] = [sequencerOf(store), sequencerOf(store)];
    await log.record(tag('a'));
    expect(await first.pass()).toBe(1);
    await log.record(tag('b'));
    expect(await second.pass()).toBe(0);
    await loseLease(store.db);
    expect(await second.pass()).toBe(1);
    expect((await log.read(1)).data).toMatchObject([{ position: 2 }]);
  });

  it('reports no events that are too old, and shows readers where to begin', async () => {
    const store = await openTestStore(kind);
    const log = await openLog(store);
    await log.record(...upTo(10).map((index) => tag(`t${index}`)));
    await sequencerOf(store).pass();
    const age = (positions: number[]) =>
      unguarded(store, () =>
        store.db
          .updateTable('log_entries')
          .set({ sequenced_at: sql<number>`sequenced_at - 1000000` })
          .where('position', 'in', positions)
          .execute(),
      );
    const retain = createEventRetention({ store }, 500_000);
    await retain();
    expect((await log.read()).data).toHaveLength(10);
    await age([1, 2, 3]);
    await retain();
    expect(
      (await log.read()).data.map(({ position }) => position),
      'without after: from the oldest',
    ).toEqual(upTo(10).slice(3));
    await expect(log.read(2)).rejects.toMatchObject({ code: 'events_gone', facts: { begin: 3 } });
    await expect(log.read(11)).rejects.toMatchObject({ code: 'events_ahead', facts: { head: 10 } });
    expect((await log.read(3)).data).toHaveLength(7);
    const ids = (await log.entries()).map(({ id }) => id);
    await expect(log.get(ids[2]), 'nor by its id').rejects.toMatchObject({ code: 'event_not_found' });
    expect(await log.get(ids[3])).toMatchObject({ position: 4 });
    await age(upTo(10));
    await retain();
    expect(await log.read()).toEqual({ data: [], next: 10 });
    await expect(log.read(9)).rejects.toMatchObject({ code: 'events_gone', facts: { begin: 10 } });
    expect(await log.read(10)).toEqual({ data: [], next: 10 });
    expect(await log.entries(), 'the audit trail keeps them').toHaveLength(10);
  });

  it('is never changed, and loses only a beginning behind a checkpoint: the database refuses everything else', async () => {
    const store = await openTestStore(kind);
    const { db } = store;
    const log = await openLog(store);
    await log.record(...upTo(10).map((index) => tag(`t${index}`)));
    await sequencerOf(store).pass();
    const rows = await log.entries();
    const cut = (position: number) => db.updateTable('log_heads').set({ cut_until: position }).execute();
    await expect(db.updateTable('log_entries').set({ data: '{}' }).execute()).rejects.toThrow('never changed');
    await expect(db.deleteFrom('log_entries').where('trail_position', '=', 10).execute()).rejects.toThrow(
      'beginning behind a checkpoint',
    );
    await expect(cut(4)).rejects.toThrow('checkpoint says so');
    const { organizationId } = log;
    for (const [position, cut] of [
      [2, null],
      [4, null],
      [6, '{"position":4,"at":null,"retention_days":null}'],
    ] as const) {
      await db
        .insertInto('audit_checkpoints')
        .values({
          ...{ organization_id: organizationId, position, hash: String(rows[position - 1]?.hash) },
          ...{ signed_at: 1, key_id: 'k', signature: 's', cut },
        })
        .execute();
    }
    await expect(db.updateTable('audit_checkpoints').set({ hash: '' }).execute()).rejects.toThrow('never changed');
    await expect(db.deleteFrom('audit_checkpoints').execute()).rejects.toThrow('before its beginning');
    if (kind === 'postgres') await expect(sql`truncate log_entries`.execute(db)).rejects.toThrow('never changed');
    await expect(cut(2), 'no checkpoint says so').rejects.toThrow('checkpoint says so');
    await cut(4);
    await expect(cut(2)).rejects.toThrow('checkpoint says so');
    await expect(db.deleteFrom('log_entries').execute()).rejects.toThrow('beginning behind a checkpoint');
    await db.deleteFrom('log_entries').where('trail_position', '<=', 4).execute();
    await expect(db.deleteFrom('audit_checkpoints').execute()).rejects.toThrow('before its beginning');
    await db.deleteFrom('audit_checkpoints').where('position', '<', 4).execute();
    expect((await log.entries()).map(({ trail_position }) => trail_position)).toEqual(upTo(10).slice(4));
    expect(await db.selectFrom('audit_checkpoints').select('position').orderBy('position').execute()).toEqual([
      { position: 4 },
      { position: 6 },
    ]);
  });

  it('is read from an index in the order of positions, whatever is requested', async () => {
    const store = await openTestStore(kind);
    const log = await openLog(store);
    const everything: EventFilter = { after: 5, workspaceId: undefined, types: undefined, since: undefined };
    const [types, workspaceId] = [['sync.failed', 'tag.created'], randomUUID()];
    const ways: [RegExp, EventFilter][] = [
      [/log_entries_by_position\b/, everything],
      [/log_entries_by_workspace_position\b/, { ...everything, workspaceId }],
      [/log_entries_by_type\b/, { ...everything, types }],
      // For an empty table, PostgreSQL uses either plan.
      [/log_entries_by_workspace(_position)?\b/, { ...everything, types, workspaceId }],
    ];
    for (const [index, filter] of ways) {
      const list = filter.types ? listPositions : listEvents;
      const asked = await statementOf(store.db, (db) => list(db, log.organizationId, filter, 10));
      const plan = await planOf(store, asked);
      expect(plan, plan).toMatch(index);
      expect(plan, plan).not.toMatch(/SCAN log_entries|Seq Scan/);
    }
    const first = await planOf(store, await statementOf(store.db, (db) => findPositionAt(db, log.organizationId, 5)));
    expect(first, first).toContain('log_entries_by_time');
  });

  if (kind === 'postgres') {
    it('numbers a transaction that is committed late after those that were committed before it', async () => {
      const store = await openTestStore(kind);
      const log = await openLog(store);
      const sequencer = sequencerOf(store);
      let [commit, isWritten] = [() => {}, () => {}];
      const mayCommit = new Promise<void>((resolve) => {
        commit = resolve;
      });
      const written = new Promise<void>((resolve) => {
        isWritten = resolve;
      });
      const late = store.transaction(async (tx) => {
        await journal.record(tx, log.organizationId, tag('written first, committed last'));
        isWritten();
        await mayCommit;
      });
      await written;
      await log.record(tag('written last, committed first'));
      expect(await sequencer.pass()).toBe(1);
      const before = await log.read();
      expect(before.next).toBe(1);
      commit();
      await late;
      expect(await sequencer.pass()).toBe(1);
      const rest = await log.read(before.next);
      expect(
        [...before.data, ...rest.data].map(({ position, data }) => [position, (data.tag as { name: string }).name]),
      ).toEqual([
        [1, 'written last, committed first'],
        [2, 'written first, committed last'],
      ]);
    });
  }
});

describe('A catalogue of entries', () => {
  it('gives every type a title in words and data that is an object', async () => {
    const { catalogue, entryTypes, matchingTypes, eventTypes } = await import('./catalogue.ts');
    for (const type of entryTypes) {
      expect(type).toMatch(/^[a-z_]+\.[a-z_]+$/);
      expect(catalogue[type].when, type).toMatch(/\.$/);
      expect(catalogue[type].isEvent || !catalogue[type].forCustomers, type).toBe(true);
    }
    expect(matchingTypes(['sync.*'], eventTypes)).toHaveLength(5);
    expect(matchingTypes(['*'], eventTypes)).toEqual(eventTypes);
    expect(matchingTypes(['sync.failed', 'sync.*'], eventTypes)).toHaveLength(5);
    expect(matchingTypes(['nothing.*'], eventTypes)).toEqual([]);
  });
});
