import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type HostedServer, startHostedServer } from '../../../test/support/hosted-server.ts';
import { type VirtualRuntime, virtualRuntime } from '../../../test/support/virtual-time.ts';
import { createPlatformClient } from './platform-client.ts';
import type { PlatformPort } from './platform-port.ts';
import { httpTransport } from './transport.ts';

describe('the access token', () => {
  let hosted: HostedServer;
  let runtime: VirtualRuntime;
  let platform: PlatformPort;

  beforeEach(async () => {
    hosted = await startHostedServer();
    runtime = virtualRuntime();
    hosted.issuedAt = runtime.now;
    platform = clientOf(runtime);
  });
  afterEach(async () => {
    await platform.close();
    await hosted.stop();
  });

  const clientOf = (clock: VirtualRuntime) =>
    createPlatformClient({
      transport: httpTransport(hosted.url),
      credentials: { clientId: 'id', clientSecret: 'secret' },
      runtime: clock,
    });
  const tokensFetched = () => hosted.requests.filter((request) => request.endsWith('/applications/token')).length;
  const callAfter = async (seconds: number) => {
    runtime.advance(seconds * 1000);
    await platform.listOrganizations();
    return tokensFetched();
  };

  it.each(['grant-type', 'grant_type'] as const)('is given by a platform that requires %s', async (member) => {
    hosted.grantMember = member;
    expect(await callAfter(0)).toBe(1);
  });

  it.each([
    ['than the platform announces', 180, 900],
    ['than nothing announced', 180, undefined],
  ])('is renewed before its own end when that is sooner %s', async (_what, seconds, announcedSeconds) => {
    hosted.token = { seconds, announcedSeconds };
    expect(await callAfter(0)).toBe(1);
    expect(await callAfter(100)).toBe(1);
    expect(await callAfter(25)).toBe(2);
  });

  it('is renewed before the announced end when that is sooner than its own', async () => {
    hosted.token = { seconds: 900, announcedSeconds: 180 };
    expect(await callAfter(0)).toBe(1);
    expect(await callAfter(125)).toBe(2);
  });

  it('lives as long as it says when our clock is not the platform’s', async () => {
    hosted.issuedAt = () => runtime.now() - 3_600_000;
    expect(await callAfter(0)).toBe(1);
    expect(await callAfter(800)).toBe(1);
    expect(await callAfter(50)).toBe(2);
  });

  it('serves more than one call even when it is short-lived', async () => {
    hosted.token = { seconds: 30, announcedSeconds: 30 };
    expect(await callAfter(0)).toBe(1);
    expect(await callAfter(10)).toBe(1);
    expect(await callAfter(10)).toBe(2);
  });

  it('is fetched once when many calls need a new one, first and after the platform took it back', async () => {
    const many = () => Promise.all(Array.from({ length: 12 }, () => platform.listOrganizations()));
    await many();
    expect(tokensFetched()).toBe(1);
    const revoked = new Set<string | undefined>();
    let current: string | undefined;
    hosted.intercept = (request, response) => {
      const given = request.headers.authorization;
      if (given === undefined) return false;
      if (revoked.size === 0) revoked.add(given);
      current = given;
      if (!revoked.has(given)) return false;
      response.writeHead(401).end('{}');
      return true;
    };
    await many();
    expect(tokensFetched()).toBe(2);
    expect(revoked.has(current)).toBe(false);
  });

  it.each([400, 401, 403])('is refused for good when the platform answers %i to the credentials', async (status) => {
    hosted.intercept = (_request, response) => {
      response.writeHead(status).end('{"errorId":"e-1"}');
      return true;
    };
    await expect(platform.listOrganizations()).rejects.toMatchObject({
      failure: 'unauthorised',
      message: `client credentials rejected: the platform answered ${status}: errorId e-1`,
    });
    expect(hosted.requests).toHaveLength(1);
  });

  it('that cannot be fetched proves that a create was not sent', async () => {
    hosted.intercept = (_request, response) => {
      response.writeHead(500).end();
      return true;
    };
    const creating = platform.createWorkspace({ organizationId: 'o', name: 'n', regionId: 'r' });
    await expect(creating).rejects.toMatchObject({ failure: 'unavailable' });
  });
});
