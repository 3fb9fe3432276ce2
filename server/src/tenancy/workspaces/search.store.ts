/**
 * Lists the workspaces whose names contain a text, newest first like all lists. Each database finds candidates with its
 * own index of the parts of names (db/name-parts.ts). Then the whole text is compared with each name, character by
 * character.
 */
import type { WorkspaceStatus } from '@inlay/contract/fields';
import { isSqlite } from '@inlay/database/is-sqlite';
import { type CompiledQuery, sql } from 'kysely';
import { lastSlot, liesInSlot, slotOf, tsqueryOf, wordsToMatch } from '../../kernel/db/name-parts.ts';
import type { Db } from '../../kernel/db/open.ts';
import { prepare } from '../../kernel/db/prepared.ts';
import { type ListShape, oncePerShape } from './list-shape.ts';
import { foldForSearch } from './names.ts';
import { deleted, type ShownWorkspace, shownColumns, type WorkspaceFilter } from './workspaces.store.ts';

export async function searchWorkspaces(
  db: Db,
  organizationId: string,
  nameContains: string,
  { status, after }: WorkspaceFilter,
  limit: number,
): Promise<ShownWorkspace[]> {
  const text = foldForSearch(nameContains);
  const shape = { byStatus: status !== undefined, isFirst: !after, limit };
  const { createdAt, id } = after ?? { createdAt: 0, id: '' };
  if (isSqlite(db)) {
    const words = wordsToMatch({ organizationId, text, status });
    const slot = after ? slotOf(after) : lastSlot;
    await turnOfSearch();
    return await searchOnSqlite(shape)(db, organizationId, words, slot, text, status ?? 'active', createdAt, id);
  }
  return await searchOnPostgres(shape)(
    db,
    organizationId,
    tsqueryOf({ organizationId, text }),
    text,
    status ?? 'active',
    createdAt,
    id,
  );
}

let lastInLine: Promise<void> = Promise.resolve();

/**
 * Nothing else runs in the process while SQLite reads, and a search may take milliseconds. So each turn of the event
 * loop runs one search, and other requests are served between two searches.
 */
function turnOfSearch(): Promise<void> {
  lastInLine = lastInLine.then(() => new Promise<void>((resolve) => setImmediate(resolve)));
  return lastInLine;
}

/**
 * The index gives slots in order, so it is read only as far as the page needs. Inside a slot the order comes from the
 * index of the list, so the statement names that index.
 */
const searchOnSqlite = oncePerShape(({ byStatus, isFirst, limit }: ListShape) =>
  prepare(
    (
      db,
      organizationId: string,
      words: string,
      slot: bigint,
      text: string,
      status: WorkspaceStatus,
      createdAt: number,
      id: string,
    ) =>
      statement(
        db,
        sql`
          select ${shown} from workspace_names as names
          cross join workspaces indexed by workspaces_newest_first
          where names.workspace_names match ${words} and names.rowid <= ${slot}
            and organization_id = ${organizationId} and ${liesInSlot('names')}
            and lifecycle <> ${deleted} and instr(name_folded, ${text}) > 0
            ${byStatus ? sql`and status = ${status}` : sql``}
            ${isFirst ? sql`` : sql`and (created_at, id) < (${createdAt}, ${id})`}
          order by names.rowid desc limit ${sql.lit(limit)}`,
      ),
  ),
);

/** If one name in fifty contains the text, these fill a page; looking at them takes a millisecond. */
const recentCount = 1_000;

/**
 * The index has no order: a search with it reads all matches and then sorts them. So the next workspaces of the list
 * are looked at first, and the index is used only if too few of them match. The planner cannot decide this, because it
 * would have to guess the number of matches.
 */
const searchOnPostgres = oncePerShape(({ byStatus, isFirst, limit }: ListShape) =>
  prepare(
    (
      db,
      organizationId: string,
      tsquery: string,
      text: string,
      status: WorkspaceStatus,
      createdAt: number,
      id: string,
    ) => {
      const ours = sql`organization_id = ${organizationId} and lifecycle <> ${deleted}
        ${byStatus ? sql`and status = ${status}` : sql``}`;
      return statement(
        db,
        sql`
          with recent as materialized (
            select ${shown}, name_folded from workspaces
            where ${ours} ${isFirst ? sql`` : sql`and (created_at, id) < (${createdAt}, ${id})`}
            order by created_at desc, id desc limit ${sql.lit(recentCount)}
          ),
          among_recent as materialized (
            select ${shown} from recent where instr(name_folded, ${text}) > 0
            order by created_at desc, id desc limit ${sql.lit(limit)}
          ),
          older as materialized (
            select ${shown} from workspaces
            where ${ours} and name_parts @@ cast(${tsquery} as tsquery) and instr(name_folded, ${text}) > 0
              and (created_at, id) < (select created_at, id from recent order by created_at, id limit 1)
          )
          select ${shown} from among_recent
          union all
          select ${shown} from older where (select count(*) from among_recent) < ${sql.lit(limit)}
          order by created_at desc, id desc limit ${sql.lit(limit)}`,
      );
    },
  ),
);

const shown = sql.join(shownColumns.map((column) => sql.ref(column)));

function statement(db: Db, text: ReturnType<typeof sql>): { compile(): CompiledQuery<ShownWorkspace> } {
  return { compile: () => text.compile(db) as CompiledQuery<ShownWorkspace> };
}
