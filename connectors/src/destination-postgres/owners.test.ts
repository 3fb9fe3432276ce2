import type { DestinationInput } from '@inlay/protocol/connector';
import type { Stream } from '@inlay/protocol/protocol';
import { describe, expect, it } from 'vitest';
import {
  collectingEmitter,
  complete,
  configure,
  createDatabase,
  surroundings,
  type TestDatabase,
} from '../../test/postgres.ts';
import { connector } from './destination-postgres.ts';

const acme = '11111111-1111-4111-8111-111111111111';
const acmeCorp = '22222222-2222-4222-8222-222222222222';

/** Replaces what is in `shared.<name>` by one record, as a connection of the workspace. */
async function overwrite({ config }: TestDatabase, workspaceId: string | undefined, name: string, who: string) {
  const stream: Stream = {
    name,
    namespace: 'shared',
    supported_sync_modes: ['full_refresh'],
    json_schema: { type: 'object', properties: { who: { type: 'string' } } },
  };
  const generation = { generation_id: 1, minimum_generation_id: 1 };
  const configured = configure(stream, { destination_sync_mode: 'overwrite', ...generation });
  async function* input(): AsyncGenerator<DestinationInput[]> {
    const record = { stream: name, namespace: 'shared', data: { who }, emitted_at: 1 };
    yield [{ type: 'RECORD', record }, complete(stream) as DestinationInput];
  }
  const { emitter } = collectingEmitter();
  await connector.write(config, { streams: [configured] }, input(), emitter, { ...surroundings, workspaceId });
}

const rowsOf = (database: TestDatabase, table: string) => database.query(`select who from shared.${table}`);

describe('a table', () => {
  it('of another workspace is never written: acme with corp_users is not acme_corp with users', async () => {
    const database = await createDatabase();
    await overwrite(database, acmeCorp, 'acme_corp_users', 'acme corp');
    await expect(overwrite(database, acme, 'acme_corp_users', 'acme')).rejects.toThrow(
      /shared\.acme_corp_users belongs to another/,
    );
    expect(await rowsOf(database, 'acme_corp_users')).toEqual([{ who: 'acme corp' }]);
    await overwrite(database, acmeCorp, 'acme_corp_users', 'again');
    expect(await rowsOf(database, 'acme_corp_users')).toEqual([{ who: 'again' }]);
  });

  it('of an earlier release belongs to the workspace that writes first', async () => {
    const database = await createDatabase();
    await overwrite(database, undefined, 'users', 'an earlier release');
    await overwrite(database, acme, 'users', 'acme');
    await expect(overwrite(database, acmeCorp, 'users', 'acme corp')).rejects.toThrow('belongs to another workspace');
    expect(await rowsOf(database, 'users')).toEqual([{ who: 'acme' }]);
  });

  it('that someone has dropped belongs to nobody', async () => {
    const database = await createDatabase();
    await overwrite(database, acme, 'users', 'acme');
    await database.query('drop table shared.users');
    await overwrite(database, acmeCorp, 'users', 'acme corp');
    expect(await rowsOf(database, 'users')).toEqual([{ who: 'acme corp' }]);
  });

  it('that two workspaces want at the same moment is written by one of them', async () => {
    const database = await createDatabase();
    const outcomes = await Promise.allSettled([
      overwrite(database, acme, 'users', 'acme'),
      overwrite(database, acmeCorp, 'users', 'acme corp'),
    ]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const winner = outcomes[0]?.status === 'fulfilled' ? 'acme' : 'acme corp';
    expect(await rowsOf(database, 'users')).toEqual([{ who: winner }]);
  });
});
