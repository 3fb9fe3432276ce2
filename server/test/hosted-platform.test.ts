/** The whole service in front of a hosted platform: what it checks at its start, and what it shows of its calls. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { startTestApp } from './support/app.ts';
import { runCommand } from './support/command-line.ts';
import { type HostedServer, startHostedServer } from './support/hosted-server.ts';
import { runCli, startService } from './support/service.ts';
import { virtualRuntime } from './support/virtual-time.ts';

const ours = '11111111-1111-4111-8111-111111111111';
const theirs = '22222222-2222-4222-8222-222222222222';

describe('a service in front of a hosted platform', () => {
  let hosted: HostedServer;
  let dataDir: string;
  let env: Record<string, string>;

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'inlay-hosted-'));
    hosted = await startHostedServer();
    hosted.organizations = [ours, theirs];
    hosted.workspaces = [{ workspaceId: 'w', name: 'whose?', organizationId: theirs }];
    env = {
      INLAY_PLATFORM_URL: hosted.url,
      INLAY_PLATFORM_CLIENT_ID: 'id',
      INLAY_PLATFORM_CLIENT_SECRET: 'secret',
      INLAY_PLATFORM_ORGANIZATION_ID: ours,
    };
  });
  afterEach(async () => {
    await hosted.stop();
    rmSync(dataDir, { recursive: true });
  });

  it('does not start when it could mistake the workspaces of others for its own, and says what to set', async () => {
    const { code, stdout, stderr } = await runCli(['start'], { env: { ...env, INLAY_DATA_DIR: dataDir } });
    expect(code).toBe(1);
    expect(stdout).not.toContain('Inlay is running');
    expect(stderr).toContain('can access 2 organizations');
    expect(stderr).toContain('Set INLAY_PLATFORM_CLIENT_ID and INLAY_PLATFORM_CLIENT_SECRET');
    expect(stderr).toContain(ours);
  });

  const away: HostedServer['intercept'] = (_request, response) => {
    response.writeHead(503).end();
    return true;
  };
  it.each<[string, Partial<HostedServer>]>([
    ['the listing says whose each workspace is', { namesOrganizations: true }],
    ['the internal listing can be asked', { internalListing: 'as it should' }],
    ['the credentials see one organization', { organizations: [ours] }],
    ['the platform cannot be used just now', { intercept: away }],
  ])('starts when %s', async (_what, traits) => {
    Object.assign(hosted, traits);
    const service = await startService({ dataDir, env });
    onTestFinished(() => service.kill());
    expect(await service.stop()).toBe(0);
  });

  it('returns no workspace when it learns that only after its start', async () => {
    const test = await startTestApp('sqlite', { env });
    onTestFinished(() => test.stop());
    const sync = await test.request('POST', '/api/v1/workspaces/sync');
    expect(sync.status).toBe(502);
    const token = await test.request('POST', '/api/v1/embedded/scoped-token', { body: { workspace_name: 'whose?' } });
    expect(token.status).toBe(502);
    expect(token.text).not.toContain('organizations');
    expect(hosted.requests).not.toContain('POST /api/public/v1/workspaces');
  });

  it('counts retries and shows the breaker', async () => {
    const test = await startTestApp('sqlite', { env, overrides: { runtime: virtualRuntime(Date.now()) } });
    onTestFinished(() => test.stop());
    const metrics = async () => (await test.request('GET', '/metrics', { token: null })).text;
    expect(await metrics()).toContain('inlay_platform_breaker_open 0');
    hosted.intercept = (request, response) => {
      if (!request.url?.includes('/workspaces')) return false;
      response.writeHead(503).end('<html>');
      return true;
    };
    for (let i = 0; i < 5; i++) await test.request('POST', '/api/v1/workspaces/sync');
    const text = await metrics();
    expect(text).toContain('inlay_platform_retries_total{operation="list_workspaces"} 15');
    expect(text).toContain('inlay_platform_breaker_open 1');
  });

  it('doctor reports in words what the platform can do', async () => {
    const doctor = async () => (await runCommand(['doctor'], { env: { ...env, INLAY_DATA_DIR: dataDir } })).stdout;
    expect(await doctor()).toMatch(/ {2}FAIL {2}Platform: .* 2 organizations, .*\n +Set INLAY_/);
    hosted.internalListing = 'as it should';
    const report = await doctor();
    expect(report).toMatch(/^ {2}ok {4}Platform: .* 2 organizations\n/m);
    expect(report).toMatch(/^ {2}ok {4}Platform: .*\(with the internal listing\)\n/m);
  });
});
