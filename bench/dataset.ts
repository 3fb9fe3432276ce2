/*
 * Tables with many rows. A row is computed from its number, so a benchmark knows the rows without reading them. They are
 * written by plain SQL into tables that the product's own migrations have made, because a million creations would take
 * an hour.
 */
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { type Kysely, SqliteAdapter, sql } from 'kysely';
import { type Db, readSchemaHistory, type Store } from './product.ts';

export const organizationId = '5bd6a2f0-9c1e-4b7a-8f3d-2e6c4a1b0d97';
export const operatorToken = 'a-token-that-only-benchmarks-know-0123456789';

const firstCreatedAt = Date.UTC(2024, 0, 1);
const betweenCreationsMs = 40;
// Without q and z, so that some parts of one and two characters are in no name, or in one name only.
const firstWords =
  'Amber Birch Cedar Delta Ember Fjord Granite Harbor Indigo Juniper Karst Lumen Maple Nimbus Orchid'.split(' ');
const secondWords =
  'Analytics Bakery Clinic Dynamics Electric Foods Garage Hotels Insurance Labs Motors Networks'.split(' ');
const legalForms = ['GmbH', 'Inc', 'Ltd', 'SA'];

/** The texts for `name_contains`, by the number of names that contain them. */
export const nameParts = {
  rare: 'zyzzyva',
  'in a few hundred': '4321',
  'in thousands': 'harbor analytics',
  common: 'harbor',
  absent: 'qwv',
  'absent, of common parts': 'harbor harbor',
  'two characters, rare': 'zy',
  'two characters, common': 'ar',
  'two characters, absent': 'qz',
  'one character, rare': 'z',
  'one character, common': 'a',
  'one character, absent': 'q',
} as const;

/** Counts from 0, oldest first. The one in the middle has a name with a word that no other name contains. */
export function workspaceAt(index: number, count: number) {
  const digest = createHash('md5').update(`workspace ${index}`).digest('hex');
  const at = (from: number, to: number) => digest.slice(from, to);
  const pick = (words: string[], from: number) => words[Number.parseInt(at(from, from + 4), 16) % words.length];
  const first = index === Math.floor(count / 2) ? 'Zyzzyva' : pick(firstWords, 20);
  return {
    id: `${at(0, 8)}-${at(8, 12)}-4${at(13, 16)}-8${at(17, 20)}-${at(20, 32)}`,
    name: `${first} ${pick(secondWords, 24)} ${pick(legalForms, 28)} ${index}`,
    status: index % 10 === 0 ? 'inactive' : 'active',
    createdAt: firstCreatedAt + index * betweenCreationsMs,
  };
}

const rowsAtATime = 5_000;

/** `same` has the columns that all rows share. */
interface Rows {
  count: number;
  same?: Record<string, unknown>;
  rowOf: (index: number) => object;
  signal?: AbortSignal;
}

/** In pieces: a statement on SQLite holds up everything else while it runs. Between them an interruption is heard. */
export async function fill(
  db: Pick<Kysely<unknown>, 'getExecutor'>,
  table: string,
  { count, same = {}, rowOf, signal }: Rows,
): Promise<void> {
  const isSqlite = db.getExecutor().adapter instanceof SqliteAdapter;
  const changing = Object.keys(rowOf(0));
  const shared = Object.entries(same).filter(([name]) => !changing.includes(name));
  const columns = sql.join([...shared.map(([name]) => name), ...changing].map((name) => sql.ref(name)));
  const values = changing.map((name) => sql`value ->> ${sql.lit(name)}`);
  const row = JSON.stringify(same);
  for (let from = 0; from < count; from += rowsAtATime) {
    await setImmediate();
    signal?.throwIfAborted();
    const size = Math.min(rowsAtATime, count - from);
    const json = JSON.stringify(Array.from({ length: size }, (_, index) => rowOf(from + index)));
    const given = isSqlite
      ? sql`select ${sql.join([...shared.map(([, value]) => value), ...values])} from json_each(${json})`
      : sql`select ${columns} from json_populate_recordset(json_populate_record(null::${sql.table(table)}, ${row}), ${json})`;
    await sql`insert into ${sql.table(table)} (${columns}) ${given}`.execute(db);
  }
}

export async function seedWorkspaces({ db }: Store, count: number, signal: AbortSignal): Promise<void> {
  const owner = { organization_id: organizationId };
  await fill(db, 'workspaces', {
    count,
    same: { ...owner, lifecycle: 'live', gen: 1, token_gen: 1 },
    rowOf(index) {
      const { id, name, status, createdAt } = workspaceAt(index, count);
      return { id, name, name_folded: name.toLowerCase(), status, created_at: createdAt, updated_at: createdAt };
    },
    signal,
  });
  await fill(db, 'name_claims', {
    count,
    same: { ...owner, state: 'bound', lease_id: '', lease_until: 0, no_post_before: 0, attempts: 0 },
    rowOf(index) {
      const { id, name, createdAt } = workspaceAt(index, count);
      return { name, workspace_id: id, created_at: createdAt };
    },
    signal,
  });
}

/** In the order of their numbers: random ids would take most of the time with millions of rows. */
export const orderedId = (table: number, index: number): string =>
  `${table}0000000-0000-4000-8000-${index.toString(16).padStart(12, '0')}`;

/** A log as the sequencer would leave it. */
export async function fillLog(db: Db, { count, same, rowOf, signal }: Rows): Promise<void> {
  const owner = { organization_id: organizationId };
  const entryOf = (index: number) => {
    const position = index + 1;
    const places = { trail_position: position, position, recorded_at: position, sequenced_at: position };
    return { id: orderedId(6, index), ...places, ...rowOf(index) };
  };
  const usual = { ...owner, actor_kind: 'worker', outcome: 'done', data: '{}', ...same };
  await fill(db, 'log_entries', { count, same: usual, rowOf: entryOf, ...(signal && { signal }) });
  const { position, trail_position, sequenced_at } = entryOf(count - 1);
  await fill(db, 'log_heads', { count: 1, rowOf: () => ({ ...owner, position, trail_position, sequenced_at }) });
}

/** Whether a kept store has the tables of today and all workspaces. */
export async function isSeeded(store: Store, count: number): Promise<boolean> {
  const { pending, unknown } = await readSchemaHistory(store);
  const { id } = workspaceAt(count - 1, count);
  const last = await store.db
    .selectFrom('name_claims')
    .select('name')
    .where('workspace_id', '=', id)
    .executeTakeFirst();
  return pending.length === 0 && unknown.length === 0 && last !== undefined;
}
