/**
 * All times in the store that something waits for, of all organizations. Add new such columns here; a test compares
 * this list with the tables.
 */
import { sql } from 'kysely';
import { now } from '../../kernel/db/moments.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { Tables } from '../../kernel/db/tables.ts';

export interface DueTime {
  table: keyof Tables;
  column: string;
  /** It is never set further ahead than this. Left out: it may be. */
  longestMs?: number;
  /** Something is done then; otherwise something is held, or good, until then. */
  isDue?: true;
  /** Leads to the few rows that can have it by an index, since the store is searched every few seconds. */
  where?: string;
  /** No index leads to it: it is looked at only after the clock was set back. */
  isRare?: true;
}

const second = 1_000;
const day = 86_400 * second;
/** No lease is longer. */
const lease = { column: 'lease_until', longestMs: 120 * second };
/** No request to the platform is waited for longer. */
const requestMs = 300 * second;

/** `settleMs`: how long a request to the platform whose answer was lost may still take effect. */
export const dueTimes = (settleMs: number): DueTime[] => [
  { table: 'cause_retries', ...lease, where: `state = 'running'` },
  { table: 'cause_retries', column: 'due_at', longestMs: 60 * second, isDue: true, where: `state = 'running'` },
  {
    table: 'cause_retry_items',
    column: 'look_at',
    longestMs: 180 * second + settleMs,
    isDue: true,
    where: `state = 'starting' and retry_id in (select id from cause_retries where state = 'running')`,
  },
  { table: 'connections', column: 'looked_at', longestMs: 0, isDue: true, where: 'deleted_at is null' },
  { table: 'connections', column: 'no_post_before', longestMs: requestMs + settleMs, isRare: true },
  { table: 'connections', column: 'stale_at' },
  { table: 'connections', column: 'starting_until', longestMs: 60 * second + settleMs, isRare: true },
  { table: 'console_links', column: 'expires_at' },
  { table: 'console_sessions', column: 'ends_at' },
  { table: 'console_sessions', column: 'last_used_at', longestMs: 0, isRare: true },
  { table: 'console_sign_ins', column: 'expires_at' },
  { table: 'credentials', ...lease, where: 'lease_id is not null' },
  { table: 'credentials', column: 'access_expires_at' },
  { table: 'credentials', column: 'refresh_due_at', isDue: true },
  { table: 'credentials', column: 'revoke_due_at', isDue: true },
  { table: 'destination_checks', column: 'expires_at', longestMs: 360 * second, isRare: true },
  { table: 'destinations', ...lease, where: 'lease_id is not null' },
  { table: 'destinations', column: 'no_post_before', longestMs: requestMs + settleMs, isRare: true },
  { table: 'idempotency_keys', column: 'expires_at', longestMs: day },
  { table: 'idempotency_keys', ...lease, isRare: true },
  { table: 'job_logs_wanted', column: 'due_at', longestMs: 60 * second, isDue: true },
  { table: 'job_watch', ...lease },
  { table: 'job_watch', column: 'read_until', longestMs: 0 },
  { table: 'jobs', column: 'seen_at', longestMs: 0, isDue: true, where: 'ended_at is null' },
  { table: 'log_sequencer', ...lease },
  { table: 'name_claims', ...lease, where: `state = 'creating'` },
  { table: 'name_claims', column: 'no_post_before', longestMs: 60 * second + settleMs, where: `state = 'creating'` },
  {
    table: 'name_claims',
    column: 'no_post_before',
    longestMs: 60 * second + settleMs,
    where: `state = 'bound' and no_post_before > 0`,
  },
  { table: 'oauth_flows', column: 'expires_at' },
  { table: 'oauth_flows', column: 'link_until' },
  { table: 'operations', ...lease },
  { table: 'operations', column: 'next_at', longestMs: 180 * second + settleMs, isDue: true },
  { table: 'operations', column: 'sending_until', longestMs: 180 * second + settleMs },
  { table: 'operations', column: 'unsettled_until', longestMs: 180 * second + settleMs },
  { table: 'definition_copies', column: 'no_post_before', longestMs: requestMs + settleMs, isRare: true },
  { table: 'quota_holds', column: 'until', longestMs: day, isDue: true, where: `quota like '%_per_day'` },
  { table: 'quota_holds', column: 'until', longestMs: 31 * day, isDue: true },
  { table: 'replicas', column: 'last_seen_at', longestMs: 0 },
  { table: 'rollouts', ...lease },
  { table: 'source_checks', column: 'expires_at', longestMs: 360 * second, isRare: true },
  { table: 'scheduled_backups', ...lease },
  { table: 'scheduled_backups', column: 'ran_at', longestMs: 0 },
  { table: 'sources', ...lease, where: 'due_at is not null' },
  // Work that was not put off yet is due at once.
  { table: 'sources', column: 'due_at', longestMs: 0, isDue: true, where: 'attempts = 0' },
  { table: 'sources', column: 'due_at', longestMs: 360 * second + settleMs, isDue: true },
  { table: 'sources', column: 'no_post_before', longestMs: requestMs + settleMs, isRare: true },
  { table: 'template_plans', column: 'expires_at', longestMs: day },
  {
    table: 'webhook_deliveries',
    column: 'next_at',
    longestMs: 1.2 * day,
    isDue: true,
    where: `state = 'pending' and endpoint_id in (select id from webhook_endpoints)`,
  },
  { table: 'webhook_endpoints', ...lease },
  { table: 'webhook_endpoints', column: 'not_before', longestMs: 3_600 * second, isDue: true },
  { table: 'workspaces', column: 'name_settled_at', longestMs: 0, isRare: true },
];

const ms = (of: number) => sql.lit(Math.round(of));

function tooFar({ column, longestMs = 0, where = 'true' }: DueTime) {
  return sql`${sql.ref(column)} > now_ms() + ${ms(longestMs)} and ${sql.raw(where)}`;
}

/** Those that have a row whose time is further ahead than it is ever set. */
export async function findTooFar(db: Db, times: readonly DueTime[]): Promise<DueTime[]> {
  const bounded = times.filter(({ longestMs, isRare }) => longestMs !== undefined && !isRare);
  const parts = bounded.map(
    (time, index) =>
      sql`select ${sql.lit(index)} as found where exists (select 1 from ${sql.table(time.table)} where ${tooFar(time)})`,
  );
  const { rows } = await sql<{ found: number }>`${sql.join(parts, sql` union all `)}`.execute(db);
  return rows.flatMap(({ found }) => bounded[found] ?? []);
}

/** As if it were set now; what was to be done is due. */
export async function bringNearer(db: Db, time: DueTime): Promise<void> {
  const { table, column, longestMs = 0, isDue } = time;
  await sql`
    update ${sql.table(table)} set ${sql.ref(column)} = now_ms() + ${ms(isDue ? 0 : longestMs)}
    where ${tooFar(time)}`.execute(db);
}

/** False when the clock is behind the last time it was read. */
export async function noteTime(db: Db): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('job_watch')
    .set({ clock_at: now })
    .where('id', '=', 1)
    .where('clock_at', '<=', now)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** How far the clock is behind. The next caller waits for the end of the transaction and finds it corrected. */
export async function takeStepBack(tx: Db): Promise<number> {
  const row = await tx
    .updateTable('job_watch')
    .set({ clock_at: sql<number>`clock_at` })
    .where('id', '=', 1)
    .returning(sql<number>`clock_at - now_ms()`.as('step'))
    .executeTakeFirst();
  await tx.updateTable('job_watch').set({ clock_at: now }).where('id', '=', 1).execute();
  return Math.max(0, Number(row?.step ?? 0));
}

/**
 * What is left until then stays as it was before the clock was set back. What was set since then is no further ahead than it
 * may be, and stays, unless it does no harm to be early.
 */
export async function setBack(tx: Db, { table, column, longestMs, isDue }: DueTime, stepMs: number): Promise<void> {
  const nearer = sql`${sql.ref(column)} - ${ms(stepMs)}`;
  await sql`
    update ${sql.table(table)} set ${sql.ref(column)} = case when ${nearer} > now_ms() then ${nearer} else now_ms() end
    where ${sql.ref(column)} > now_ms() + ${ms(isDue ? 0 : (longestMs ?? stepMs))}`.execute(tx);
}

/** Leases, guards against sending a request twice, and what is good for a limited time. Other times are the calendar's. */
export const isHold = ({ longestMs = 0, isDue }: DueTime): boolean => longestMs > 0 && !isDue;

/** What was left of it before the clock jumped ahead stays. */
export async function holdLonger(db: Db, { table, column, longestMs = 0 }: DueTime, jumpMs: number): Promise<void> {
  const later = sql`${sql.ref(column)} + ${ms(jumpMs)}`;
  const longest = sql`now_ms() + ${ms(longestMs)}`;
  await sql`
    update ${sql.table(table)} set ${sql.ref(column)} = case when ${later} < ${longest} then ${later} else ${longest} end
    where ${sql.ref(column)} > now_ms() - ${ms(jumpMs)} and ${sql.ref(column)} > 0`.execute(db);
}
