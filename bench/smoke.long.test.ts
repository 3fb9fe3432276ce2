import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { findPostgres, postgresPrograms } from '../scripts/postgres.mjs';
import { oneRow, screensOf } from './console.ts';
import type { ConsoleDataset } from './console-dataset.ts';
import { nameParts } from './dataset.ts';
import { isReached } from './figures.ts';
import { pagesOf, type Seeded } from './lists.ts';
import type { Store } from './product.ts';
import type { Report } from './report.ts';
import { kinds } from './requests.ts';

const program = fileURLToPath(new URL('run.mjs', import.meta.url));
/** It starts the service several times, which takes minutes on a machine that has other things to do. */
const timeoutMs = 900_000;

const { stats, ...requests } = kinds;
const comparisons = [
  ...[kinds.listFar, stats].map((name) => `${name}, median answer`),
  ...Object.keys(nameParts).map((kind) => `name_contains, ${kind}, p99 of an answer`),
  'event-loop lag p99 while any of these is asked for',
];
const compared = [kinds.get, kinds.list, kinds.scopedToken, stats, 'name_contains, rare'];
const growth = compared.map((name) => `${name} with 2,000 workspaces, median answer`);
const seeded = { jobs: 0, seeded: [] } as unknown as Seeded;
const screens = Object.keys(screensOf({} as Store, {} as ConsoleDataset)).filter((name) => name !== oneRow);
const logPlaces = ['the file', 'our own store on SQLite', 'our own store on PostgreSQL'];
const logWorks = ['first page', 'last page', 'a page in the middle', 'first error, near the end'].concat(
  ['longest', 'all'].map(
    (which) => `search for a rare word, ${which === 'all' ? 'all' : 'the longest'} of its requests`,
  ),
);
const on = (database: string, works: string[]) => works.map((work) => `${database}: ${work}`);
const onBoth = (...works: string[]) => [...on('SQLite', works), ...on('PostgreSQL', works)];

/** What each benchmark measures, in the order in which they run. */
const all = {
  api: on('SQLite', [...Object.values(requests), ...comparisons]),
  'api-postgres': on('PostgreSQL', [...Object.values(kinds), ...comparisons]),
  growth: [
    ...on('SQLite', [...growth, 'start to ready, empty', 'start to ready, 2,000 workspaces']),
    ...on('PostgreSQL', growth),
  ],
  lists: onBoth(...Object.keys(pagesOf({} as Store, seeded)).map((name) => `${name} with 2,000 jobs, median page`)),
  console: onBoth(...screens.map((name) => `${name} with 100,000 jobs, median answer`)),
  'job-log': logPlaces.flatMap((place) => logWorks.map((work) => `A log of 2 MB in ${place}: ${work}`)),
  memory: onBoth(...['', ', second half to first'].map((half) => `memory with 2,000 workspaces under load${half}`)),
  replicas: [kinds.scopedToken, kinds.list].map(
    (name) => `PostgreSQL: ${name}, ${Math.max(2, availableParallelism())} processes`,
  ),
  'workspace-sync': onBoth('sync of 500 workspaces, all new', 'sync of 500 workspaces, all known'),
  quotas: onBoth('recording a source beside 500 others, with quotas'),
  events: onBoth(
    'recording a source with its entry in the log',
    'from the commit of an entry to its position, 99 of 100',
    'a page of events, of 2,000 entries',
    'a page of a rare type, of 2,000 entries',
    "a page of a workspace's events of some types, of 2,000 entries",
  ),
  webhooks: onBoth('events to one webhook endpoint on loopback'),
  'fair-share': [
    'fair share: a sync starts while four of another workspace never end',
    'fair share: a check is over while another workspace has its queue full',
    'fair share: /health/live meanwhile, the slowest answer',
  ],
  'hostile-connectors': [
    '/health/live, the slowest answer, while a source with 300 streams is set up and synced',
    '/health/live, the slowest answer, while configurations are checked by a hostile pattern',
  ],
  'due-syncs': ['4 connections due at once, sample-data of 100 rows → local-files'],
  'sync-to-files': ['sample-data → local-files, append', 'sample-data → local-files, overwrite'],
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

test(
  'each benchmark runs to its end, prints its table and writes its figures',
  async () => {
    // A benchmark leaves out the parts whose programs are missing. In this test nothing may be left out.
    await findPostgres({ install: true, needed: postgresPrograms });
    const folder = mkdtempSync(join(tmpdir(), 'inlay-bench-smoke-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const output = join(folder, 'report.json');
    const args = [program, '--smoke', '--records', '300', '--output', output];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: timeoutMs });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const { figures }: Report = JSON.parse(readFileSync(output, 'utf8'));
    expect(figures.map(({ work }) => work)).toEqual(Object.values(all).flat());
    for (const figure of figures) {
      const { work, value, ratio, reference, measured, target } = figure;
      expect(value, work).toBeGreaterThanOrEqual(0);
      expect(measured?.failures ?? 0, work).toBe(0);
      if (reference) expect(ratio, work).toBeCloseTo(value / reference.value);
      const row = stdout.split('\n').find((line) => line.startsWith(`| ${work} |`));
      expect(row, work).toBeDefined();
      if (target) expect(row, work).toContain(isReached(figure) ? ' reached |' : ' missed |');
    }
  },
  timeoutMs + 10_000,
);
