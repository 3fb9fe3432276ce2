import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { findChromium } from '../scripts/chromium.mjs';
import { findPostgres, postgresPrograms } from '../scripts/postgres.mjs';
import { isReached } from './figures.ts';
import type { Report } from './report.ts';

const program = fileURLToPath(new URL('run.mjs', import.meta.url));
/** It starts the service several times, which takes minutes on a machine that has other things to do. */
const timeoutMs = 900_000;

/** How many figures each benchmark gives, in the order in which they run. */
const all = {
  ...{ api: 23, 'api-postgres': 23, growth: 12, lists: 58, console: 108, 'job-log': 15, memory: 4, replicas: 2 },
  ...{
    'workspace-sync': 4,
    quotas: 2,
    events: 10,
    webhooks: 2,
    'fair-share': 3,
    'hostile-connectors': 2,
    'due-syncs': 1,
    disk: 4,
  },
  ...{ 'sync-to-files': 2, 'sync-to-postgres': 2, 'postgres-to-postgres': 2, templates: 2, declarative: 3 },
  ...{ compare: 16, layers: 16, start: 8 },
};

test(
  'each benchmark runs to its end, prints its table and writes its figures',
  async () => {
    // A benchmark leaves out the parts whose programs are missing. In this test nothing may be left out.
    await findPostgres({ install: true, needed: postgresPrograms });
    await findChromium({ install: true });
    const folder = mkdtempSync(join(tmpdir(), 'inlay-bench-smoke-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const output = join(folder, 'report.json');
    const args = [program, '--smoke', '--records', '300', '--output', output];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: timeoutMs });
    const unexpected = stderr.split('\n').filter((line) => !/^(compare: .*)?$/.test(line));
    expect({ status, unexpected }).toEqual({ status: 0, unexpected: [] });
    const { figures }: Report = JSON.parse(readFileSync(output, 'utf8'));
    const counts: Record<string, number> = {};
    for (const { benchmark } of figures) counts[benchmark] = (counts[benchmark] ?? 0) + 1;
    expect(Object.entries(counts)).toEqual(Object.entries(all));
    expect(new Set(figures.map(({ work }) => work)).size).toBe(figures.length);
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
