import { expect, it } from 'vitest';
import type { TestSpecification, Vitest } from 'vitest/node';
import SlowestFirst from './test-sequencer.mjs';

/** In which order the files come, given how long each took in the last run. */
async function sort(files: [project: string, file: string][], lastRun: Record<string, number> = {}): Promise<string[]> {
  const getFileTestResults = (key: string) => (key in lastRun ? { duration: lastRun[key] } : undefined);
  const context = { config: { root: '/inlay' }, cache: { getFileTestResults } };
  const specifications = files.map(([name, file]) => ({ moduleId: `/inlay/${file}`, project: { name } }));
  const sorted = await new SlowestFirst(context as unknown as Vitest).sort(
    specifications as unknown as TestSpecification[],
  );
  return sorted.map(({ moduleId }) => moduleId.slice('/inlay/'.length));
}

it('Test files come in one row for each project, so that no worker loads the service twice', async () => {
  const sorted = await sort(
    [
      ['parts', 'contract/src/ids.test.ts'],
      ['programs', 'server/src/errors.test.ts'],
      ['parts', 'contract/src/paging.test.ts'],
    ],
    { 'parts:contract/src/paging.test.ts': 90_000, 'programs:server/src/errors.test.ts': 1 },
  );
  expect(sorted).toEqual(['server/src/errors.test.ts', 'contract/src/ids.test.ts', 'contract/src/paging.test.ts']);
});

it('Test files that took longest in the last run come first, after those that it did not have', async () => {
  const sorted = await sort(
    [
      ['programs', 'server/src/quick.test.ts'],
      ['programs', 'server/src/slow.test.ts'],
      ['programs', 'server/src/new.test.ts'],
    ],
    { 'programs:server/src/quick.test.ts': 5, 'programs:server/src/slow.test.ts': 5_000 },
  );
  expect(sorted).toEqual(['server/src/new.test.ts', 'server/src/slow.test.ts', 'server/src/quick.test.ts']);
});

it('Test files in folders with slow tests come first in a fresh clone', async () => {
  const sorted = await sort([
    ['programs', 'server/src/errors.test.ts'],
    ['programs', 'console/test/live.test.ts'],
    ['programs', 'server/test/faults/kill-points.test.ts'],
  ]);
  expect(sorted).toEqual([
    'console/test/live.test.ts',
    'server/test/faults/kill-points.test.ts',
    'server/src/errors.test.ts',
  ]);
});
