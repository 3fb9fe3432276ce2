/** What the indexes of names find is what looking at every name would find, in the order of the list, page by page. */
import fc from 'fast-check';
import { sql } from 'kysely';
import { beforeEach, expect, it } from 'vitest';
import { describeOnBothDatabases } from '../../../test/support/databases.ts';
import { openTestStore } from '../../../test/support/test-store.ts';
import { migrate } from '../../kernel/db/migrations.ts';
import type { Store } from '../../kernel/db/open.ts';
import { systemRuntime } from '../../kernel/runtime.ts';
import { createOrganization } from '../organizations/organizations.ts';
import { foldForSearch } from './names.ts';
import { searchWorkspaces } from './search.store.ts';
import * as workspaces from './workspaces.store.ts';

interface Given {
  id: string;
  name: string;
  createdAt: number;
}

// Few characters, so that texts are found; the odd ones mean something to one index or the other.
const letters = ['a', 'b', 'B', 'ß', 'é', '日', '\u{1f600}', ' ', "'", '\\', '"', '*', ':', '&', '-', '%'];
const text = (length: { minLength: number; maxLength: number }) =>
  fc.array(fc.constantFrom(...letters), length).map((characters) => characters.join(''));
const name = text({ minLength: 1, maxLength: 20 });
// Few moments and few beginnings, so that workspaces share a slot.
const given = fc.record({
  name,
  createdAt: fc.constantFrom(1_700_000_000_000, 1_700_000_000_001, 1_800_000_000_000),
  start: fc.constantFrom('00000000', '00000001', '7fffffff', 'fff00000', 'fff00001'),
});
const change = fc.record({
  kind: fc.constantFrom('rename', 'deactivate', 'deleting', 'delete'),
  which: fc.nat(),
  name,
});

describeOnBothDatabases('A search for a part of a name', (kind) => {
  let store: Store;
  beforeEach(async () => {
    store = await openTestStore(kind);
  });

  const newOrganization = async () => (await createOrganization(store, systemRuntime, { name: 'some' })).id;
  const idFrom = (start: string) => start + systemRuntime.newId().slice(start.length);

  /** As they are created, but at the times given. */
  async function insert(organizationId: string, rows: Given[]): Promise<void> {
    if (rows.length === 0) return;
    await store.db
      .insertInto('workspaces')
      .values(
        rows.map((row) => ({
          id: row.id,
          organization_id: organizationId,
          name: row.name,
          name_folded: foldForSearch(row.name),
          desired_name: null,
          status: 'active' as const,
          lifecycle: 'live' as const,
          gen: 1,
          name_gen: 1,
          name_settled_at: row.createdAt,
          token_gen: 1,
          created_at: row.createdAt,
          updated_at: row.createdAt,
          deleted_at: null,
        })),
      )
      .execute();
  }

  async function expected(organizationId: string, part: string, status?: 'active' | 'inactive'): Promise<string[]> {
    const rows = await store.db
      .selectFrom('workspaces')
      .select(['id', 'name_folded', 'status'])
      .where('organization_id', '=', organizationId)
      .where('lifecycle', '<>', 'deleted')
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .execute();
    return rows
      .filter((row) => row.name_folded.includes(foldForSearch(part)) && (!status || row.status === status))
      .map(({ id }) => id);
  }

  async function found(
    organizationId: string,
    part: string,
    limit: number,
    status?: 'active' | 'inactive',
  ): Promise<string[]> {
    const ids: string[] = [];
    let after: { createdAt: number; id: string } | undefined;
    for (;;) {
      const page = await searchWorkspaces(store.db, organizationId, part, { status, after }, limit);
      ids.push(...page.map(({ id }) => id));
      const last = page.at(-1);
      if (!last || page.length < limit) return ids;
      after = { createdAt: last.created_at, id: last.id };
    }
  }

  it('gives what looking at every name would, after any changes', async () => {
    const other = await newOrganization();
    await insert(other, [{ id: idFrom('00000000'), name: letters.join(''), createdAt: 1_700_000_000_000 }]);
    await fc.assert(
      fc.asyncProperty(
        fc.array(given, { maxLength: 15 }),
        fc.array(change, { maxLength: 6 }),
        fc.array(text({ minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 4 }),
        async (some, changes, parts, limit) => {
          const organizationId = await newOrganization();
          const rows = some.map(({ start, ...rest }) => ({ id: idFrom(start), ...rest }));
          await insert(organizationId, rows);
          const kept = rows.map(({ id }) => id);
          for (const { kind, which, name } of changes) {
            const id = kept[which % kept.length];
            if (id === undefined) break;
            if (kind === 'rename') await workspaces.applyName(store.db, organizationId, id, name);
            if (kind === 'deactivate') await workspaces.recordStatus(store.db, organizationId, id, 'inactive');
            if (kind === 'deleting') await workspaces.recordDeleting(store.db, organizationId, id);
            if (kind === 'delete') {
              await workspaces.recordDeleted(store.db, organizationId, id);
              kept.splice(kept.indexOf(id), 1);
            }
          }
          // Also parts that are surely there.
          const ofNames = rows.slice(0, 2).map((row) => [...row.name].slice(-4).join(''));
          for (const part of [...parts, ...ofNames]) {
            expect(await found(organizationId, part, limit)).toEqual(await expected(organizationId, part));
            expect(await found(organizationId, part, limit, 'active')).toEqual(
              await expected(organizationId, part, 'active'),
            );
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('finds what lies far back in the list, and what few or many have', async () => {
    const organizationId = await newOrganization();
    const rows = Array.from({ length: 3_000 }, (_, i) => ({
      id: systemRuntime.newId(),
      name: `${i === 5 ? 'Zyzzyva' : i < 1_500 ? 'Old' : 'New'} ${i % 7 === 0 ? 'Quartz' : 'Feldspar'} ${i}`,
      createdAt: 1_700_000_000_000 + Math.floor(i / 3),
    }));
    for (let from = 0; from < rows.length; from += 500) await insert(organizationId, rows.slice(from, from + 500));
    for (const part of [
      'zyzzyva',
      'old',
      'old q',
      'quartz',
      'feldspar',
      'quartz feldspar',
      'q',
      'zy',
      'qq',
      '14',
      'x',
    ]) {
      expect(await found(organizationId, part, 100), part).toEqual(await expected(organizationId, part));
    }
  });

  it('knows the workspaces of a database that was there before', async () => {
    const organizationId = await newOrganization();
    const id = systemRuntime.newId();
    await insert(organizationId, [{ id, name: 'Harbor Analytics', createdAt: 1_700_000_000_000 }]);
    if (kind === 'postgres') {
      await sql`alter table workspaces drop column name_parts`.execute(store.db);
      await sql`drop function name_parts`.execute(store.db);
    } else {
      await sql`drop table workspace_names`.execute(store.db);
      await sql`drop trigger workspaces_named`.execute(store.db);
      await sql`drop trigger workspaces_renamed`.execute(store.db);
    }
    await sql`delete from migrations where name = '0005-name-parts'`.execute(store.db);
    expect(await migrate(store)).toEqual(['0005-name-parts']);
    expect(await found(organizationId, 'bor ana', 10)).toEqual([id]);
  });
});
