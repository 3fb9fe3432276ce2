/** Pagination as a property: whatever happens between two pages, nobody is shown twice and nobody is left out. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isLongRun } from '../../../../scripts/long-run.ts';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { describeOnBothDatabases } from '../../../test/support/databases.ts';
import { systemRuntime } from '../../kernel/runtime.ts';
import { createOrganization } from '../organizations/organizations.ts';

const path = '/api/v1/workspaces';

interface Row {
  id: string;
  created_at: string;
}

/** `which` chooses among the workspaces that are there when the change happens. */
const change = fc.oneof(
  fc.record({ kind: fc.constant('create' as const) }),
  fc.record({ kind: fc.constantFrom('rename' as const, 'delete' as const, 'status' as const), which: fc.nat() }),
);
const scenario = fc.record({
  initial: fc.integer({ min: 0, max: 7 }),
  limit: fc.integer({ min: 1, max: 3 }),
  /** What happens after the first page, after the second, and so on. */
  changes: fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 5 }),
  status: fc.constantFrom(undefined, 'active'),
});

describeOnBothDatabases('Listing workspaces while they change', (kind) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp(kind);
  });
  afterAll(() => app.stop());

  it('A list of workspaces shows each one that was there throughout exactly once, newest first', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async ({ initial, limit, changes, status }) => {
        const organization = await createOrganization(app.app.store, systemRuntime, { name: 'of one run' });
        const { token } = await app.app.operatorTokens.create(organization.id, { name: 'of one run' });
        const request = (method: string, url: string, body?: object) => app.request(method, url, { token, body });
        const present: string[] = [];
        /** Never touched by a change that the filter could see. */
        const untouched = new Set<string>();
        let names = 0;

        async function create(): Promise<string> {
          const { body } = await request('POST', '/api/v1/embedded/scoped-token', {
            workspace_name: `name ${names++}`,
          });
          const info = await app.request('GET', '/api/v1/embedded/scoped-token/info', { token: body.token });
          const id = String(info.body['workspace ID']);
          present.push(id);
          return id;
        }
        for (let made = 0; made < initial; made++) untouched.add(await create());

        const seen: Row[] = [];
        const filter = status === undefined ? '' : `&status=${status}`;
        let next: string | null = `${path}?limit=${limit}${filter}`;
        for (let page = 0; next !== null; page++) {
          const { body } = await request('GET', next);
          expect(body.data.length).toBeLessThanOrEqual(limit);
          // A page that is not the last is full.
          if (body.next !== null) expect(body.data).toHaveLength(limit);
          seen.push(...body.data);
          next = body.next;
          for (const step of changes[page] ?? []) {
            if (step.kind === 'create') await create();
            else if (present.length > 0) {
              const id = present[step.which % present.length] as string;
              if (step.kind === 'rename') await request('PUT', `${path}/${id}`, { name: `name ${names++}` });
              if (step.kind === 'status') {
                const before = (await request('GET', `${path}/${id}`)).body.status;
                await request('PUT', `${path}/${id}`, { status: before === 'active' ? 'inactive' : 'active' });
                if (status !== undefined) untouched.delete(id);
              }
              if (step.kind === 'delete') {
                await request('DELETE', `${path}/${id}`);
                present.splice(present.indexOf(id), 1);
                untouched.delete(id);
              }
            }
          }
        }

        const ids = seen.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        expect(ids).toEqual(expect.arrayContaining([...untouched]));
        const keys = seen.map(({ created_at, id }) => `${created_at} ${id}`);
        expect(keys).toEqual(keys.toSorted().toReversed());
      }),
      { numRuns: isLongRun ? 12 : 3 },
    );
  });
});
