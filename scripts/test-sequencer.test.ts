import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { TestSpecification, Vitest } from 'vitest/node';
import SlowestFirst, { slowFiles } from './test-sequencer.mjs';

it('names only files that there are', () => {
  const missing = slowFiles.filter((file) => !existsSync(fileURLToPath(new URL(`../${file}`, import.meta.url))));
  expect(missing).toEqual([]);
});

it('puts the slowest file first and each project in one row, so that no worker loads the service twice', async () => {
  const context = {
    config: { root: '/inlay' },
    cache: { getFileTestResults: () => undefined, getFileStats: () => undefined },
  };
  const files = [
    ['parts', 'contract/src/ids.test.ts'],
    ['programs', 'server/src/errors.test.ts'],
    ['parts', 'contract/src/paging.test.ts'],
    ['programs', String(slowFiles[0])],
  ].map(([name, file]) => ({
    moduleId: `/inlay/${file}`,
    project: { name, config: { root: '/inlay', sequence: { groupOrder: 0 } } },
  }));
  const sorted = await new SlowestFirst(context as unknown as Vitest).sort(files as unknown as TestSpecification[]);
  expect(sorted.map(({ project }) => project.name)).toEqual(['programs', 'programs', 'parts', 'parts']);
  expect(sorted[0]?.moduleId).toBe(`/inlay/${slowFiles[0]}`);
});
