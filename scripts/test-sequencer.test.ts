import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { slowFiles } from './test-sequencer.mjs';

it('names only files that there are', () => {
  const missing = slowFiles.filter((file) => !existsSync(fileURLToPath(new URL(`../${file}`, import.meta.url))));
  expect(missing).toEqual([]);
});
