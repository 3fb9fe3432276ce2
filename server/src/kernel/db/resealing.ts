/**
 * Seals every stored secret again with the current key, so that former keys can be thrown away. Services may run
 * meanwhile if they can open both. A row that a service changes meanwhile is left to the next pass.
 */
import { sql } from 'kysely';
import type { Sealer } from '../sealing.ts';
import type { Db } from './open.ts';

interface Place {
  table: string;
  id: string;
  column: string;
  /** What the value is of, in SQL: words, and the id it belongs to. */
  context: string;
}

/**
 * Every column that holds a sealed value. Signing keys come last: every start opens them, so a key that opens them opens
 * everything.
 */
export const sealedColumns: readonly Place[] = [
  {
    table: 'audit_keys',
    id: 'kid',
    column: 'sealed_private_key',
    context: "'audit key ' || kid || case when binds_time = 1 then ' ' || created_at else '' end",
  },
  { table: 'source_templates', id: 'id', column: 'sealed_defaults', context: "'source template ' || id" },
  {
    table: 'connection_templates',
    id: 'id',
    column: 'sealed_destination_config',
    context: "'connection template ' || id",
  },
  { table: 'sources', id: 'id', column: 'sealed_config', context: "'source ' || id" },
  {
    table: 'template_versions',
    id: 'id',
    column: 'sealed_configuration',
    context: "kind || ' template ' || template_id",
  },
  {
    table: 'source_definition_versions',
    id: 'id',
    column: 'sealed_manifest',
    context: "'manifest ' || id",
  },
  { table: 'idempotency_keys', id: 'id', column: 'sealed_record', context: "'idempotency key ' || id" },
  {
    table: 'webhook_endpoints',
    id: 'id',
    column: 'sealed_keys',
    context: "'webhook endpoint keys ' || id",
  },
  {
    table: 'webhook_endpoints',
    id: 'id',
    column: 'sealed_headers',
    context: "'webhook endpoint headers ' || id",
  },
  { table: 'oauth_clients', id: 'id', column: 'sealed_secrets', context: "'oauth client ' || id" },
  { table: 'oauth_clients', id: 'id', column: 'sealed_account_key', context: "'oauth client accounts ' || id" },
  { table: 'credentials', id: 'id', column: 'sealed_tokens', context: "'credential ' || id" },
  { table: 'oauth_flows', id: 'id', column: 'sealed_secrets', context: "'oauth flow ' || id" },
  { table: 'oauth_flows', id: 'id', column: 'sealed_entered', context: "'oauth flow entries ' || id" },
  { table: 'template_plans', id: 'id', column: 'sealed_request', context: "'template plan ' || id" },
  { table: 'signing_keys', id: 'kid', column: 'sealed_private_key', context: "'signing key ' || kid" },
];

const batch = 500;

/** Returns how many secrets were sealed again. Afterwards none is sealed with a former key. */
export async function resealEverything(db: Db, sealer: Sealer): Promise<number> {
  let resealed = 0;
  for (let inPass = -1; inPass !== 0; resealed += inPass) inPass = await resealOnce(db, sealer);
  return resealed;
}

async function resealOnce(db: Db, sealer: Sealer): Promise<number> {
  let resealed = 0;
  for (const place of sealedColumns) {
    for (let after: string | undefined; ; ) {
      const rows = await readBatch(db, place, after);
      for (const { id, sealed, context } of rows) {
        if (sealed === '' || sealer.isCurrent(sealed)) continue;
        await replace(db, place, id, sealed, sealer.seal(sealer.open(sealed, context), context));
        resealed++;
      }
      after = rows.at(-1)?.id;
      if (rows.length < batch) break;
    }
  }
  return resealed;
}

/** How many stored secrets none of these keys can open. */
export async function countSealedWithOthers(db: Db, keyIds: readonly string[]): Promise<number> {
  let count = 0;
  for (const { table, column } of sealedColumns) {
    const sealed = sql.ref(column);
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from ${sql.table(table)}
      where ${sealed} <> '' and substr(${sealed}, 4, 8) not in (${sql.join(['', ...keyIds])})`.execute(db);
    count += Number(rows[0]?.count);
  }
  return count;
}

async function readBatch(db: Db, { table, id, column, context }: Place, after: string | undefined) {
  const beyond = after === undefined ? sql`` : sql`where ${sql.ref(id)} > ${after}`;
  const { rows } = await sql<{ id: string; sealed: string; context: string }>`
    select ${sql.ref(id)} as id, ${sql.ref(column)} as sealed, ${sql.raw(context)} as context
    from ${sql.table(table)} ${beyond}
    order by ${sql.ref(id)} limit ${sql.lit(batch)}`.execute(db);
  return rows;
}

async function replace(db: Db, { table, id: key, column }: Place, id: string, before: string, after: string) {
  await sql`
    update ${sql.table(table)} set ${sql.ref(column)} = ${after}
    where ${sql.ref(key)} = ${id} and ${sql.ref(column)} = ${before}`.execute(db);
}
