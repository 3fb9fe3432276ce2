/** Where definitions come from, and what operators see of them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type RequestOptions, startTestApp, type TestApp } from '../../../test/support/app.ts';
import { crmId, registryDocument, registryEnvironment, warehouseId } from '../../../test/support/connector-registry.ts';
import { describeOnOneDatabase } from '../../../test/support/databases.ts';
import { startHostedServer } from '../../../test/support/hosted-server.ts';
import { startService } from '../../../test/support/service.ts';
import { virtualRuntime } from '../../../test/support/virtual-time.ts';

const path = '/api/v1/integrations/definitions';
const unknownId = '00000000-0000-4000-8000-000000000000';
const sampleDataId = '5d3a1c52-6f0e-4b8e-9a61-2c7f4e0b9d14';

function freshDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'inlay-definitions-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

const get = async (test: TestApp, url: string, options: RequestOptions = {}) => {
  const { status, body } = await test.request('GET', path + url, options);
  return { status, body };
};

const iconAddress = (id: string) => expect.stringMatching(`^http://localhost:8080/icons/${id}/[0-9a-f]{16}$`);

describeOnOneDatabase('Definitions', (kind) => {
  const start = async (options: Parameters<typeof startTestApp>[1] = {}) => {
    const test = await startTestApp(kind, options);
    onTestFinished(() => test.stop());
    return test;
  };

  it('of the bundled platform are listed by name and shown with their specification', async () => {
    const test = await start();
    const { body: sources } = await get(test, '/sources?name=SAMPLE');
    expect(sources).toEqual({
      definitions: [
        {
          sourceDefinitionId: sampleDataId,
          name: 'Sample Data',
          dockerRepository: 'inlay/source-sample-data',
          iconUrl: iconAddress(sampleDataId),
          custom: false,
          supportLevel: null,
        },
      ],
      data: [
        {
          id: sampleDataId,
          name: 'Sample Data',
          type: 'source',
          icon: iconAddress(sampleDataId),
          version: '0.1.0',
          documentation: expect.any(String),
          documentation_url: null,
          support_level: null,
          custom: false,
        },
      ],
    });
    expect((await get(test, '/sources?name=nothing-like-it')).body).toEqual({ definitions: [], data: [] });
    const { body: one } = await get(test, `/sources/${sampleDataId.toUpperCase()}`);
    expect(one).toMatchObject({ id: sampleDataId, definition: { name: 'Sample Data', dockerImageTag: '0.1.0' } });
    const onPlatform = await test.platform('GET', '/connector_definitions?type=source');
    const { specification } = onPlatform.body.data.find(({ id }: { id: string }) => id === sampleDataId);
    expect(one.definition.spec).toEqual(specification);

    const { body: destinations } = await get(test, '/destinations?name=files');
    const [{ id, ...localFiles }] = destinations.destinations;
    expect(localFiles).toEqual({ name: 'Local Files', icon: iconAddress(id) });
    expect(destinations.data).toEqual([expect.objectContaining({ id, type: 'destination', ...localFiles })]);
    const { body: destination } = await get(test, `/destinations/${destinations.destinations[0].id}`);
    expect(destination.definition).toMatchObject({
      destinationDefinitionId: destinations.destinations[0].id,
      spec: { connectionSpecification: { required: ['path'] } },
    });
  });

  it('have icons that anybody can load, that may be kept for ever and that run nothing', async () => {
    const test = await start();
    const { body } = await get(test, '/sources?name=sample');
    const { pathname } = new URL(body.data[0].icon);
    const icon = await test.request('GET', pathname, { token: null });
    expect(icon).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'image/svg+xml',
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
        'content-security-policy': expect.stringMatching(/^default-src 'none'; .*sandbox$/),
        'cross-origin-resource-policy': 'cross-origin',
      },
      text: expect.stringMatching(/^<svg .*<\/svg>$/),
    });
    // The image of an earlier version is gone: the present one takes its place, for a while.
    const other = await test.request('GET', pathname.replace(/\w+$/, 'other'), { token: null });
    expect([other.text, other.headers['cache-control']]).toEqual([icon.text, 'public, max-age=300']);
    const missing = await test.request('GET', `/icons/${unknownId}/other`, { token: null });
    expect([missing.status, missing.body]).toEqual([404, { detail: 'Not Found' }]);
  });

  it('that do not exist, or are of the other kind, are not found', async () => {
    const test = await start();
    for (const id of [unknownId, warehouseId]) {
      expect(await get(test, `/sources/${id}`)).toEqual({
        status: 404,
        body: { detail: 'Source definition not found' },
      });
    }
    expect(await get(test, `/destinations/${sampleDataId}`)).toEqual({
      status: 404,
      body: { detail: 'Destination definition not found' },
    });
    expect(await get(test, '/sources/x')).toEqual({
      status: 422,
      body: {
        detail: [{ loc: ['path', 'source_definition_id'], msg: 'value is not a valid uuid', type: 'type_error.uuid' }],
      },
    });
  });

  it('of a hosted platform come from the registry that is configured', async () => {
    const file = join(freshDirectory(), 'registry.json');
    writeFileSync(file, JSON.stringify(registryDocument));
    const test = await start({ env: registryEnvironment(file) });
    expect((await get(test, '/sources')).body).toEqual({
      definitions: [
        {
          sourceDefinitionId: crmId,
          name: 'CRM',
          dockerRepository: 'example/source-crm',
          iconUrl: 'https://icons.example/crm.svg',
          custom: false,
          supportLevel: 'certified',
        },
      ],
      data: [expect.objectContaining({ id: crmId, icon: 'https://icons.example/crm.svg', support_level: 'certified' })],
    });
    const { body } = await get(test, `/sources/${crmId}`);
    expect(body.definition.spec).toEqual(registryDocument.sources[0]?.spec);
    expect((await get(test, `/destinations/${warehouseId}`)).body.definition.spec).toEqual(
      registryDocument.destinations[0]?.spec,
    );
  });

  it('that cannot be had are reported as unavailable, with a time to wait', async () => {
    const test = await start({ env: registryEnvironment(join(freshDirectory(), 'nowhere.json')) });
    const answer = await test.request('GET', `${path}/sources`);
    expect([answer.status, answer.headers['x-inlay-error'], answer.headers['retry-after']]).toEqual([
      503,
      'definitions_unavailable',
      '10',
    ]);
  });

  it('of the bundled platform, run apart, come from it and not from the registry', async () => {
    const dataDir = freshDirectory();
    const credentials = {
      INLAY_PLATFORM_CLIENT_ID: 'an-id',
      INLAY_PLATFORM_CLIENT_SECRET: 'a-secret-of-the-definitions-test',
    };
    const platform = await startService({ command: 'platform', dataDir, env: credentials });
    onTestFinished(() => platform.kill());
    const test = await start({ env: { INLAY_PLATFORM_URL: `${platform.url}/platform/v1`, ...credentials } });
    expect((await get(test, '/sources?name=sample')).body.definitions).toHaveLength(1);
    expect((await get(test, '/destinations?name=files')).body.destinations).toHaveLength(1);
  });

  it('of a platform that is away are those it had before, if there are any', async () => {
    const hosted = await startHostedServer();
    onTestFinished(() => hosted.stop());
    let isAway = true;
    hosted.intercept = (request, response) => {
      if (!request.url?.includes('/connector_definitions')) return false;
      const { connectionSpecification } = registryDocument.sources[0]?.spec ?? {};
      const data = [{ id: crmId, name: 'CRM', version: '1', specification: { connectionSpecification } }];
      if (isAway) response.writeHead(503).end();
      else response.end(JSON.stringify({ data }));
      return true;
    };
    const runtime = virtualRuntime(Date.now());
    const { INLAY_CONNECTOR_REGISTRY: _, ...env } = registryEnvironment('');
    const test = await start({ env: { ...env, INLAY_PLATFORM_URL: hosted.url }, overrides: { runtime } });
    expect((await get(test, '/sources')).status).toBe(503);
    isAway = false;
    runtime.advance(60_000);
    expect((await get(test, '/sources')).body.definitions).toHaveLength(1);
    isAway = true;
    runtime.advance(60_000);
    expect((await get(test, '/sources')).body.definitions).toHaveLength(1);
  });
});
