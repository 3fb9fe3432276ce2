/** Ten thousand workspaces on a hosted platform, read over HTTP. */

import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { type Answer, startTestApp } from './support/app.ts';
import { describeOnOneDatabase } from './support/databases.ts';
import { startHostedServer } from './support/hosted-server.ts';
import { virtualRuntime } from './support/virtual-time.ts';

const organizationId = '11111111-1111-4111-8111-111111111111';
const count = 10_000;

describeOnOneDatabase('a sync of thousands of workspaces', (kind) => {
  async function start() {
    const hosted = await startHostedServer();
    onTestFinished(() => hosted.stop());
    hosted.organizations = [organizationId];
    hosted.workspaces = Array.from({ length: count }, (_, i) => ({
      // IDs differ from the first digit on, like real ones; here no time passes that would separate them.
      workspaceId: `${((i * 2_654_435_761) % 2 ** 32).toString(16).padStart(8, '0')}-0000-4000-8000-${String(i).padStart(12, '0')}`,
      name: `customer ${i}`,
      organizationId,
    }));
    // Whatever is tried again is tried at once.
    const runtime = virtualRuntime(Date.now());
    const lines: { msg: string; found?: number; created?: number }[] = [];
    const test = await startTestApp(kind, {
      env: {
        INLAY_PLATFORM_URL: hosted.url,
        INLAY_PLATFORM_CLIENT_ID: 'id',
        INLAY_PLATFORM_CLIENT_SECRET: 'secret',
        INLAY_ORGANIZATION_ID: organizationId,
      },
      overrides: {
        runtime,
        log: pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) }),
      },
    });
    onTestFinished(() => test.stop());
    const sync = () => test.request('POST', '/api/v1/workspaces/sync');
    const progress = () => lines.filter(({ msg }) => msg === 'synchronizing workspaces').map(({ found }) => found);
    const total = async () => (await test.request('GET', '/api/v1/workspaces/stats')).body.total_count;
    return { hosted, runtime, test, sync, progress, total };
  }

  it('A sync of thousands of workspaces reads a few pages at a time, reports its progress, and imports each once', async () => {
    const { hosted, sync, progress, total } = await start();
    let underWay = 0;
    let most = 0;
    hosted.intercept = (request, response) => {
      if (!request.url?.includes('/workspaces?')) return false;
      most = Math.max(most, ++underWay);
      response.once('close', () => underWay--);
      return false;
    };
    const { status, body } = await sync();
    expect(status).toBe(200);
    expect(body).toMatchObject({ total_count: count, created_count: count });
    expect(new Set(body['created_workspace IDs']).size).toBe(count);
    expect(most).toBeLessThanOrEqual(4);
    expect(progress()).toHaveLength(count / 1_000);
    expect(await total()).toBe(count);
    expect((await sync()).body).toEqual({ total_count: count, created_count: 0, 'created_workspace IDs': [] });
  });

  it('A sync of thousands of workspaces keeps what it has when it is interrupted, and a retry imports the rest', async () => {
    const { hosted, runtime, test, sync, total } = await start();
    const failFrom =
      (first: number): typeof hosted.intercept =>
      (request, response) => {
        const offset = Number(/[?&]offset=(\d+)/.exec(request.url ?? '')?.[1] ?? 0);
        if (offset < first) return false;
        response.writeHead(503).end('<html>');
        return true;
      };
    // Pages requested ahead may still fail after a sync has ended, and open the breaker again.
    const syncUntil = async (isEnough: (answer: Answer) => boolean) => {
      for (let tries = 1; ; tries++) {
        runtime.advance(10_000);
        const answer = await sync();
        if (isEnough(answer) || tries === 20) return answer;
      }
    };
    const stopOf = ({ body }: Answer) => Number(/stopped after (\d+) workspaces\. Retry/.exec(body.detail)?.[1]);
    let before = 0;
    for (const first of [count / 4, count * 0.6]) {
      hosted.intercept = failFrom(first);
      const answer = await syncUntil((one) => stopOf(one) >= first);
      expect(answer.status).toBe(502);
      expect(stopOf(answer)).toBeGreaterThanOrEqual(first);
      expect(await total()).toBe(stopOf(answer));
      before = stopOf(answer);
    }
    hosted.intercept = () => false;
    const { body } = await syncUntil(({ status }) => status === 200);
    expect(body).toMatchObject({ total_count: count, created_count: count - before });
    expect(await total()).toBe(count);
    const unbound = test.app.store.db.selectFrom('name_claims').select('name').where('state', '=', 'creating');
    expect(await unbound.execute()).toEqual([]);
  });
});
