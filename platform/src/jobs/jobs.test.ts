import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { isLongRun, itInLongRun } from '../../../scripts/long-run.ts';
import { nthGeneration, publicUrl } from '../../test/start-platform.ts';
import { itemsStream, startSteered, until } from '../../test/steered.ts';
import { openConfiguration } from '../actors/sealed-configuration.ts';

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

describe('a sync', () => {
  test('moves every record and is reported as the public API documents it', async () => {
    const { connect, ended, call } = await startSteered();
    const connection = await connect();
    const started = await call('POST', '/jobs', { connectionId: connection.connectionId, jobType: 'sync' });
    expect(started).toEqual({
      status: 200,
      body: {
        jobId: expect.any(Number),
        status: 'pending',
        jobType: 'sync',
        startTime: '2030-01-01T00:00:00Z',
        connectionId: connection.connectionId,
        bytesSynced: 0,
        rowsSynced: 0,
        attempts: 0,
        failedAttempts: 0,
        attemptList: [],
        traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
      },
    });
    const { jobId } = started.body;
    const job = await ended(jobId);
    expect(job).toEqual({
      ...started.body,
      status: 'succeeded',
      lastUpdatedAt: '2030-01-01T00:00:00Z',
      duration: 'PT0S',
      bytesSynced: expect.any(Number),
      rowsSynced: 10,
      attempts: 1,
      attemptList: [expect.objectContaining({ attempt: 1, status: 'succeeded', rowsSynced: 10 })],
      rowPoints: [0, 10].map((rows) => [Date.parse('2030-01-01T00:00:00Z'), 1, rows]),
      streams: [{ streamName: 'items', recordsEmitted: 10, valuesChanged: [] }],
    });
    expect(job.bytesSynced).toBeGreaterThan(500);
    expect(connection.ids()).toEqual(range(0, 10));
    expect(connection.written().at(-1)).toBe('replace items');
    expect((await call('GET', connection.path)).body.lastJob).toEqual(job);
    expect((await call('GET', '/connections')).body.data[0].lastJob).toEqual(job);
  });

  test('reports for each stream how many records were written and which values did not arrive as they were', async () => {
    const changed: [string, number][] = [];
    const onValuesChanged = (kind: string, count: number) => void changed.push([kind, count]);
    const { connect, ended } = await startSteered({ onValuesChanged });
    const connection = await connect({ prefix: 'p_' });
    const change = (field: string, kind: string, count: number, example = 'record 3') => ({
      field,
      kind,
      count,
      example,
    });
    connection.steer({
      reports: [
        { stream_descriptor: { name: 'items' }, values_changed: [change('price', 'nulled', 2)] },
        {
          stream_descriptor: { name: 'items', namespace: null },
          values_changed: [change('price', 'nulled', 1, 'record 8')],
        },
        { stream_descriptor: { name: 'nobody knows it' }, values_changed: [change('price', 'nulled', 1)] },
        { stream_descriptor: { name: 'items' }, values_changed: [change('a-password', 'left_out', 1, 'a-password')] },
        { values_changed: 'nonsense' },
        { stream_descriptor: { name: 'items' }, records_skipped: { count: 2, keys: ['id 7', 'id a-password', 5] } },
        { stream_descriptor: { name: 'items' }, records_skipped: { count: -1, keys: 'nonsense' } },
      ],
    });
    const of = { stream_descriptor: { name: 'p_items' } };
    const nonsense = [change('x', 'unheard of', 1), change('x', 'nulled', -1), change('x', 'nulled', 0.5), null, 1];
    connection.setReports(
      { ...of, records_written: 6, records_deleted: 1, values_changed: [change('note', 'shortened', 5), ...nonsense] },
      { ...of, records_written: 3 },
      { ...of, records_written: '17' },
    );
    const job = await ended((await connection.sync()).jobId);
    expect(job).toMatchObject({ status: 'succeeded', rowsSynced: 10 });
    expect(job.streams).toEqual([
      {
        streamName: 'items',
        recordsEmitted: 10,
        recordsWritten: 9,
        recordsDeleted: 1,
        recordsSkipped: { count: 2, keys: ['id 7', expect.stringMatching(/^id \*+$/)] },
        valuesChanged: [change('note', 'shortened', 5), change('price', 'nulled', 3), expect.anything()],
      },
    ]);
    expect(JSON.stringify(job)).not.toContain('a-password');
    expect(Object.fromEntries(changed)).toEqual({ nulled: 3, shortened: 5, left_out: 1 });
  });

  test('continues where the last one ended when it is incremental', async () => {
    const { connect, ended } = await startSteered();
    const connection = await connect({ streams: [{ name: 'items', syncMode: 'incremental_append' }] });
    expect((await ended((await connection.sync()).jobId)).rowsSynced).toBe(10);
    expect((await ended((await connection.sync()).jobId)).rowsSynced).toBe(0);
    connection.steer({ records: 13 });
    expect((await ended((await connection.sync()).jobId)).rowsSynced).toBe(3);
    expect(connection.ids()).toEqual(range(0, 13));
    expect(connection.catalog().streams).toMatchObject([
      {
        sync_mode: 'incremental',
        destination_sync_mode: 'append',
        generation_id: nthGeneration(1),
        minimum_generation_id: 0,
      },
    ]);
  });

  test('starts a new generation each time when it replaces', async () => {
    const { connect, ended } = await startSteered();
    const connection = await connect();
    for (const generation of [nthGeneration(1), nthGeneration(2)]) {
      const { jobId } = await ended((await connection.sync()).jobId);
      expect(connection.catalog().streams).toMatchObject([
        { generation_id: generation, minimum_generation_id: generation, sync_id: jobId },
      ]);
    }
  });

  itInLongRun('moves only the selected fields, under the name and namespace the connection asks for', async () => {
    const { connect, ended } = await startSteered();
    const connection = await connect({
      streams: [{ name: 'items', selectedFields: [{ fieldPath: ['id'] }, { fieldPath: ['name'] }] }],
      namespaceDefinition: 'custom_format',
      namespaceFormat: `from_$${'{SOURCE_NAMESPACE}'}`,
      prefix: 'p_',
    });
    expect((await ended((await connection.sync()).jobId)).status).toBe('succeeded');
    expect(connection.written()[3]).toBe('["p_items",{"id":3,"name":"name 3"}]');
    const { stream } = connection.catalog().streams[0] ?? {};
    expect(stream).toMatchObject({ name: 'p_items', namespace: 'from_' });
    expect(Object.keys(stream?.json_schema.properties as object)).toEqual(['id', 'name']);
  });

  itInLongRun('starts from the beginning when a stream is read in another way', async () => {
    const { connect, ended, call } = await startSteered();
    const connection = await connect({ streams: [{ name: 'items', syncMode: 'incremental_append' }] });
    await ended((await connection.sync()).jobId);
    const configure = (syncMode: string) =>
      call('PATCH', connection.path, { configurations: { streams: [{ name: 'items', syncMode }] } });
    await configure('full_refresh_append');
    expect((await ended((await connection.sync()).jobId)).rowsSynced).toBe(10);
    await configure('incremental_append');
    expect((await ended((await connection.sync()).jobId)).rowsSynced).toBe(10);
    expect(connection.catalog().streams[0]?.generation_id).toBe(nthGeneration(2));
  });

  test('keeps a configuration that the source has renewed, sealed', async () => {
    const { connect, ended, platform, call } = await startSteered();
    const connection = await connect();
    connection.steer({ renews: { password: 'a-renewed-password' } });
    await ended((await connection.sync()).jobId);
    const rows = await platform.store.db.selectFrom('connectors').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain('password');
    const { configuration } = (await call('GET', `/sources/${connection.sourceId}`)).body;
    expect(configuration.password).toBe('**********');
    const source = rows.find(({ kind }) => kind === 'source');
    expect(source && openConfiguration(platform.sealer, source).password).toBe('a-renewed-password');
  });
});

describe('a connection whose job has not ended', () => {
  test('takes no other job, and says that it can be tried again', async () => {
    const { connect, call, ended } = await startSteered();
    const connection = await connect();
    connection.steer({ waitsAfter: 5 });
    const { jobId } = await connection.sync();
    await until(() => connection.ids().length === 5);
    for (const jobType of ['sync', 'clear', 'reset']) {
      expect(await call('POST', '/jobs', { connectionId: connection.connectionId, jobType })).toMatchObject({
        status: 409,
        body: {
          type: 'https://reference.airbyte.com/reference/errors#try-again-later',
          title: 'try-again-later',
          data: { message: expect.stringContaining(`Job ${jobId} `) },
        },
      });
    }
    connection.go();
    expect((await ended(jobId)).status).toBe('succeeded');
    expect((await connection.sync()).status).toBe('pending');
  });

  test('has it cancelled once, and the processes are gone before another begins', async () => {
    const { connect, call, ended } = await startSteered();
    const connection = await connect();
    connection.steer({ waitsAfter: 5 });
    const { jobId } = await connection.sync();
    await until(() => connection.ids().length === 5);
    const cancelled = await call('DELETE', `/jobs/${jobId}`);
    expect(cancelled).toMatchObject({ status: 200, body: { jobId, status: 'cancelled' } });
    expect(await call('DELETE', `/jobs/${jobId}`)).toMatchObject({
      status: 409,
      body: { title: 'state-conflict', data: { message: expect.stringMatching(/cancelled\.$/) } },
    });
    connection.steer({});
    const next = await connection.sync();
    expect((await ended(next.jobId)).status).toBe('succeeded');
    expect(connection.reads()).toEqual({ begun: 2, ended: 1 });
    expect((await call('GET', `/jobs/${jobId}`)).body).toMatchObject({ status: 'cancelled', rowsSynced: 0 });
  });
});

describe('clearing', () => {
  test.each(isLongRun ? ['clear', 'reset'] : ['clear'])(
    'by %s empties every stream that was moved, and forgets how far it was read',
    async (jobType) => {
      const { connect, ended, call } = await startSteered();
      const connection = await connect({ streams: [{ name: 'items', syncMode: 'incremental_append' }] });
      await ended((await connection.sync()).jobId);
      const cleared = await call('POST', '/jobs', { connectionId: connection.connectionId, jobType });
      expect(cleared.body.jobType).toBe(jobType);
      expect(await ended(cleared.body.jobId)).toMatchObject({ status: 'succeeded', rowsSynced: 0 });
      expect(connection.written().at(-1)).toBe('replace items');
      expect(connection.catalog().streams).toMatchObject([
        {
          destination_sync_mode: 'overwrite',
          generation_id: nthGeneration(2),
          minimum_generation_id: nthGeneration(2),
        },
      ]);
      expect((await ended((await connection.sync()).jobId)).rowsSynced).toBe(10);
    },
  );

  const streamOf = (name: string, namespace?: string) => ({
    ...itemsStream,
    name,
    ...(namespace !== undefined && { namespace }),
  });

  test.each(isLongRun ? (['STREAM', 'GLOBAL', 'LEGACY'] as const) : (['GLOBAL'] as const))(
    'named streams empties exactly those, and the others keep their rows and their %s state',
    async (states) => {
      const { connect, ended, call } = await startSteered();
      const connection = await connect();
      connection.setCatalog(itemsStream, streamOf('orders'), streamOf('users', 'crm'));
      const syncMode = 'incremental_append';
      await connection.configure(
        { name: 'items', syncMode },
        { name: 'orders', syncMode },
        { name: 'users', namespace: 'crm', syncMode },
      );
      connection.steer({ states });
      expect((await ended((await connection.sync()).jobId)).rowsSynced).toBe(30);
      const clear = async (jobType: string, streams: object[]) => {
        const created = await call('POST', '/jobs', { connectionId: connection.connectionId, jobType, streams });
        expect(created.status).toBe(200);
        expect((await ended(created.body.jobId)).status).toBe('succeeded');
      };
      await clear('clear', [{ name: 'orders' }, { name: 'orders', namespace: null }]);
      expect(connection.written().filter((line) => line.startsWith('replace'))).toEqual(['replace orders']);
      expect(connection.catalog().streams).toMatchObject([
        { stream: { name: 'orders' }, generation_id: nthGeneration(2) },
      ]);
      const next = await ended((await connection.sync()).jobId);
      expect(next.rowsSynced).toBe(10);
      expect(next.streams).toMatchObject([{ recordsEmitted: 0 }, { recordsEmitted: 10 }, { recordsEmitted: 0 }]);

      await clear('reset', [{ streamName: 'users', streamNamespace: 'crm' }]);
      expect(connection.written().filter((line) => line.startsWith('replace'))).toEqual([
        'replace orders',
        'replace users',
      ]);
      expect((await ended((await connection.sync()).jobId)).rowsSynced).toBe(10);
      // Without a namespace, the one stream of that name.
      await clear('clear', [{ name: 'users' }, { name: 'items' }]);
      expect((await ended((await connection.sync()).jobId)).rowsSynced).toBe(20);
    },
  );

  test('is refused, and clears nothing, for whatever it does not understand', async () => {
    const { connect, ended, call } = await startSteered();
    const connection = await connect();
    connection.setCatalog(streamOf('items', 'a'), streamOf('items', 'b'), streamOf('users'));
    await ended((await connection.sync()).jobId);
    const before = connection.written();
    const { connectionId } = connection;
    for (const jobType of ['clear', 'reset']) {
      for (const wrong of [
        { streams: ['users'] },
        { streams: [] },
        { streams: null },
        { streams: { name: 'users' } },
        { streams: 'users' },
        { streams: [{ name: 'nobody' }] },
        { streams: [{ name: 'users' }, { name: 'nobody' }] },
        { streams: [{ name: 'users', namespace: 'a' }] },
        { streams: [{ name: 'items' }] },
        { streams: [{ name: 'items', namespace: 'A' }] },
        { streams: [{ name: 'users', namespace: 7 }] },
        { streams: [{ name: '' }] },
        { streams: [{}] },
        { streams: [{ name: 'users', dryRun: true }] },
        { streams: [{ name: 'users', streamName: 'users' }] },
        { stream: [{ name: 'users' }] },
        { streams: [{ name: 'users' }], dryRun: true },
      ]) {
        const answer = await call('POST', '/jobs', { connectionId, jobType, ...wrong });
        expect(answer, JSON.stringify(wrong)).toMatchObject({ status: 422, body: { title: 'unprocessable-entity' } });
      }
      expect((await call('POST', '/jobs?streams=users', { connectionId, jobType })).status).toBe(422);
    }
    expect((await call('GET', `/jobs?connectionId=${connectionId}`)).body.data).toHaveLength(1);
    expect(connection.written()).toEqual(before);
    // A sync deletes nothing that it does not replace: what it does not know is ignored, as everywhere.
    expect((await call('POST', '/jobs', { connectionId, jobType: 'sync', streams: ['x'] })).status).toBe(200);
  });

  test('a connection that has moved nothing succeeds at once', async () => {
    const { connect, ended } = await startSteered();
    const connection = await connect();
    expect((await ended((await connection.sync('clear')).jobId)).status).toBe('succeeded');
    expect(connection.written()).toEqual([]);
  });
});

describe('a job is refused', () => {
  test('for connections that are unknown, deleted or inactive, and for a refresh of an unknown stream', async () => {
    const { connect, call } = await startSteered();
    const { connectionId, path } = await connect();
    const post = (body: object) => call('POST', '/jobs', { connectionId, jobType: 'sync', ...body });
    expect(await post({ jobType: 'refresh', streams: [{ name: 'items' }] })).toMatchObject({
      status: 400,
      body: { data: { message: expect.stringContaining(' items ') } },
    });
    expect((await post({ jobType: 'other' })).status).toBe(400);
    expect((await post({ connectionId: 'x' })).status).toBe(400);
    const unknown = randomUUID();
    expect(await post({ connectionId: unknown })).toMatchObject({
      status: 404,
      body: { data: { resourceType: 'connection', resourceId: unknown } },
    });
    await call('PATCH', path, { status: 'inactive' });
    expect(await post({})).toMatchObject({ status: 409, body: { title: 'state-conflict' } });
    await call('DELETE', path);
    expect(await post({})).toMatchObject({ status: 409, body: { title: 'try-again-later' } });
  });
});

describe('jobs', () => {
  async function twoConnections() {
    const steered = await startSteered();
    const { connect, ended, clock } = steered;
    const one = await connect();
    const other = await connect();
    const jobs: number[] = [];
    for (const connection of [one, one, other]) {
      const { jobId } = await connection.sync(connection === one && jobs.length === 1 ? 'clear' : 'sync');
      await ended(jobId);
      jobs.push(jobId);
      clock.time += 3_600_000;
    }
    const list = async (query: string) => {
      const reply = await steered.call('GET', `/jobs?${query}`);
      expect(reply.status, query).toBe(200);
      return reply.body.data.map(({ jobId }: { jobId: number }) => jobs.indexOf(jobId));
    };
    return { ...steered, one, other, jobs, list };
  }

  test('are listed oldest first, filtered and ordered as asked', async () => {
    const { list, one, other, call } = await twoConnections();
    expect(await list('')).toEqual([0, 1, 2]);
    expect(await list('orderBy=createdAt%7CDESC')).toEqual([2, 1, 0]);
    expect(await list('orderBy=updatedAt%7CASC&limit=2&offset=1')).toEqual([1, 2]);
    expect(await list(`connectionId=${one.connectionId}`)).toEqual([0, 1]);
    expect(await list(`workspaceIds=${other.workspaceId}`)).toEqual([2]);
    expect(await list(`connectionId=${one.connectionId}&workspaceIds=${other.workspaceId}`)).toEqual([0, 1]);
    expect(await list('jobType=clear')).toEqual([1]);
    expect(await list('status=succeeded')).toEqual([0, 1, 2]);
    expect(await list('status=queued')).toEqual([]);
    expect(await list('createdAtStart=2030-01-01T01:00:00Z')).toEqual([1, 2]);
    expect(await list('createdAtEnd=2030-01-01T02:00:00%2B01:00')).toEqual([0, 1]);
    expect(await list('updatedAtStart=2030-01-01T01:00:00Z&updatedAtEnd=2030-01-01T01:30:00Z')).toEqual([1]);
    await call('DELETE', `/workspaces/${other.workspaceId}`);
    expect(await list('')).toEqual([0, 1]);
    expect(await list(`workspaceIds=${other.workspaceId}`)).toEqual([2]);
  });

  test('are listed in pages whose links keep the filters', async () => {
    const { call, one } = await twoConnections();
    const query = `connectionId=${one.connectionId}&orderBy=createdAt%7CDESC&limit=1`;
    const { body } = await call('GET', `/jobs?${query}`);
    expect(body.next).toBe(`${publicUrl}/jobs?${query}&offset=1`);
    expect(body.previous).toBe('');
  });

  test.each(['orderBy=createdAt', 'orderBy=name%7CASC', 'limit=0', 'status=done', 'createdAtStart=yesterday'])(
    'are not listed with %s',
    async (query) => {
      const { call } = await startSteered();
      expect((await call('GET', `/jobs?${query}`)).status).toBe(400);
    },
  );

  test('that do not exist are not found', async () => {
    const { call } = await startSteered();
    const notFound = { status: 404, body: { data: { resourceType: 'job', resourceId: '77' } } };
    expect(await call('GET', '/jobs/77')).toMatchObject(notFound);
    expect(await call('DELETE', '/jobs/77')).toMatchObject(notFound);
    expect((await call('GET', '/jobs/seven')).status).toBe(400);
  });
});
