/** A version of a manifest that sends secrets to new addresses gets none that were entered for another version. */
import { expect, onTestFinished } from 'vitest';
import { booksManifest } from '../../../../manifests/test/books-manifest.ts';
import { startTestApp } from '../../../test/support/app.ts';
import { describeInTurns } from '../../../test/support/databases.ts';
import { customer, makeSourceTemplate } from '../../../test/support/pipelines.ts';

const path = '/api/v1/integrations/definitions/sources';
const [here, there] = ['http://127.0.0.1:9', 'http://127.0.0.1:10'];

describeInTurns('A version that sends secrets to new addresses', (kind, it) => {
  /** A manifest, a template of it, a source with a secret, and an operator who may not see secrets. */
  async function start() {
    const test = await startTestApp(kind);
    onTestFinished(() => test.stop());
    const { token } = (
      await test.request('POST', '/api/v1/operator-tokens', { body: { name: 'insider', permission: 'operator' } })
    ).body;
    const { id } = (await test.request('POST', path, { body: { manifest: booksManifest({ url: here }) } })).body;
    const templateId = await makeSourceTemplate(test, {
      ...{ actor_definition_id: id, name: 'Books', partial_default_config: {} },
    });
    const acme = await customer(test, 'acme');
    const sourceId = await acme.connect(templateId, { source_config: { token: 'a-secret' } });
    await acme.settled(sourceId);
    const put = async (manifest: string) =>
      (await test.request('PUT', `${path}/${id}`, { token, body: { manifest } })).body;
    const confirm = (version: number, by?: string) =>
      test.request('POST', `${path}/${id}/confirm`, { body: { version }, ...(by && { token: by }) });
    /** What the platform runs for the customer. */
    const running = async () => {
      await acme.settled(sourceId);
      const list = `/workspaces/${acme.workspaceId}/definitions/declarative_sources`;
      return JSON.stringify((await test.platform('GET', list)).body.data);
    };
    const edit = async (source_config: object) => {
      const answer = await acme.request('PUT', `/sources/${sourceId}`, { source_config });
      expect(answer.status, answer.text).toBe(200);
    };
    return { test, token, id, templateId, acme, sourceId, put, confirm, running, edit };
  }

  const thief = booksManifest({ url: there });

  it('leaves sources on their version, names the addresses, and an operator cannot confirm it', async () => {
    const { test, token, id, acme, sourceId, put, confirm, running } = await start();
    const { sources } = await put(thief);
    const reason = `The new version sends secrets to new addresses (${there}). Confirm the version with the role full, or ask the customer to enter the secrets again.`;
    const staying = [
      { id: sourceId, name: 'Shop', workspace_id: acme.workspaceId, version: 1, reason, needs_confirmation: true },
    ];
    expect(sources).toEqual({ moved: 0, staying });
    expect(await running()).not.toContain(there);
    // Neither when the same is sent again, nor by way of further versions.
    expect((await put(thief)).sources).toEqual({ moved: 0, staying });
    await put(booksManifest({ url: there, added: 'row' }));
    const back = await test.request('POST', `${path}/${id}/rollback`, { token, body: { version: 2 } });
    expect(back.body.sources).toMatchObject({ moved: 0, staying });
    const refused = await confirm(4, token);
    expect([refused.status, refused.headers['x-inlay-error']]).toEqual([403, 'forbidden']);
    expect(await running()).not.toContain(there);
    // A version without new addresses takes the source along.
    expect((await put(booksManifest({ url: here, added: 'row' }))).sources).toEqual({ moved: 1, staying: [] });
  });

  it('takes them along once someone with the permission full confirms exactly this version, which later ones follow', async () => {
    const { put, confirm, running } = await start();
    await put(thief);
    expect((await confirm(1)).status, 'it is not the newest').toBe(404);
    expect((await confirm(2)).body.sources).toEqual({ moved: 1, staying: [] });
    expect(await running()).toContain(there);
    // The way back is one to another address as well. From then on, both are known.
    expect((await put(booksManifest({ url: here }))).sources).toMatchObject({ moved: 0, staying: [{ version: 2 }] });
    expect((await confirm(3)).body.sources).toEqual({ moved: 1, staying: [] });
    expect((await put(thief)).sources).toEqual({ moved: 1, staying: [] });
  });

  it('takes a source along whose customer enters the secret again, and none whose customer sends back the mask', async () => {
    const { put, running, edit } = await start();
    await put(thief);
    await edit({ token: '**********' });
    expect(await running()).not.toContain(there);
    await edit({ token: 'entered-again' });
    expect(await running()).toContain(there);
  });

  it('is the version of sources that are made from now on, whose customers enter their secrets for it', async () => {
    const { test, templateId, acme, put } = await start();
    await put(thief);
    const next = await acme.connect(templateId, { source_config: { token: 'another' } });
    await acme.settled(next);
    const rows = await test.app.store.db.selectFrom('sources').select(['id', 'definition_version']).execute();
    expect(rows.find(({ id }) => id === next)?.definition_version).toBe(2);
  });

  it.each([
    [
      'shows what was secret',
      thief.replace(there, here).replace(', airbyte_secret: true', ''),
      /reveals values that are secret/,
    ],
    [
      'writes secrets into records',
      thief.replace(there, here).replace(`"shelf {{ record['id'] }}"`, `"{{ config['token'] }}"`),
      /sends secrets to new addresses/,
    ],
  ])('is one as well that %s', async (_what, manifest, reason) => {
    const { put, running } = await start();
    const { sources } = await put(manifest);
    expect(sources).toMatchObject({ moved: 0, staying: [{ reason: expect.stringMatching(reason) }] });
    expect(await running()).toContain("shelf {{ record['id'] }}");
  });
});
