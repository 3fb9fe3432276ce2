import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { findPostgres, postgresPrograms } from '../scripts/postgres.mjs';
import type { Store } from '../server/src/db/open.ts';
import { isReached } from './benchmark.ts';
import { oneRow, screensOf } from './console.ts';
import type { ConsoleDataset } from './console-dataset.ts';
import type { Report } from './report.ts';

const program = fileURLToPath(new URL('run.mjs', import.meta.url));
/** It starts the service several times, which takes minutes on a machine that has other things to do. */
const timeoutMs = 900_000;

const requests = [
  'GET scoped-token/info',
  'POST scoped-token',
  'POST widget-token',
  'GET /workspaces/{id}',
  'GET /workspaces?limit=20',
  'GET /workspaces?limit=20, page 10,000',
];
const comparisons = [
  'GET /workspaces?limit=20, page 10,000, median answer',
  'GET /workspaces/stats, median answer',
  ...[
    'rare',
    'in a few hundred',
    'in thousands',
    'common',
    'absent',
    'absent, of common parts',
    'two characters, rare',
    'two characters, common',
    'two characters, absent',
    'one character, rare',
    'one character, common',
    'one character, absent',
  ].map((kind) => `name_contains, ${kind}, p99 of an answer`),
  'event-loop lag p99 while any of these is asked for',
];
const growth = [
  ...['GET /workspaces/{id}', 'GET /workspaces?limit=20', 'POST scoped-token', 'GET /workspaces/stats'],
  'name_contains, rare',
].map((name) => `${name} with 2,000 workspaces, median answer`);
const lists = [
  'jobs',
  'jobs, status=failed',
  'jobs, failing=true',
  'jobs, status=failed of a day',
  'jobs of a template',
  'jobs, status=running, none',
  'workspaces',
  'workspaces, health=failing',
  'workspaces, health=paused, none',
  'overview',
].map((name) => `${name} with 2,000 jobs, median page`);
const consoleScreens = Object.keys(screensOf({} as Store, {} as ConsoleDataset))
  .filter((name) => name !== oneRow)
  .map((name) => `${name} with 100,000 jobs, median answer`);
const jobLog = ['the file', 'our own store on SQLite', 'our own store on PostgreSQL'].flatMap((place) =>
  [
    'first page',
    'last page',
    'a page in the middle',
    'first error, near the end',
    'search for a rare word, the longest of its requests',
    'search for a rare word, all of its requests',
  ].map((work) => `A log of 2 MB in ${place}: ${work}`),
);
const memory = [
  'memory with 2,000 workspaces under load',
  'memory with 2,000 workspaces under load, second half to first',
];
const replicas = ['POST scoped-token', 'GET /workspaces?limit=20'].map(
  (name) => `PostgreSQL: ${name}, ${Math.max(2, availableParallelism())} processes`,
);
const syncs = ['sync of 500 workspaces, all new', 'sync of 500 workspaces, all known'];
const quotas = ['recording a source beside 500 others, with quotas'];
const fairShare = [
  'a sync starts while four of another workspace never end',
  'a check is over while another workspace has its queue full',
  '/health/live meanwhile, the slowest answer',
];
const hostileConnectors = [
  'a source with 300 streams is set up and synced',
  'configurations are checked by a hostile pattern',
];
const events = [
  'recording a source with its entry in the log',
  'a page of events, of 2,000 entries',
  'a page of a rare type, of 2,000 entries',
  "a page of a workspace's events of some types, of 2,000 entries",
];
const on = (database: string, works: string[]) => works.map((work) => `${database}: ${work}`);

/** What each benchmark measures. A short run tries these: one of the service on both databases, and one of syncs. */
const quick = {
  webhooks: ['SQLite', 'PostgreSQL'].map((name) => `${name}: events to one webhook endpoint on loopback`),
  'sync-to-files': ['sample-data → local-files, append', 'sample-data → local-files, overwrite'],
};
/** In the order in which they run. */
const all = {
  api: on('SQLite', [...requests, ...comparisons]),
  'api-postgres': on('PostgreSQL', [...requests, 'GET /workspaces/stats', ...comparisons]),
  growth: [
    ...on('SQLite', [...growth, 'start to ready, empty', 'start to ready, 2,000 workspaces']),
    ...on('PostgreSQL', growth),
  ],
  lists: [...on('SQLite', lists), ...on('PostgreSQL', lists)],
  console: [...on('SQLite', consoleScreens), ...on('PostgreSQL', consoleScreens)],
  'job-log': jobLog,
  memory: [...on('SQLite', memory), ...on('PostgreSQL', memory)],
  replicas,
  'workspace-sync': [...on('SQLite', syncs), ...on('PostgreSQL', syncs)],
  quotas: [...on('SQLite', quotas), ...on('PostgreSQL', quotas)],
  events: [...on('SQLite', events), ...on('PostgreSQL', events)],
  webhooks: quick.webhooks,
  'fair-share': fairShare.map((work) => `fair share: ${work}`),
  'hostile-connectors': hostileConnectors.map((work) => `/health/live, the slowest answer, while ${work}`),
  'due-syncs': ['4 connections due at once, sample-data of 100 rows → local-files'],
  'sync-to-files': quick['sync-to-files'],
  'sync-to-postgres': [
    'sample-data → destination-postgres, append',
    'sample-data → destination-postgres, append_dedup',
  ],
  'postgres-to-postgres': [
    'postgres → destination-postgres, overwrite',
    'postgres → destination-postgres, append_dedup',
  ],
  templates: ['1,000 evaluations of a name', '1,000 evaluations of a date expression'],
  declarative: ['500 records in pages of 500', '20 partitions', 'memory with 20 partitions'].map(
    (work) => `a declarative source: ${work}`,
  ),
};
const chosen = process.env.INLAY_LONG_TESTS ? all : quick;

test(
  'each benchmark runs to its end, prints its table and writes its figures',
  async () => {
    // A benchmark leaves out the parts whose programs are missing. In this test nothing may be left out.
    await findPostgres({ install: true, needed: postgresPrograms });
    const folder = mkdtempSync(join(tmpdir(), 'inlay-bench-smoke-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const output = join(folder, 'report.json');
    const args = [program, ...Object.keys(chosen), '--smoke', '--records', '300', '--output', output];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: timeoutMs });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const { figures }: Report = JSON.parse(readFileSync(output, 'utf8'));
    expect(figures.map(({ work }) => work)).toEqual(Object.values(chosen).flat());
    for (const figure of figures) {
      const { work, value, ratio, reference, failures = 0, target } = figure;
      expect(value, work).toBeGreaterThanOrEqual(0);
      expect(failures, work).toBe(0);
      if (reference) expect(ratio, work).toBeCloseTo(value / reference.value);
      const row = stdout.split('\n').find((line) => line.startsWith(`| ${work} |`));
      expect(row, work).toBeDefined();
      if (target) expect(row, work).toContain(isReached(figure) ? ' reached |' : ' missed |');
    }
  },
  timeoutMs + 10_000,
);
