/** Denormalized counts of workspaces. After any change, they equal the result of counting again. */
import fc from 'fast-check';
import { sql } from 'kysely';
import { beforeEach, expect, it } from 'vitest';
import { describeOnBothDatabases } from '../../../test/support/databases.ts';
import { openTestStore } from '../../../test/support/test-store.ts';
import { migrate } from '../../kernel/db/migrations.ts';
import type { Store } from '../../kernel/db/open.ts';
import { systemRuntime } from '../../kernel/runtime.ts';
import { createOrganization } from '../organizations/organizations.ts';
import * as workspaces from './workspaces.store.ts';

const change = fc.record({
  kind: fc.constantFrom('add', 'activate', 'deactivate', 'deleting', 'delete', 'rename'),
  which: fc.nat(),
  isUndone: fc.boolean(),
});

describeOnBothDatabases('Counts of workspaces', (kind) => {
  let store: Store;
  beforeEach(async () => {
    store = await openTestStore(kind);
  });

  const newOrganization = async () => (await createOrganization(store, systemRuntime, { name: 'some' })).id;
  const newWorkspaces = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ id: systemRuntime.newId(), name: `name ${i}` }));

  async function recount(organizationId: string) {
    const rows = await store.db
      .selectFrom('workspaces')
      .select('status')
      .where('organization_id', '=', organizationId)
      .where('lifecycle', '<>', 'deleted')
      .execute();
    const withStatus = (status: string) => rows.filter((row) => row.status === status).length;
    return { active: withStatus('active'), inactive: withStatus('inactive') };
  }

  it('are right after any changes, done or undone', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
        const organizationId = await newOrganization();
        const known = newWorkspaces(3);
        await workspaces.insertMissing(store.db, organizationId, known);
        for (const { kind, which, isUndone } of changes) {
          const id = known[which % known.length]?.id ?? '';
          const done = store.transaction(async (tx) => {
            if (kind === 'add') {
              const added = newWorkspaces(which % 3);
              // Those that are known are not counted again.
              await workspaces.insertMissing(tx, organizationId, [...added, ...known]);
              if (!isUndone) known.push(...added);
            }
            if (kind === 'activate') await workspaces.recordStatus(tx, organizationId, id, 'active');
            if (kind === 'deactivate') await workspaces.recordStatus(tx, organizationId, id, 'inactive');
            if (kind === 'deleting') await workspaces.recordDeleting(tx, organizationId, id);
            if (kind === 'delete') await workspaces.recordDeleted(tx, organizationId, id);
            if (kind === 'rename') await workspaces.applyName(tx, organizationId, id, `renamed ${which}`);
            if (isUndone) throw new Error('undone');
          });
          await done.catch((error) => expect(error.message).toMatch(/^undone$|check/i));
          expect(await workspaces.countByStatus(store.db, organizationId)).toEqual(await recount(organizationId));
        }
      }),
      { numRuns: 30 },
    );
  });

  it('are right after many changes at once', async () => {
    const [one, other] = [await newOrganization(), await newOrganization()];
    await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        const organizationId = i % 4 === 0 ? other : one;
        const added = newWorkspaces(5);
        await store.transaction((tx) => workspaces.insertMissing(tx, organizationId, added));
        for (const { id } of added.slice(0, 2)) {
          await store.transaction((tx) => workspaces.recordStatus(tx, organizationId, id, 'inactive'));
        }
      }),
    );
    expect(await workspaces.countByStatus(store.db, one)).toEqual({ active: 45, inactive: 30 });
    expect(await workspaces.countByStatus(store.db, other)).toEqual({ active: 15, inactive: 10 });
  });

  it('include the workspaces of a database that was there before', async () => {
    const organizationId = await newOrganization();
    await workspaces.insertMissing(store.db, organizationId, newWorkspaces(4));
    await sql`drop table workspace_counts`.execute(store.db);
    await sql`drop trigger workspaces_added ${sql.raw(kind === 'postgres' ? 'on workspaces' : '')}`.execute(store.db);
    await sql`drop trigger workspaces_changed ${sql.raw(kind === 'postgres' ? 'on workspaces' : '')}`.execute(store.db);
    if (kind === 'postgres') {
      await sql`drop function count_added_workspaces`.execute(store.db);
      await sql`drop function count_changed_workspace`.execute(store.db);
    }
    await sql`delete from migrations where name = '0004-workspace-counts'`.execute(store.db);
    expect(await migrate(store)).toEqual(['0004-workspace-counts']);
    expect(await workspaces.countByStatus(store.db, organizationId)).toEqual({ active: 4, inactive: 0 });
  });
});
