/**
 * Builds crashing-service.ts into a program, beside the product: there its packages and what else was built are found.
 */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';
import { bundleService } from '../../../scripts/build.mjs';
import { writeCodeCache } from '../../../scripts/code-cache.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const compiledProgram = join(root, 'server/bin/compiled-program.js');

/** Builds it for the tests of a file or a `describe`, and returns its path. It starts as quickly as the product. */
export function useCrashingProgram(): string {
  const bundle = join(root, `server/dist/crashing-${process.pid}.cjs`);
  const program = join(root, `server/dist/crashing-${process.pid}-start.cjs`);
  beforeAll(async () => {
    await bundleService({ entry: 'server/test/support/crashing-service.ts', outfile: bundle });
    await writeCodeCache(bundle);
    await writeFile(program, `require(${JSON.stringify(compiledProgram)}).runProgram(${JSON.stringify(bundle)});\n`);
  });
  afterAll(async () => {
    for (const file of [program, bundle, `${bundle}.map`, `${bundle}.cache`]) await rm(file, { force: true });
  });
  return program;
}
