/**
 * The platform is down while clients keep sending requests: known workspaces do not notice, new ones wait, nothing is
 * created twice.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, describeOnOneDatabase, type TestDatabase } from '../support/databases.ts';
import {
  byId,
  call,
  eventually,
  type HostedPlatform,
  listWorkspaces,
  pauseOfClient,
  type Reply,
  requestToken,
  startHostedPlatform,
  untilNothingIsOpen,
  workspaceOf,
} from '../support/deployment.ts';
import { isCreate } from '../support/platform-proxy.ts';
import { type Service, startService } from '../support/service.ts';

const unavailable = [503, 'platform_unavailable'];
/** How often a breaker that is open lets a probe through. */
const probeEveryMs = 5_000;
const known = Array.from({ length: 10 }, (_, i) => `known ${i}`);

describeOnOneDatabase('a platform that goes away under load', (kind) => {
  let database: TestDatabase;
  let platform: HostedPlatform;
  let service: Service;
  const ids = new Map<string, string>();

  beforeAll(async () => {
    [database, platform] = await Promise.all([createTestDatabase(kind, { migrated: true }), startHostedPlatform()]);
    service = await startService({
      dataDir: database.dataDir,
      env: { ...(database.url ? { INLAY_DATABASE_URL: database.url } : {}), ...platform.env },
    });
    for (const name of [...known, 'renamed', 'deactivated', 'deleted']) {
      ids.set(name, workspaceOf((await requestToken(service, name)).body.token));
    }
  });
  afterAll(async () => {
    await service?.stop();
    await platform?.stop();
    await database?.drop();
  });

  it('affects only requests that need it, and everything is finished after it is back', async () => {
    const { proxy } = platform;
    const idOf = (name: string) => ids.get(name) as string;
    await platform.makeConnections(idOf('deactivated'), 2);

    let stop = false;
    const refusals: string[] = [];
    let served = 0;
    const load = Array.from({ length: 4 }, async (_, worker) => {
      for (let i = worker; !stop; i++) {
        const { status, body } = await requestToken(service, known[i % known.length] as string);
        if (status === 200) served++;
        else refusals.push(`${status} ${JSON.stringify(body)}`);
        await pauseOfClient();
      }
    });

    // The platform goes away in the middle of creates: these were applied, but their answers are lost.
    const interrupted = Array.from({ length: 8 }, (_, i) => `interrupted ${i}`);
    let letGo = () => {};
    const gone = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    let waiting = 0;
    proxy.script = async (request, phase) => {
      if (!isCreate(request) || phase !== 'applied') return;
      waiting++;
      await gone;
      return 'drop';
    };
    const lost = interrupted.map((name) => requestToken(service, name));
    await eventually('the creates are under way', () => waiting === interrupted.length);
    await proxy.goDown();
    letGo();
    for (const { status, code } of await Promise.all(lost)) {
      expect([status, code]).toEqual([502, 'creation_unconfirmed']);
    }
    proxy.script = undefined;

    // Refused connections, more than enough for the breaker to open.
    const fresh = Array.from({ length: 25 }, (_, i) => `new ${i}`);
    for (const { status, code } of await Promise.all(fresh.map((name) => requestToken(service, name)))) {
      expect([status, code]).toEqual(unavailable);
    }
    const change = (name: string, body: object) => call(service, 'PUT', `/api/v1/workspaces/${idOf(name)}`, body);
    const recorded: Reply[] = await Promise.all([
      change('renamed', { name: 'renamed after' }),
      change('deactivated', { status: 'inactive' }),
      call(service, 'DELETE', `/api/v1/workspaces/${idOf('deleted')}`),
    ]);
    expect(recorded.map(({ status }) => status)).toEqual([503, 503, 503]);
    expect(recorded.map(({ code }) => code)).toEqual(['rename_recorded', 'status_recorded', 'deletion_recorded']);

    // The platform can be reached again but refuses everything. Now the test can count what arrives: only the probes.
    proxy.script = (_request, phase) => (phase === 'arrived' ? { status: 503 } : undefined);
    await proxy.comeBack();
    const [arrivedBefore, startedAt] = [proxy.arrived.length, performance.now()];
    for (let round = 0; round < 8; round++) {
      for (const { status, code } of await Promise.all(fresh.map((name) => requestToken(service, name)))) {
        expect([status, code]).toEqual(unavailable);
      }
    }
    const probes = 1 + Math.floor((performance.now() - startedAt) / probeEveryMs);
    expect(proxy.arrived.length - arrivedBefore).toBeLessThanOrEqual(probes);
    for (const name of fresh) expect(proxy.createsSent(name)).toBe(0);

    const servedInOutage = served;
    await eventually('clients of known workspaces are still served', () => served > servedInOutage + 20);
    proxy.script = undefined;
    await untilNothingIsOpen(service);
    stop = true;
    await Promise.all(load);
    expect(refusals).toEqual([]);

    // Names that were refused can be created now; unconfirmed workspaces are found, not made again.
    await eventually(
      'new workspaces can be created',
      async () => (await requestToken(service, 'new 0')).status === 200,
    );
    for (const name of [...fresh, ...interrupted]) {
      expect([name, (await requestToken(service, name)).status]).toEqual([name, 200]);
      expect([name, proxy.createsSent(name), proxy.createsApplied(name)]).toEqual([name, 1, 1]);
    }
    const [here, there] = await Promise.all([listWorkspaces(service), platform.workspaces()]);
    expect(byId(here)).toEqual(byId(there));
    expect(there.map(({ name }) => name).sort()).toEqual(
      [...known, ...fresh, ...interrupted, 'renamed after', 'deactivated'].sort(),
    );
    expect(here.find(({ name }) => name === 'deactivated')?.status).toBe('inactive');
    const { data } = (await platform.request('GET', `/connections?workspaceIds=${idOf('deactivated')}`)).body;
    expect(data.map(({ status }: { status: string }) => status)).toEqual(['inactive', 'inactive']);
  });
});
