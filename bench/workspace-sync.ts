/*
 * How long a sync of workspaces from the platform takes, when all are new and when all are known, compared with a bare
 * client that fetches the same pages. The platform is the bundled one, served over HTTP by a separate process.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from '../platform/src/db/open.ts';
import { pageSize } from '../server/src/platform/paging.ts';
import {
  type Benchmark,
  type BenchmarkOptions,
  type Figure,
  type Measured,
  measureInTurns,
  tookMs,
} from './benchmark.ts';
import { type ChildProgram, startProgram } from './child-program.ts';
import type { SeededDatabase } from './databases.ts';
import { organizationId, workspaceAt } from './dataset.ts';
import type { PagesQuestion } from './page-fetcher.ts';
import { watchUsage } from './process-usage.ts';
import { type ServiceProcess, startService } from './service-process.ts';

const credentials = {
  INLAY_PLATFORM_CLIENT_ID: 'benchmark',
  INLAY_PLATFORM_CLIENT_SECRET: 'a-secret-that-only-benchmarks-know',
};
/** The time of our sync divided by the time for the pages alone. */
const targets = { known: 1.3, fresh: 2 };
type Name = SeededDatabase['name'];
type Fetcher = ChildProgram<PagesQuestion, { tookMs: number; pages: number }>;

export const benchmark: Benchmark = {
  name: 'workspace-sync',

  async run(options) {
    const { platformWorkspaces: count, folder, programs, signal } = options;
    const dataDir = join(folder, 'platform');
    await seedPlatform(dataDir, count);
    const environment = { ...credentials, INLAY_PLATFORM_ORGANIZATION_ID: organizationId };
    const platform = await startService({ dataDir, command: 'platform', environment }, options);
    const fetcher: Fetcher = startProgram(join(programs, 'page-fetcher.js'), signal);
    const measure = async (database: Name, makeEmpty?: () => Promise<string>): Promise<Figure[]> => {
      const service = createRestartedService(platform, options, makeEmpty);
      try {
        const { pages, fresh, known } = await measureInTurns(
          {
            pages: () => fetchPages(fetcher, platform),
            fresh: async () => {
              await service.startEmpty();
              return await sync(service.running(), { total_count: count, created_count: count });
            },
            known: () => sync(service.running(), { total_count: count, created_count: 0 }),
          },
          options.rounds,
          tookMs,
        );
        const work = `${database}: sync of ${count.toLocaleString('en')} workspaces`;
        return [
          figureOf(`${work}, all new`, fresh, pages, targets.fresh),
          figureOf(`${work}, all known`, known, pages, targets.known),
        ];
      } finally {
        await service.stop();
      }
    };
    try {
      const figures = await measure('SQLite');
      const postgres = await options.databases.postgres();
      if (postgres) figures.push(...(await measure('PostgreSQL', () => postgres.makeEmpty('synchronised'))));
      return figures;
    } finally {
      await fetcher.stop();
      await platform.stop();
    }
  },
};

function figureOf(work: string, ours: Measured, pages: Measured, atMost: number): Figure {
  return {
    work,
    value: ours.tookMs,
    unit: 'ms',
    reference: { name: 'the pages alone', value: pages.tookMs },
    ratio: ours.tookMs / pages.tookMs,
    target: { of: 'ratio', atMost },
    usage: ours.usage,
  };
}

async function fetchPages(fetcher: Fetcher, platform: ServiceProcess): Promise<Measured> {
  const url = `${platform.url}/platform/v1`;
  const answer = await fetch(`${url}/applications/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_id: credentials.INLAY_PLATFORM_CLIENT_ID,
      client_secret: credentials.INLAY_PLATFORM_CLIENT_SECRET,
      grant_type: 'client_credentials',
    }),
  });
  const { access_token: token } = (await answer.json()) as { access_token: string };
  const { tookMs } = await fetcher.ask({ url, token, organizationId, pageSize });
  return { tookMs, usage: {} };
}

async function sync(service: ServiceProcess, expected: Record<string, number>): Promise<Measured> {
  const endWatch = watchUsage(service.pid, () => 'service');
  try {
    const startedAt = performance.now();
    const result = (await service.request('POST', '/api/v1/workspaces/sync')) as Record<string, unknown>;
    const tookMs = performance.now() - startedAt;
    for (const [field, value] of Object.entries(expected)) {
      if (result[field] !== value) throw new Error(`The sync gave ${field} as ${result[field]}, not ${value}.`);
    }
    return { tookMs, usage: endWatch() };
  } finally {
    endWatch();
  }
}

/** A service in front of the platform that can be started again with an empty store. */
function createRestartedService(
  platform: ServiceProcess,
  options: BenchmarkOptions,
  makeEmptyPostgres: (() => Promise<string>) | undefined,
) {
  const dataDir = join(options.folder, 'synchronised');
  let service: ServiceProcess | undefined;
  const stop = async () => await service?.stop();
  return {
    stop,
    async startEmpty(): Promise<void> {
      await stop();
      rmSync(dataDir, { recursive: true, force: true });
      mkdirSync(dataDir);
      const environment = {
        ...credentials,
        INLAY_PLATFORM_URL: `${platform.url}/platform/v1`,
        ...(makeEmptyPostgres ? { INLAY_DATABASE_URL: await makeEmptyPostgres() } : {}),
      };
      service = await startService({ dataDir, environment }, options);
    },
    running(): ServiceProcess {
      if (!service) throw new Error('The service was not started.');
      return service;
    },
  };
}

const rowsAtATime = 1_000;

async function seedPlatform(dataDir: string, count: number): Promise<void> {
  mkdirSync(dataDir);
  const store = await openStore(join(dataDir, 'platform.db'));
  try {
    await store.transaction(async (tx) => {
      await tx.insertInto('organizations').values({ organization_id: organizationId, created_at: 0 }).execute();
      for (let from = 0; from < count; from += rowsAtATime) {
        const rows = Array.from({ length: Math.min(rowsAtATime, count - from) }, (_, i) => rowOf(from + i, count));
        await tx.insertInto('workspaces').values(rows).execute();
      }
    });
  } finally {
    await store.close();
  }
}

function rowOf(index: number, count: number) {
  const { id, name, createdAt } = workspaceAt(index, count);
  return {
    workspace_id: id,
    organization_id: organizationId,
    name,
    name_nfc: name,
    data_residency: 'us' as const,
    notifications: '{}',
    created_at: createdAt,
    deleted_at: null,
  };
}
