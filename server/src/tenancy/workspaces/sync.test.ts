import { expect } from 'vitest';
import type { TestApp } from '../../../test/support/app.ts';
import { describeInTurns } from '../../../test/support/databases.ts';
import {
  answering,
  type FaultyPlatform,
  isList,
  isRename,
  lateApply,
  unreachable,
  useFaultyPlatform,
} from '../../../test/support/faults.ts';

describeInTurns('synchronizing with the platform', (kind, it) => {
  let test: TestApp;
  let faulty: FaultyPlatform;

  useFaultyPlatform(kind, (fresh) => {
    ({ test, faulty } = fresh);
  });

  const sync = () => test.request('POST', '/api/v1/workspaces/sync');
  const make = async (name: string) => {
    const { body } = await test.platform('POST', '/workspaces', { name, organizationId: test.organizationId });
    return body.workspaceId as string;
  };
  const makeMany = async (count: number) => {
    const ids: string[] = [];
    for (let i = 0; i < count; i++) ids.push(await make(`imported-${i}`));
    return ids;
  };

  it('records what is missing, page by page, and says which', async () => {
    const ids = await makeMany(205);
    const { body } = await sync();
    expect(body).toMatchObject({ total_count: 205, created_count: 205 });
    expect(new Set(body['created_workspace IDs'])).toEqual(new Set(ids));
    expect((await sync()).body).toEqual({ total_count: 205, created_count: 0, 'created_workspace IDs': [] });
  });

  it('keeps what it has when a page fails, and continues from there on a retry', async () => {
    await makeMany(250);
    const restore = faulty.rule(answering((request) => isList(request) && request.path.includes('offset=180'), 500));
    const answer = await sync();
    expect([answer.status, answer.headers['x-inlay-error']]).toEqual([502, 'sync_stopped']);
    expect(answer.headers['retry-after']).toBe('5');
    restore();
    expect((await sync()).body).toMatchObject({ total_count: 250, created_count: 60 });
  });

  it('passes on when a platform that throttles may be asked again', async () => {
    await makeMany(1);
    faulty.rule(answering(isList, 429, '{}', { 'retry-after': '17' }));
    const answer = await sync();
    expect(answer.status).toBe(502);
    expect(answer.headers['retry-after']).toBe('17');
  });

  it('shows a new name given on the platform, and lets both names lead there', async () => {
    const id = await test.workspaceId('was');
    await test.platform('PATCH', `/workspaces/${id}`, { name: 'is' });
    await sync();
    expect((await test.request('GET', `/api/v1/workspaces/${id}`)).body.name).toBe('is');
    expect(await test.workspaceId('is')).toBe(id);
    expect(await test.workspaceId('was')).toBe(id);
  });

  it('does not undo a rename of ours that the platform has not received', async () => {
    const id = await test.workspaceId('plain');
    const restore = faulty.rule(unreachable((request) => request.method === 'PATCH'));
    expect((await test.request('PUT', `/api/v1/workspaces/${id}`, { body: { name: 'fancy' } })).status).toBe(503);
    await sync();
    restore();
    await test.app.store.db.updateTable('operations').set({ next_at: 0 }).execute();
    await test.app.workers.reconciler.pass();
    expect((await test.request('GET', `/api/v1/workspaces/${id}`)).body.name).toBe('fancy');
  });

  it('does not take an old name for a new one when ours is asserted again while the sync reads', async () => {
    const id = await test.workspaceId('plain');
    const rename = (name: string) => test.request('PUT', `/api/v1/workspaces/${id}`, { body: { name } });
    const late = lateApply(isRename);
    const restore = faulty.rule(late.rule);
    expect((await rename('old')).status).toBe(504);
    restore();
    expect((await rename('new')).status).toBe(200);
    await late.apply();
    // The rename was long ago; only its assertion is left.
    const { db } = test.app.store;
    await db
      .updateTable('workspaces')
      .set((row) => ({ updated_at: row('updated_at', '-', 600_000) }))
      .execute();
    faulty.rule(async (request, forward) => {
      if (!isList(request)) return undefined;
      const answer = await forward();
      expect(answer.text).toContain('"old"');
      await db.updateTable('operations').set({ next_at: 0, unsettled_until: 0 }).execute();
      await test.app.workers.reconciler.pass();
      return answer;
    });
    await sync();
    expect((await test.platform('GET', `/workspaces/${id}`)).body.name).toBe('new');
    expect((await test.request('GET', `/api/v1/workspaces/${id}`)).body.name).toBe('new');
  });

  it('keeps all workspaces with the same name; the first one known has the name', async () => {
    const id = await test.workspaceId('same');
    await make('same');
    await make('same');
    expect((await sync()).body).toMatchObject({ total_count: 3, created_count: 2 });
    expect((await test.request('GET', '/api/v1/workspaces?name_contains=same')).body.data).toHaveLength(3);
    expect(await test.workspaceId('same')).toBe(id);
  });

  it('may run several times at once', async () => {
    await makeMany(120);
    const answers = await Promise.all([sync(), sync(), sync(), test.workspaceId('imported-7')]);
    expect(answers.slice(0, 3).map((answer) => (answer as { status: number }).status)).toEqual([200, 200, 200]);
    expect((await test.request('GET', '/api/v1/workspaces/stats')).body.total_count).toBe(120);
  });

  it('answers 502 when the platform rejects the credentials', async () => {
    faulty.rule(answering(isList, 403));
    const answer = await sync();
    expect([answer.status, answer.headers['x-inlay-error']]).toEqual([502, 'platform_credentials_rejected']);
  });
});
