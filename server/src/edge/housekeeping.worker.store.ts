/**
 * The rows that nobody needs after some time, of all organizations: which they are, and how they are deleted. Work that
 * does more than delete has a worker of its own.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Store } from '../kernel/db/open.ts';
import type { Tables } from '../kernel/db/tables.ts';

const dayMs = 86_400_000;
/** This month, the last thirty days, and a month for late reports: nobody can ask for more. */
const shortestCountsMs = 62 * dayMs;

/** How long operators keep what is kept for as long as they say. */
export interface KeptFor {
  jobsMs: number;
  jobLogsMs: number;
  deliveriesMs: number;
}

interface Expired {
  table: keyof Tables;
  condition: RawBuilder<unknown>;
  /** The primary key of a table of which so many rows are deleted at a time: there may be very many. */
  batch?: { key: readonly string[]; limit: number };
  /** Rows that go first, by the column that has the id of the expired row. */
  parts?: { table: keyof Tables; column: string };
}

const before = (ms: number) => sql`now_ms() - ${sql.lit(ms)}`;

export function listExpired({ jobsMs, jobLogsMs, deliveriesMs }: KeptFor): Expired[] {
  const countsMs = Math.max(jobsMs, shortestCountsMs);
  return [
    // An expired token is refused anyway. Its revocation goes a day later, because clocks may disagree.
    { table: 'revoked_tokens', condition: sql`expires_at < ${before(dayMs)}` },
    { table: 'idempotency_keys', condition: sql`expires_at <= now_ms()` },
    // Nobody asks for a check a day later. What a check has left on the platform is deleted first.
    { table: 'destination_checks', condition: sql`created_at < ${before(dayMs)}` },
    { table: 'source_checks', condition: sql`created_at < ${before(dayMs)} and may_linger = 0` },
    // A plan may have a hundred thousand items, and a retry ten thousand.
    {
      table: 'template_plans',
      condition: sql`expires_at <= now_ms()`,
      batch: { key: ['id'], limit: 5 },
      parts: { table: 'template_plan_items', column: 'plan_id' },
    },
    {
      table: 'cause_retries',
      condition: sql`ended_at < ${before(7 * dayMs)}`,
      batch: { key: ['id'], limit: 5 },
      parts: { table: 'cause_retry_items', column: 'retry_id' },
    },
    {
      table: 'jobs',
      condition: sql`ended_at < ${before(jobsMs)}`,
      batch: { key: ['connection_id', 'id'], limit: 1_000 },
    },
    { table: 'job_hours', condition: sql`hour < ${before(countsMs)}` },
    {
      table: 'usage_days',
      condition: sql`day < ${before(countsMs)}`,
      batch: { key: ['workspace_id', 'day'], limit: 1_000 },
    },
    {
      table: 'job_logs',
      condition: sql`ended_at < ${before(jobLogsMs)}`,
      batch: { key: ['connection_id', 'job_id', 'attempt', 'part'], limit: 100 },
    },
    {
      table: 'webhook_endpoints',
      condition: sql`exists (
        select 1 from workspaces where workspaces.id = webhook_endpoints.workspace_id and lifecycle = 'deleted')`,
      batch: { key: ['id'], limit: 1_000 },
      parts: { table: 'webhook_deliveries', column: 'endpoint_id' },
    },
    {
      table: 'webhook_deliveries',
      condition: sql`state <> 'pending' and created_at < ${before(deliveriesMs)}
        and position <= (select read_until from webhook_endpoints where id = webhook_deliveries.endpoint_id)`,
      batch: { key: ['endpoint_id', 'position'], limit: 1_000 },
    },
    {
      table: 'oauth_flows',
      condition: sql`expires_at <= ${before(dayMs)} and ended_at <= ${before(dayMs)}
        and (link_until is null or link_until <= ${before(dayMs)})`,
    },
    // That a credential has ended is known for three months, and as long as a source has it.
    {
      table: 'credentials',
      condition: sql`state = 'ended' and revoke_due_at is null and ended_at < ${before(90 * dayMs)}
        and not exists (
          select 1 from sources where sources.credential_id = credentials.id and sources.deleted_at is null)`,
      batch: { key: ['id'], limit: 1_000 },
    },
    // The log records for much longer who was there.
    { table: 'console_sessions', condition: sql`ends_at < ${before(7 * dayMs)}` },
    { table: 'console_links', condition: sql`expires_at < ${before(7 * dayMs)}` },
    { table: 'console_sign_ins', condition: sql`expires_at < now_ms()` },
  ];
}

export async function deleteExpired(store: Store, expired: Expired): Promise<void> {
  const { table, condition, batch, parts } = expired;
  if (!batch) {
    await sql`delete from ${sql.table(table)} where ${condition}`.execute(store.db);
    return;
  }
  const key = sql.join(batch.key.map((column) => sql.ref(column)));
  const chosen = sql<{ id: string }>`
    select ${key} from ${sql.table(table)} where ${condition} limit ${sql.lit(batch.limit)}`;
  const deleteChosen = async () => {
    const { rows } = await sql`
      delete from ${sql.table(table)} where (${key}) in (${chosen}) returning ${key}`.execute(store.db);
    return rows.length;
  };
  const deleteWithParts = (of: { table: keyof Tables; column: string }) =>
    store.transaction(async (tx) => {
      const { rows } = await chosen.execute(tx);
      if (rows.length === 0) return 0;
      const ids = sql.join(rows.map(({ id }) => id));
      await sql`delete from ${sql.table(of.table)} where ${sql.ref(of.column)} in (${ids})`.execute(tx);
      await sql`delete from ${sql.table(table)} where id in (${ids})`.execute(tx);
      return rows.length;
    });
  for (let count = batch.limit; count === batch.limit; ) {
    count = await (parts ? deleteWithParts(parts) : deleteChosen());
  }
}
