import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isLongRun } from '../../../scripts/long-run.ts';
import {
  fillWorkspace,
  publicUrl,
  type RunningPlatform,
  startPlatform,
  testOnStores as test,
} from '../../test/start-platform.ts';

const errorIdOnly = { errorId: expect.any(String) };
const US = '645a183f-b12b-4c6e-8ad3-99e165603450';
const EU = 'b9e48d61-f082-4a14-a8d0-799a907938cb';

async function create({ call }: RunningPlatform, name: string, more: object = {}): Promise<string> {
  return (await call('POST', '/workspaces', { name, ...more })).body.workspaceId;
}

async function names({ call }: RunningPlatform, query: string): Promise<string[]> {
  return (await call('GET', `/workspaces${query}`)).body.data.map(({ name }: { name: string }) => name);
}

describe('creating a workspace', () => {
  test('answers 200 with the whole workspace', async () => {
    const organizationId = randomUUID();
    const { call } = await startPlatform();
    const reply = await call('POST', '/workspaces', { name: 'Acme', organizationId, regionId: EU });
    expect(reply).toEqual({
      status: 200,
      body: {
        workspaceId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: 'Acme',
        dataResidency: 'eu',
        notifications: {
          failure: { email: { enabled: true } },
          success: { email: { enabled: false } },
          connectionUpdate: { email: { enabled: true } },
          connectionUpdateActionRequired: { email: { enabled: true } },
          syncDisabled: { email: { enabled: true } },
          syncDisabledWarning: { email: { enabled: true } },
        },
        organizationId,
        createdAt: Date.UTC(2030, 0, 1) / 1000,
      },
    });
    expect(await call('GET', `/workspaces/${reply.body.workspaceId}`)).toEqual(reply);
    expect(await call('GET', `/workspaces/${reply.body.workspaceId.toUpperCase()}`)).toEqual(reply);
  });

  test('puts it into the US and the default organization unless specified', async () => {
    const defaultOrganizationId = randomUUID();
    const { call } = await startPlatform({ defaultOrganizationId });
    const { body } = await call('POST', '/workspaces', { name: 'x' });
    expect(body).toMatchObject({ dataResidency: 'us', organizationId: defaultOrganizationId });
    expect((await call('POST', '/workspaces', { name: 'x', regionId: US })).body.dataResidency).toBe('us');
  });

  test('in an unknown region is forbidden', async () => {
    const { call } = await startPlatform();
    const reply = await call('POST', '/workspaces', { name: 'x', regionId: randomUUID() });
    expect(reply).toMatchObject({ status: 403, body: { title: 'forbidden', data: { message: expect.any(String) } } });
    expect((await call('GET', '/organizations')).body.data).toEqual([]);
  });

  test('allows equal names', async () => {
    const running = await startPlatform();
    const [one, two] = [await create(running, 'same'), await create(running, 'same')];
    expect(one).not.toBe(two);
    expect(await names(running, '?name=same')).toEqual(['same', 'same']);
  });

  test('sets notifications over the defaults and drops what it does not know', async () => {
    const { call } = await startPlatform();
    const notifications = { success: { webhook: { enabled: true, url: 'https://a.test' } }, other: {} };
    const { body } = await call('POST', '/workspaces', { name: 'x', notifications });
    expect(body.notifications.success).toEqual({
      email: { enabled: false },
      webhook: { enabled: true, url: 'https://a.test' },
    });
    expect(body.notifications.failure).toEqual({ email: { enabled: true } });
    expect(body.notifications).not.toHaveProperty('other');
  });

  it.each([
    [{}],
    [{ name: '' }],
    [{ name: 5 }],
    [{ name: null }],
    [{ name: 'half a pair \ud800' }],
    [{ name: 'cut off here \0 by the driver' }],
    [{ name: 'x', organizationId: 'mine' }],
    [{ name: 'x', regionId: 'us' }],
    [{ name: 'x', notifications: { failure: true } }],
  ])('refuses %j with 400', async (body) => {
    const { call } = await startPlatform();
    expect(await call('POST', '/workspaces', body)).toEqual({ status: 400, body: errorIdOnly });
  });

  test('keeps any name exactly as it was sent, and finds it in either Unicode form', async () => {
    const running = await startPlatform();
    const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }).filter((text) => !text.includes('\0'));
    await fc.assert(
      fc.asyncProperty(name, async (text) => {
        const workspaceId = await create(running, text);
        expect((await running.call('GET', `/workspaces/${workspaceId}`)).body.name).toBe(text);
        for (const form of ['NFC', 'NFD']) {
          const query = new URLSearchParams({ name: text.normalize(form), workspaceIds: workspaceId });
          expect(await names(running, `?${query}`)).toEqual([text]);
        }
      }),
      { numRuns: isLongRun ? 60 : 25 },
    );
  });
});

describe('listing workspaces', () => {
  test('shows 20 in order of creation, and links around the page', async () => {
    const running = await startPlatform();
    for (let i = 0; i < 21; i++) await create(running, `w${i}`);
    const first = (await running.call('GET', '/workspaces')).body;
    expect(first.data.map(({ name }: { name: string }) => name)).toEqual(Array.from({ length: 20 }, (_, i) => `w${i}`));
    expect(first.next).toBe(`${publicUrl}/workspaces?includeDeleted=false&limit=20&offset=20`);
    expect(first.previous).toBe('');

    const last = (await running.call('GET', '/workspaces?offset=20')).body;
    expect(last.data).toHaveLength(1);
    expect(last.next).toBe(`${publicUrl}/workspaces?includeDeleted=false&limit=20&offset=40`);
    expect(last.previous).toBe(`${publicUrl}/workspaces?includeDeleted=false&limit=20&offset=0`);

    const beyond = (await running.call('GET', '/workspaces?offset=45&limit=10')).body;
    expect(beyond).toEqual({
      data: [],
      next: '',
      previous: `${publicUrl}/workspaces?includeDeleted=false&limit=10&offset=35`,
    });
  });

  test('pages of any size, followed by their links, show every workspace once', async () => {
    const running = await startPlatform();
    const all: string[] = [];
    for (let i = 0; i < 23; i++) all.push(await create(running, `w${i}`));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 100 }), async (limit) => {
        const seen: string[] = [];
        let path = `/workspaces?limit=${limit}`;
        while (path !== '') {
          const { data, next } = (await running.call('GET', path)).body;
          seen.push(...data.map(({ workspaceId }: { workspaceId: string }) => workspaceId));
          path = next.replace(publicUrl, '');
        }
        expect(seen).toEqual(all);
      }),
      { numRuns: 15 },
    );
  });

  it.each([
    'limit=0',
    'limit=101',
    'limit=x',
    'limit=',
    'offset=-1',
    'limit=1.5',
    'includeDeleted=maybe',
    'workspaceIds=',
    'workspaceIds=x',
  ])('refuses %s with 400', async (query) => {
    const { call } = await startPlatform();
    expect(await call('GET', `/workspaces?${query}`)).toEqual({ status: 400, body: errorIdOnly });
  });

  test('takes workspaceIds repeated or joined, in any letter case, and carries them into the links', async () => {
    const running = await startPlatform();
    const [a, b] = [await create(running, 'a'), await create(running, 'b')];
    await create(running, 'c');
    expect(await names(running, `?workspaceIds=${a}&workspaceIds=${b}`)).toEqual(['a', 'b']);
    expect(await names(running, `?workspaceIds=${b.toUpperCase()},${a}`)).toEqual(['a', 'b']);
    expect(await names(running, `?workspaceIds=${randomUUID()}`)).toEqual([]);
    const { next } = (await running.call('GET', `/workspaces?workspaceIds=${a},${b}&limit=1`)).body;
    expect(next).toBe(`${publicUrl}/workspaces?includeDeleted=false&workspaceIds=${a},${b}&limit=1&offset=1`);
  });

  test('filters by exact name: no prefix, no other case, no wildcard', async () => {
    const running = await startPlatform();
    for (const name of ['acme', 'Acme', 'acme ', 'acme%', 'é, ü & ?']) await create(running, name);
    expect(await names(running, '?name=acme')).toEqual(['acme']);
    expect(await names(running, '?name=acme%25')).toEqual(['acme%']);
    expect(await names(running, '?name=')).toEqual([]);
    const { data, next } = (await running.call('GET', `/workspaces?name=${encodeURIComponent('é, ü & ?')}`)).body;
    expect(data).toHaveLength(1);
    expect(new URL(next).searchParams.get('name')).toBe('é, ü & ?');
  });

  test('filters by organization', async () => {
    const running = await startPlatform();
    const [mine, yours] = [randomUUID(), randomUUID()];
    await create(running, 'a', { organizationId: mine });
    await create(running, 'a', { organizationId: yours });
    const { data, next } = (await running.call('GET', `/workspaces?organizationId=${mine.toUpperCase()}&name=a`)).body;
    expect(data.map(({ organizationId }: { organizationId: string }) => organizationId)).toEqual([mine]);
    expect(next).toContain('organizationId=');
  });

  test('shows a deleted workspace only where it is named and deleted ones are requested', async () => {
    const running = await startPlatform();
    const gone = await create(running, 'gone');
    await create(running, 'here');
    await running.call('DELETE', `/workspaces/${gone}`);
    expect(await names(running, '')).toEqual(['here']);
    expect(await names(running, '?includeDeleted=true')).toEqual(['here']);
    expect(await names(running, '?name=gone')).toEqual([]);
    expect(await names(running, `?workspaceIds=${gone}`)).toEqual([]);
    expect(await names(running, `?workspaceIds=${gone}&includeDeleted=true`)).toEqual(['gone']);
  });
});

describe('changing a workspace', () => {
  test('changes only what is given', async () => {
    const running = await startPlatform();
    const { call } = running;
    const path = `/workspaces/${await create(running, 'old')}`;
    const before = (await call('GET', path)).body;
    expect(await call('PATCH', path, { name: 'new' })).toEqual({ status: 200, body: { ...before, name: 'new' } });
    expect(await names(running, '?name=old')).toEqual([]);
    expect(await names(running, '?name=new')).toEqual(['new']);
    await call('PATCH', path, { regionId: EU });
    const { body } = await call('PATCH', path, { notifications: { failure: { email: { enabled: false } } } });
    expect(body).toMatchObject({ name: 'new', dataResidency: 'eu', createdAt: before.createdAt });
    expect(body.notifications).toEqual({ ...before.notifications, failure: { email: { enabled: false } } });
    expect((await call('GET', path)).body).toEqual(body);
  });

  test('may take a name another workspace has', async () => {
    const running = await startPlatform();
    await create(running, 'taken');
    const path = `/workspaces/${await create(running, 'other')}`;
    expect((await running.call('PATCH', path, { name: 'taken' })).status).toBe(200);
  });

  test('refuses an empty name and an unknown region, and leaves it as it was', async () => {
    const running = await startPlatform();
    const path = `/workspaces/${await create(running, 'x')}`;
    expect(await running.call('PATCH', path, { name: '' })).toEqual({ status: 400, body: errorIdOnly });
    expect((await running.call('PATCH', path, { name: 'y', regionId: randomUUID() })).status).toBe(403);
    expect((await running.call('GET', path)).body.name).toBe('x');
  });
});

describe('deleting a workspace', () => {
  test('takes everything inside along at one time, and nothing else', async () => {
    const running = await startPlatform();
    const { call, clock, platform } = running;
    const gone = await fillWorkspace(running);
    const kept = await fillWorkspace(running);
    clock.time += 1000;
    expect(await call('DELETE', `/workspaces/${gone.workspaceId}`)).toEqual({ status: 204, body: undefined });

    for (const [ids, status] of [
      [gone, 404],
      [kept, 200],
    ] as const) {
      expect((await call('GET', `/workspaces/${ids.workspaceId}`)).status).toBe(status);
      expect((await call('GET', `/sources/${ids.sourceId}`)).status).toBe(status);
      expect((await call('GET', `/destinations/${ids.destinationId}`)).status).toBe(status);
      expect((await call('GET', `/connections/${ids.connectionId}`)).status).toBe(status);
    }
    const deleted = `?workspaceIds=${gone.workspaceId}&includeDeleted=true`;
    expect((await call('GET', `/connections${deleted}`)).body.data[0].status).toBe('deprecated');
    expect((await call('GET', `/sources${deleted}`)).body.data).toHaveLength(1);
    expect((await call('GET', '/sources?includeDeleted=true')).body.data).toHaveLength(1);

    for (const table of ['workspaces', 'connectors', 'connections'] as const) {
      const rows = await platform.store.db.selectFrom(table).select('deleted_at').orderBy('seq').execute();
      const times = new Set(rows.map(({ deleted_at }) => deleted_at));
      expect(times).toEqual(new Set([clock.time, null]));
    }
  });

  test('a second time, reading, changing or filling it is 404', async () => {
    const running = await startPlatform();
    const { call } = running;
    const workspaceId = await create(running, 'x');
    await call('DELETE', `/workspaces/${workspaceId}`);
    const notFound = {
      status: 404,
      body: { title: 'resource-not-found', data: { resourceType: 'workspace', resourceId: workspaceId } },
    };
    expect(await call('DELETE', `/workspaces/${workspaceId}`)).toMatchObject(notFound);
    expect(await call('GET', `/workspaces/${workspaceId}`)).toMatchObject(notFound);
    expect(await call('PATCH', `/workspaces/${workspaceId}`, { name: 'y' })).toMatchObject(notFound);
    const source = { name: 's', workspaceId, configuration: { sourceType: 'sample-data', count: 1 } };
    expect(await call('POST', '/sources', source)).toMatchObject(notFound);
  });
});

test('an organization is there from its first workspace on, once', async () => {
  const running = await startPlatform();
  const organizationId = randomUUID();
  expect((await running.call('GET', '/organizations')).body).toEqual({ data: [] });
  const workspaceId = await create(running, 'a', { organizationId });
  await create(running, 'b', { organizationId: organizationId.toUpperCase() });
  await running.call('DELETE', `/workspaces/${workspaceId}`);
  expect(await running.call('GET', '/organizations')).toEqual({
    status: 200,
    body: { data: [{ organizationId, organizationName: organizationId, email: '' }] },
  });
});
