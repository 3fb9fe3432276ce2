/*
 * How long a sync of workspaces from the platform takes, when all are new and when all are known, compared with a bare
 * client that fetches the same pages, as many at a time. The platform is the bundled one, served over HTTP by a separate
 * process.
 */
import { Agent } from 'node:http';
import { join } from 'node:path';
import { type BenchmarkOptions, onBothDatabases } from './benchmark.ts';
import { fill, organizationId, workspaceAt } from './dataset.ts';
import { fetchText } from './fetch-text.ts';
import { figureOf, measureInTurns, numberText, timed } from './figures.ts';
import { watchUsage } from './process-usage.ts';
import { openPlatformStore, platformPageSize, readPages } from './product.ts';
import { type ServiceProcess, startService } from './service-process.ts';

const credentials = {
  INLAY_PLATFORM_CLIENT_ID: 'benchmark',
  INLAY_PLATFORM_CLIENT_SECRET: 'a-secret-that-only-benchmarks-know',
};
/** The time of our sync divided by the time for the pages alone. */
const targets = { known: 1.3, fresh: 2 };

export const workspaceSync = onBothDatabases('workspace-sync', async (database, options) => {
  const total_count = options['platform-workspaces'];
  const platform = await startPlatform(options);
  const url = `${platform.url}/platform/v1`;
  let service: ServiceProcess | undefined;
  /** A service in front of the platform, with an empty store. */
  async function startEmpty() {
    await service?.stop();
    const place = await database.makeEmpty('synchronized');
    const environment = { ...credentials, INLAY_PLATFORM_URL: url, ...place.environment };
    service = await startService({ ...place, environment }, options);
  }
  async function sync(created_count: number) {
    if (!service) throw new Error('The service did not start.');
    const { pid, request } = service;
    const endWatch = watchUsage(pid, { service: '' });
    try {
      let answer: object = {};
      const measured = await timed(async () => {
        answer = await request<object>('POST', '/api/v1/workspaces/sync');
      });
      const { total_count: total, created_count: created } = answer as Record<string, number>;
      if (total !== total_count || created !== created_count)
        throw new Error(`A sync returned ${JSON.stringify(answer)}.`);
      return { ...measured, usage: endWatch() };
    } finally {
      endWatch();
    }
  }
  const works = {
    pages: () => fetchPages(url),
    async fresh() {
      await startEmpty();
      return await sync(total_count);
    },
    known: () => sync(0),
  };
  const { pages, fresh, known } = await measureInTurns(works, options);
  const work = `sync of ${numberText(total_count)} workspaces`;
  const than: [string, typeof pages] = ['the pages alone', pages];
  return [
    figureOf(`${work}, all new`, ['each', 'ms'], fresh, { than, target: { of: 'ratio', atMost: targets.fresh } }),
    figureOf(`${work}, all known`, ['each', 'ms'], known, { than, target: { of: 'ratio', atMost: targets.known } }),
  ];
});

async function startPlatform(options: BenchmarkOptions): Promise<ServiceProcess> {
  const { dataDir } = await options.databases.sqlite.makeEmpty('platform');
  const store = await openPlatformStore(join(dataDir, 'platform.db'));
  const count = options['platform-workspaces'];
  const owner = { organization_id: organizationId };
  try {
    await fill(store.db, 'organizations', { count: 1, rowOf: () => ({ ...owner, created_at: 0 }) });
    await fill(store.db, 'workspaces', {
      count,
      same: { ...owner, data_residency: 'us', notifications: '{}' },
      rowOf(index) {
        const { id, name, createdAt } = workspaceAt(index, count);
        return { workspace_id: id, name, name_nfc: name, created_at: createdAt };
      },
      signal: options.signal,
    });
  } finally {
    await store.close();
  }
  const environment = { ...credentials, INLAY_PLATFORM_ORGANIZATION_ID: organizationId };
  return await startService({ dataDir, command: 'platform', environment }, options);
}

/** Keeps only the number of items per page, which shows where the list ends. */
async function fetchPages(url: string) {
  const answer = await fetch(`${url}/applications/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_id: credentials.INLAY_PLATFORM_CLIENT_ID,
      client_secret: credentials.INLAY_PLATFORM_CLIENT_SECRET,
      grant_type: 'client_credentials',
    }),
  });
  const { access_token } = (await answer.json()) as { access_token: string };
  const agent = new Agent({ keepAlive: true });
  const headers = { authorization: `Bearer ${access_token}` };
  const fetchPage = async (offset: number) => {
    const query = `organizationId=${organizationId}&limit=${platformPageSize}&offset=${offset}`;
    return (JSON.parse(await fetchText(`${url}/workspaces?${query}`, agent, headers)) as { data: unknown[] }).data;
  };
  const measured = await timed(async () => {
    for await (const _ of readPages(fetchPage));
  });
  agent.destroy();
  return measured;
}
