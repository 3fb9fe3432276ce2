import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type HostedServer, startHostedServer } from '../../../test/support/hosted-server.ts';
import { virtualRuntime } from '../../../test/support/virtual-time.ts';
import { createPlatformClient } from './platform-client.ts';
import type { PlatformPort } from './platform-port.ts';
import { httpTransport } from './transport.ts';

const ours = '11111111-1111-4111-8111-111111111111';
const theirs = '22222222-2222-4222-8222-222222222222';
const internal = 'POST /api/v1/workspaces/list_by_organization_id';

describe('listing the workspaces of a hosted platform', () => {
  let hosted: HostedServer;
  let platform: PlatformPort;
  let outcomes: string[];

  const start = async (basePath?: string) => {
    hosted = await startHostedServer(basePath);
    hosted.organizations = [ours];
    outcomes = [];
    platform = createPlatformClient({
      transport: httpTransport(hosted.url),
      credentials: { clientId: 'id', clientSecret: 'secret' },
      runtime: virtualRuntime(),
      onCall: ({ outcome }) => outcomes.push(outcome),
    });
  };
  const stop = async () => {
    await platform.close();
    await hosted.stop();
  };
  beforeEach(() => start());
  afterEach(() => stop());

  const add = (name: string, organizationId = ours) => {
    const workspaceId = `${organizationId.slice(0, 4)}-${hosted.workspaces.length}`;
    hosted.workspaces.push({ workspaceId, name, organizationId });
    return workspaceId;
  };
  const addMany = (count: number) => {
    for (let i = 0; i < count; i++) add(`many ${i}`);
  };
  const find = async (name: string) => (await platform.findWorkspacesByName(ours, name)).map(({ id }) => id);
  const all = async () => {
    const ids: string[] = [];
    for await (const page of platform.listWorkspaces(ours)) ids.push(...page.map(({ id }) => id));
    return ids;
  };
  const asked = (what: string) => hosted.requests.filter((request) => request === what).length;

  it('gives ten thousand, each once, though the listing shifts while it is read', async () => {
    addMany(10_000);
    let reads = 0;
    hosted.intercept = (request) => {
      // Something new at the front moves everything else by one.
      if (request.url?.includes('/workspaces?') && ++reads % 10 === 0) {
        hosted.workspaces.unshift({ workspaceId: `new-${reads}`, name: `new ${reads}`, organizationId: ours });
      }
      return false;
    };
    const ids = await all();
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !id.startsWith('new'))).toHaveLength(10_000);
  });

  it('asks a platform with a name filter for the name alone', async () => {
    hosted.honorsNameFilter = true;
    addMany(500);
    const id = add('wanted');
    hosted.requests.length = 0;
    expect(await find('wanted')).toEqual([id]);
    expect(asked('GET /api/public/v1/workspaces')).toBe(1);
    expect(asked(internal)).toBe(0);
  });

  it('asks the internal listing where there is no name filter, and finds exactly the name', async () => {
    hosted.internalListing = 'as it should';
    addMany(500);
    const id = add('Wanted');
    add('wanted');
    add('Wanted too');
    add('Wanted', theirs);
    hosted.workspaces.push({ workspaceId: 'gone', name: 'Wanted', organizationId: ours, tombstone: true });
    expect(await find('Wanted')).toEqual([id]);
    hosted.requests.length = 0;
    expect(await find('nowhere')).toEqual([]);
    expect(hosted.requests).toEqual([internal]);
  });

  it.each([
    ['Cafe\u0301 Royal', 'Café Royal', 'Royal'],
    ['Café Royal', 'Cafe\u0301 Royal', 'Royal'],
    ['\u212Aelvin', 'Kelvin', 'elvin'],
    ['100% \\_/', '100% \\_/', '100%'],
  ])('finds %j by %j, whatever form the platform keeps', async (kept, name, part) => {
    hosted.internalListing = 'as it should';
    add('another');
    const id = add(kept);
    expect(await find(name)).toEqual([id]);
    expect(hosted.nameParts).toEqual([part]);
  });

  it('reads all for a name that has no part to ask for', async () => {
    hosted.internalListing = 'as it should';
    add('another');
    const id = add('日本');
    expect(await find('日本')).toEqual([id]);
    expect(hosted.nameParts).toEqual([]);
  });

  it.each([
    [404, ''],
    [403, '{}'],
    [405, ''],
    [501, ''],
    [500, '{"errorId":"e"}'],
    [200, '<html>'],
    [200, '{"data":[]}'],
    [200, '{"workspaces":[{"workspaceId":"x","name":"says not whose"}]}'],
  ])(
    'reads all where the internal listing answers %i %s, after asking once and without a word',
    async (status, body) => {
      hosted.internalListing = { status, body };
      add('another');
      const id = add('wanted');
      expect(await find('wanted')).toEqual([id]);
      expect(await find('wanted')).toEqual([id]);
      expect(asked(internal)).toBe(1);
      expect(new Set(outcomes)).toEqual(new Set(['ok']));
    },
  );

  it('asks again for the internal listing after an answer that says nothing about it', async () => {
    hosted.internalListing = { status: 503, body: '' };
    add('another');
    const id = add('wanted');
    expect(await find('wanted')).toEqual([id]);
    hosted.internalListing = 'as it should';
    expect(await find('wanted')).toEqual([id]);
    expect(hosted.nameParts).toEqual(['wanted']);
  });

  it('goes another way when the internal listing is withdrawn', async () => {
    hosted.internalListing = 'as it should';
    add('another');
    const id = add('wanted');
    await find('wanted');
    hosted.internalListing = { status: 404, body: '' };
    await expect(find('wanted')).rejects.toMatchObject({ failure: 'unavailable' });
    expect(await find('wanted')).toEqual([id]);
  });

  it('never asks the internal listing for an organization that the credentials cannot see', async () => {
    hosted.internalListing = 'as it should';
    hosted.organizations = [theirs];
    add('another');
    const id = add('wanted');
    expect(await find('wanted')).toEqual([id]);
    expect(asked(internal)).toBe(0);
  });

  it('finds the internal listing beside a public API at /v1, too', async () => {
    await stop();
    await start('/v1');
    hosted.internalListing = 'as it should';
    add('another');
    const id = add('wanted');
    expect(await find('wanted')).toEqual([id]);
    expect(hosted.nameParts).toEqual(['wanted']);
  });

  describe('when the credentials can see several organizations', () => {
    beforeEach(() => {
      hosted.organizations = [ours, theirs];
      add('shared name', theirs);
    });

    it('gives only ours where the listing says whose each is', async () => {
      hosted.namesOrganizations = true;
      const id = add('shared name');
      expect(await all()).toEqual([id]);
      expect(await find('shared name')).toEqual([id]);
      expect(await platform.traits(ours)).toMatchObject({ tellsApart: true });
    });

    it('gives only ours where the internal listing can be asked', async () => {
      hosted.internalListing = 'as it should';
      addMany(250);
      const id = add('shared name');
      expect(await all()).toHaveLength(251);
      expect(await find('shared name')).toEqual([id]);
      expect(await platform.traits(ours)).toEqual({
        organizations: [ours, theirs],
        tellsApart: true,
        findsNamesBy: 'internal listing',
      });
    });

    it('gives none where they cannot be distinguished', async () => {
      add('shared name');
      await expect(all()).rejects.toMatchObject({ failure: 'rejected' });
      await expect(find('shared name')).rejects.toMatchObject({ failure: 'rejected' });
      expect(await platform.traits(ours)).toMatchObject({ tellsApart: false });
    });
  });

  it.each<[string, Partial<HostedServer>]>([
    ['name filter', { honorsNameFilter: true }],
    ['internal listing', { internalListing: 'as it should' }],
    ['reading all', {}],
    ['not known yet', { workspaces: [] }],
  ])('reports how names are found:: %s', async (findsNamesBy, traits) => {
    add('another');
    Object.assign(hosted, traits);
    expect(await platform.traits(ours)).toEqual({ organizations: [ours], tellsApart: true, findsNamesBy });
  });

  it('takes a platform without organizations for a platform with a single organization', async () => {
    const id = add('wanted');
    hosted.intercept = (request, response) => {
      if (!request.url?.endsWith('/organizations')) return false;
      response.writeHead(404).end('{}');
      return true;
    };
    expect(await all()).toEqual([id]);
    expect(await all()).toEqual([id]);
    expect(asked('GET /api/public/v1/organizations')).toBe(1);
  });
});
