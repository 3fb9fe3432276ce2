import { describe, expect, test } from 'vitest';
import { fillWorkspace, startPlatform } from '../../test/start-platform.ts';
import { itemsStream, startSteered } from '../../test/steered.ts';

const shared = { namespaceDefinition: 'custom_format', namespaceFormat: 'shared' };
const named = { configurations: { streams: [{ name: 'corp_users' }] } };
const isOwned = {
  status: 400,
  body: {
    title: 'bad-request',
    data: {
      message:
        'The table shared.acme_corp_users at the destination belongs to another workspace. ' +
        'Use a different namespace or prefix for this connection.',
    },
  },
};

/**
 * A workspace `acme_corp` that writes its stream `users` behind the prefix `acme_corp_`, and a workspace `acme` with a
 * stream `corp_users` and a destination at the same place.
 */
async function start({ streams }: { streams?: object[] } = {}) {
  const { connect, call, ended } = await startSteered();
  const acmeCorp = await connect({ ...shared, prefix: 'acme_corp_' });
  acmeCorp.setCatalog({ ...itemsStream, name: 'users' });
  if (streams) await acmeCorp.configure(...streams);
  const acme = await connect({ prefix: 'own_' });
  acme.setCatalog({ ...itemsStream, name: 'corp_users' });
  await call('GET', `/streams?sourceId=${acme.sourceId}&ignoreCache=true`);
  const { definitionId, configuration } = (await call('GET', `/destinations/${acmeCorp.destinationId}`)).body;
  const { workspaceId, sourceId } = acme;
  const samePlace = { name: 'same', workspaceId, definitionId, configuration };
  const { destinationId } = (await call('POST', '/destinations', samePlace)).body;
  const create = (more: object) => call('POST', '/connections', { sourceId, destinationId, ...shared, ...more });
  return { call, ended, acmeCorp, acme, create };
}

describe('a table of a connection of another workspace', () => {
  test('is refused when a connection is made: acme with corp_users is not acme_corp with users', async () => {
    const { create, acme } = await start({ streams: [{ name: 'users' }] });
    expect(await create({ prefix: 'acme_', ...named })).toMatchObject(isOwned);
    // Also if all known streams of the source are meant.
    expect(await create({ prefix: 'acme_' })).toMatchObject(isOwned);
    expect(await create({ prefix: 'other_', ...named })).toMatchObject({ status: 200 });
    expect(await create({ prefix: 'acme_', namespaceFormat: 'own', ...named })).toMatchObject({ status: 200 });
    const elsewhere = { destinationId: acme.destinationId };
    expect(await create({ prefix: 'acme_', ...named, ...elsewhere })).toMatchObject({ status: 200 });
  });

  test('is refused when the names or the streams of a connection change', async () => {
    const { create, call } = await start({ streams: [{ name: 'users' }] });
    const path = `/connections/${(await create({ prefix: 'other_', ...named })).body.connectionId}`;
    expect(await call('PATCH', path, { prefix: 'acme_' })).toMatchObject(isOwned);
    expect((await call('GET', path)).body.prefix).toBe('other_');
    expect(await call('PATCH', path, { prefix: 'another_' })).toMatchObject({ status: 200 });
  });

  test('is known from what that connection has moved, and is free once that connection is gone', async () => {
    const { create, call, ended, acmeCorp } = await start();
    expect(await ended((await acmeCorp.sync()).jobId)).toMatchObject({ status: 'succeeded' });
    expect(await create({ prefix: 'acme_', ...named })).toMatchObject(isOwned);
    await call('DELETE', acmeCorp.path);
    expect(await create({ prefix: 'acme_', ...named })).toMatchObject({ status: 200 });
  });
});

test('the same names do no harm in one workspace, or where the destination has a folder for each workspace', async () => {
  const running = await startPlatform();
  const configurations = { streams: [{ name: 'users' }] };
  for (const { sourceId, destinationId } of [await fillWorkspace(running), await fillWorkspace(running)]) {
    for (const name of ['one', 'two']) {
      const request = { name, sourceId, destinationId, configurations, ...shared };
      expect(await running.call('POST', '/connections', request)).toMatchObject({ status: 200 });
    }
  }
});
