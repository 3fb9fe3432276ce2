import { describe, expect } from 'vitest';
import { booksManifest, codedStream } from '../../../manifests/test/books-manifest.ts';
import { startPlatform, testOnStores as test } from '../../test/start-platform.ts';

const url = 'http://127.0.0.1:9';

async function start() {
  const running = await startPlatform();
  const workspace = async (name: string) => (await running.call('POST', '/workspaces', { name })).body.workspaceId;
  const workspaceId = await workspace('w');
  const path = `/workspaces/${workspaceId}/definitions/declarative_sources`;
  return { ...running, workspace, workspaceId, path };
}

describe('a manifest of a workspace', () => {
  test('is added, shown, replaced and deleted in the shapes of a hosted platform', async () => {
    const { call, path, workspaceId } = await start();
    const made = await call('POST', path, { name: 'Books', manifest: booksManifest({ url }) });
    expect(made).toMatchObject({ status: 200, body: { name: 'Books', version: 1, manifest: { version: '6.44.0' } } });
    const { id, manifest } = made.body;
    expect(Object.keys(made.body)).toEqual(['id', 'name', 'manifest', 'version']);
    expect((await call('GET', path)).body).toEqual({ data: [made.body], next: '', previous: '' });
    expect((await call('GET', `${path}/${id.toUpperCase()}`)).body).toEqual(made.body);

    // A hosted platform accepts objects. The same manifest again does not create a version.
    expect((await call('PUT', `${path}/${id}`, { manifest })).body).toEqual(made.body);
    const other = { ...manifest, version: '6.45.0' };
    expect((await call('PUT', `${path}/${id}`, { manifest: other })).body).toEqual({
      id,
      name: 'Books',
      manifest: other,
      version: 2,
    });

    const { body: definitions } = await call('GET', `/connector_definitions?type=source&workspaceId=${workspaceId}`);
    expect(definitions.data).toContainEqual(expect.objectContaining({ id, name: 'Books', version: '2' }));

    const source = { name: 's', workspaceId, definitionId: id, configuration: { token: 'a secret' } };
    const { body } = await call('POST', '/sources', source);
    expect(body).toMatchObject({ definitionId: id, sourceType: '', configuration: { token: '**********' } });
    expect(await call('POST', '/sources', { ...source, configuration: {} })).toMatchObject({ status: 422 });
    expect(await call('DELETE', `${path}/${id}`)).toMatchObject({
      status: 409,
      body: { data: { message: expect.stringMatching(/used by: s\.$/) } },
    });
    await call('DELETE', `/sources/${body.sourceId}`);
    expect(await call('DELETE', `${path}/${id}`)).toMatchObject({ status: 200, body: { id, version: 2 } });
    expect((await call('GET', `${path}/${id}`)).status).toBe(404);
  });

  test('is nobody else’s: other workspaces neither see, change, check nor use it', async () => {
    const { call, path, workspace, workspaceId, platform } = await start();
    const { id } = (await call('POST', path, { name: 'Books', manifest: booksManifest({ url }) })).body;
    const otherId = await workspace('other');
    const others = `/workspaces/${otherId}/definitions/declarative_sources`;
    const configuration = { token: 't' };
    const unknown = '00000000-0000-4000-8000-000000000000';
    const tries = (definitionId: string) =>
      Promise.all([
        call('GET', `${others}/${definitionId}`),
        call('PUT', `${others}/${definitionId}`, { manifest: booksManifest({ url, added: 'x' }) }),
        call('DELETE', `${others}/${definitionId}`),
        call('GET', `/workspaces/${otherId}/definitions/sources/${definitionId}`),
        call('POST', '/sources', { name: 's', workspaceId: otherId, definitionId, configuration }),
        call('POST', '/sources/check_connection', { workspaceId: otherId, definitionId, configuration }),
      ]);
    const [found, missing] = [await tries(id), await tries(unknown)];
    for (const [index, reply] of found.entries()) {
      expect(reply.status).toBe(404);
      expect(JSON.stringify(reply).replaceAll(id, unknown)).toBe(JSON.stringify(missing[index]));
    }
    expect((await call('GET', others)).body.data).toEqual([]);
    for (const query of ['', `&workspaceId=${otherId}`]) {
      expect(JSON.stringify((await call('GET', `/connector_definitions?type=source${query}`)).body)).not.toContain(id);
    }
    await call('DELETE', `/workspaces/${workspaceId}`);
    expect(await platform.store.db.selectFrom('manifests').selectAll().execute()).toEqual([]);
  });

  test('whose every stream needs code, or that is no manifest, is refused with what and where', async () => {
    const { call, path } = await start();
    const add = async (manifest: unknown) => {
      const { status, body } = await call('POST', path, { name: 'x', manifest });
      return [status, body.data?.message];
    };
    const coded = booksManifest({ url }).replace(/ {2}- type: DeclarativeStream.*(?=spec:)/s, codedStream('loans'));
    expect(await add(coded)).toEqual([
      422,
      expect.stringMatching(
        /streams\[0\]\.retriever\.requester\.authenticator: .*source_books\.components\.Auth.* code\./,
      ),
    ]);
    expect(await add('a: [')).toEqual([422, expect.stringMatching(/^The manifest is not valid YAML/)]);
    expect(await add({ type: 'DeclarativeSource' })).toEqual([422, expect.stringContaining('no streams')]);
    // A few lines that expand to a billion values.
    const bomb = [...'abcdefghi'].map((name, index) =>
      index === 0 ? 'a: &a [1,1,1,1,1,1,1,1,1]' : `${name}: &${name} [${`*${'abcdefghi'[index - 1]},`.repeat(9)}]`,
    );
    expect(await add(bomb.join('\n'))).toEqual([422, expect.stringMatching(/too large\. With aliases/)]);
    expect(await add('a: &a\n  b: *a\n')).toEqual([422, expect.stringMatching(/nested|YAML/)]);
    expect(await add(`a: ${'['.repeat(50_000)}`)).toEqual([422, expect.stringMatching(/nested|YAML/)]);
  });

  test('is sealed in the database, and sealed again with another key', async () => {
    const { call, path, platform } = await start();
    const manifest = booksManifest({ url }).replace("{{ config['token'] }}", 'a-secret-in-the-manifest');
    const { id } = (await call('POST', path, { name: 'Books', manifest })).body;
    const rows = () => platform.store.db.selectFrom('manifests').selectAll().execute();
    const before = await rows();
    expect(JSON.stringify(before)).not.toContain('a-secret-in-the-manifest');
    await platform.reseal();
    expect(await rows()).not.toEqual(before);
    expect(JSON.stringify((await call('GET', `${path}/${id}`)).body)).toContain('a-secret-in-the-manifest');
  });
});
