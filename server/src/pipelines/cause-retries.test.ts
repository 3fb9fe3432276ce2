/** Trying all connections again that fail for one reason. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addTenant } from '../../test/security/support.ts';
import { startTestApp, type TestApp } from '../../test/support/app.ts';
import { describeOnOneDatabase } from '../../test/support/databases.ts';
import { type FaultyPlatform, faultyPlatform, unreachable } from '../../test/support/faults.ts';
import { type Customer, customer, makeConnectionTemplate, makeSourceTemplate } from '../../test/support/pipelines.ts';

const cause = 'c'.repeat(32);
const path = '/api/v1/integrations/causes/retry';

describeOnOneDatabase('Trying a cause again', (kind) => {
  let test: TestApp;
  let faulty: FaultyPlatform;
  let customers: Customer[];
  beforeAll(async () => {
    faulty = faultyPlatform();
    test = await startTestApp(kind, { overrides: { wrapTransport: faulty.wrapTransport } });
  });
  afterAll(() => test.stop());

  const retry = async (body: object = {}) => {
    const answer = await test.request('POST', path, { body: { cause, ...body } });
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };

  it('stops where the platform does not answer, and begins anew with the same cursor', async () => {
    const template = await makeSourceTemplate(test);
    await makeConnectionTemplate(test);
    customers = [];
    for (const name of ['a', 'b', 'c']) {
      const each = await customer(test, name);
      await each.settled(await each.connect(template));
      customers.push(each);
    }
    await test.app.store.db.updateTable('connections').set({ cause }).execute();
    const restore = faulty.rule(unreachable(({ method, path }) => method === 'POST' && path.endsWith('/jobs')));
    const stopped = await retry({ limit: 1 });
    expect(stopped).toMatchObject({ started: [], next_cursor: null, stopped_by: 'platform_does_not_answer' });
    restore();
  });

  it('starts each sync once, a bounded number with one request, and names what was not started and why', async () => {
    const [, , paused] = customers as [Customer, Customer, Customer];
    const deactivated = await test.request('PUT', `/api/v1/workspaces/${paused.workspaceId}`, {
      body: { status: 'inactive' },
    });
    expect(deactivated.status, deactivated.text).toBe(200);
    await test.app.store.db.updateTable('connections').set({ cause }).execute();
    const first = await retry({ limit: 1 });
    expect(first.started).toEqual([
      {
        workspace_id: customers[0]?.workspaceId,
        workspace_name: 'a',
        connection_id: expect.any(String),
        job_id: expect.any(String),
      },
    ]);
    const rest = await retry({ cursor: first.next_cursor });
    expect(rest.started).toHaveLength(1);
    expect(rest.not_started).toMatchObject([{ workspace_id: paused.workspaceId, code: 'workspace_inactive' }]);
    expect([rest.next_cursor, rest.stopped_by]).toEqual([null, null]);
    // The watch of jobs sees that the syncs that run have not failed, and forgets the cause that was set by hand.
    const again = async () => {
      await test.app.store.db.updateTable('connections').set({ cause }).execute();
      const { started, not_started } = await retry();
      expect(started).toEqual([]);
      return not_started.map(({ code }: { code: string }) => code);
    };
    await expect.poll(again).toEqual(['sync_already_running', 'sync_already_running', 'workspace_inactive']);
  });

  it('touches nothing of another organization, and finds nothing for an unknown cause', async () => {
    const other = await addTenant(test, 'other');
    const nothing = { started: [], not_started: [], next_cursor: null, stopped_by: null };
    expect((await other.request('POST', path, { body: { cause } })).body).toEqual(nothing);
    expect(await retry({ cause: 'd'.repeat(32) })).toEqual(nothing);
    expect((await test.request('POST', path, { body: {} })).status).toBe(422);
  });
});
