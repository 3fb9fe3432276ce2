/* A connection from one PostgreSQL database to another, on its own platform. */
import { createDatabase, type TestDatabase } from '../../connectors/test/postgres.ts';
import { type StartOptions, startPlatform } from './start-platform.ts';
import { until } from './steered.ts';

export const deduplicated = 'incremental_deduped_history';

/** Connects the tables `items` and `notes`, deduplicated by default. */
export async function connectTables(sql: string, more: object = {}, options: StartOptions = {}) {
  const [source, target] = [await createDatabase(), await createDatabase()];
  await source.client.query(sql);
  const { platform, call, clock } = await startPlatform({ allowPrivateNetworks: true, ...options });
  platform.start();
  const { workspaceId } = (await call('POST', '/workspaces', { name: 'tables' })).body;
  const create = async (kind: 'source' | 'destination', definitionId: string, { config }: TestDatabase) =>
    (await call('POST', `/${kind}s`, { name: kind, workspaceId, definitionId, configuration: config })).body[
      `${kind}Id`
    ];
  const destinationId = await create('destination', '3b82f6d1-0c47-4e9a-a5d8-6e19c2b7f043', target);
  const { body: connection } = await call('POST', '/connections', {
    sourceId: await create('source', '9e0b7c34-52a1-4d6f-b8e3-1f46a7d05c92', source),
    destinationId,
    namespaceDefinition: 'destination',
    configurations: {
      streams: [
        { name: 'items', syncMode: deduplicated },
        { name: 'notes', syncMode: deduplicated },
      ],
    },
    ...more,
  });
  const { connectionId } = connection;
  const start = async (body: object = {}) => {
    const reply = await call('POST', '/jobs', { connectionId, jobType: 'sync', ...body });
    if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
    return reply.body.jobId as number;
  };
  const ended = async (jobId: number) => {
    let job = (await call('GET', `/jobs/${jobId}`)).body;
    await until(async () => {
      job = (await call('GET', `/jobs/${jobId}`)).body;
      return job.lastUpdatedAt !== undefined;
    });
    return job;
  };
  const sync = async (body: object = {}) => await ended(await start(body));
  const configure = async (...streams: object[]) => {
    const reply = await call('PATCH', `/connections/${connectionId}`, { configurations: { streams } });
    if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
  };
  /** What the job's log has from this level on. */
  const warnings = async (jobId: number): Promise<string[]> =>
    (await call('GET', `/jobs/${jobId}/log`)).body.lines
      .filter(({ level }: { level: string }) => level === 'WARN')
      .map(({ message }: { message: string }) => message);
  const columns = async (table: string) =>
    (
      await target.query<{ name: string }>(
        `select column_name as name from information_schema.columns
         where table_name = $1 and column_name not like '\\_inlay%' order by ordinal_position`,
        [table],
      )
    ).map(({ name }) => name);
  return {
    source,
    target,
    start,
    ended,
    sync,
    configure,
    warnings,
    columns,
    call,
    clock,
    platform,
    connectionId,
    destinationId,
  };
}
