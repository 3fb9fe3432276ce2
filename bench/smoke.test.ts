import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import type { Report } from './report.ts';

const program = fileURLToPath(new URL('run.mjs', import.meta.url));

test('every benchmark runs to its end, prints its table and writes its figures', () => {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-bench-smoke-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const output = join(folder, 'report.json');
  const args = [program, '--smoke', '--records', '300', '--output', output];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 110_000 });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const { figures }: Report = JSON.parse(readFileSync(output, 'utf8'));
  expect(figures.map(({ work }) => work)).toEqual([
    'sample-data → local-files, append',
    'sample-data → local-files, overwrite',
    'sample-data → destination-postgres, append',
    'sample-data → destination-postgres, append_dedup',
  ]);
  for (const { work, records, ratio } of figures) {
    expect(records).toBe(300);
    expect(ratio).toBeGreaterThan(0);
    expect(stdout).toContain(`| ${work} | 300 |`);
  }
});
