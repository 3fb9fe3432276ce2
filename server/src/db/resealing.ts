/**
 * Seals every stored secret again with the current key, so that former keys can be thrown away. A service may run
 * meanwhile if it has the old and the new key. A row that changes meanwhile was sealed by that service, and is left
 * alone.
 */
import { sql } from 'kysely';
import type { Sealer } from '../sealing.ts';
import type { Db } from './open.ts';

/** Every column that holds a sealed value. The context of a value is the text given here and the row's id. */
export const sealedColumns = [
  { table: 'signing_keys', id: 'kid', column: 'sealed_private_key', context: 'signing key' },
  { table: 'source_templates', id: 'id', column: 'sealed_defaults', context: 'source template' },
  { table: 'connection_templates', id: 'id', column: 'sealed_destination_config', context: 'connection template' },
  { table: 'sources', id: 'id', column: 'sealed_config', context: 'source' },
] as const;

const batch = 500;

/** Returns how many secrets there were. */
export async function resealEverything(db: Db, sealer: Sealer): Promise<number> {
  let resealed = 0;
  for (const place of sealedColumns) {
    for (let after: string | undefined; ; ) {
      const rows = await readBatch(db, place, after);
      for (const { id, sealed } of rows) {
        if (sealed === '' || sealer.isCurrent(sealed)) continue;
        const context = `${place.context} ${id}`;
        await replace(db, place, id, sealed, sealer.seal(sealer.open(sealed, context), context));
        resealed++;
      }
      after = rows.at(-1)?.id;
      if (rows.length < batch) break;
    }
  }
  return resealed;
}

type Place = (typeof sealedColumns)[number];

async function readBatch(db: Db, { table, id, column }: Place, after: string | undefined) {
  const beyond = after === undefined ? sql`` : sql`where ${sql.ref(id)} > ${after}`;
  const { rows } = await sql<{ id: string; sealed: string }>`
    select ${sql.ref(id)} as id, ${sql.ref(column)} as sealed from ${sql.table(table)} ${beyond}
    order by ${sql.ref(id)} limit ${sql.lit(batch)}`.execute(db);
  return rows;
}

async function replace(db: Db, { table, id: key, column }: Place, id: string, before: string, after: string) {
  await sql`
    update ${sql.table(table)} set ${sql.ref(column)} = ${after}
    where ${sql.ref(key)} = ${id} and ${sql.ref(column)} = ${before}`.execute(db);
}
