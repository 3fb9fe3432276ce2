/**
 * Builds crashing-service.ts into a program, beside the product: there its packages and what else was built are found.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll } from 'vitest';
import { bundleProgram } from '../../../scripts/build.mjs';
import { writeCodeCache } from '../../bin/code-cache.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const compiledProgram = join(root, 'server/bin/compiled-program.js');
const entry = 'server/test/support/crashing-service.ts';

/**
 * Builds it for the tests of a file or a `describe`, and returns its path. It starts as quickly as the product. It stays
 * with the build of the product, whose name identifies the rest of its content: only the first test file has to build it.
 */
export function useCrashingProgram(): string {
  const dist = realpathSync(join(root, 'server/dist'));
  const fingerprint = createHash('sha256')
    .update(readFileSync(join(root, entry)))
    .digest('hex');
  const name = `crashing-${fingerprint.slice(0, 16)}`;
  const program = join(dist, `${name}-start.cjs`);
  beforeAll(async () => {
    if (existsSync(program)) return;
    const unfinished = join(dist, `../unfinished-${process.pid}`);
    const bundle = join(dist, `${name}.cjs`);
    mkdirSync(unfinished, { recursive: true });
    try {
      await bundleProgram({ entry, outfile: join(unfinished, `${name}.cjs`) });
      // Other test files may build the same program at this moment, or run it.
      for (const file of [`${name}.cjs.map`, `${name}.cjs`]) renameSync(join(unfinished, file), join(dist, file));
      await writeCodeCache(bundle);
      const start = join(unfinished, 'start.cjs');
      writeFileSync(start, `require(${JSON.stringify(compiledProgram)}).runProgram(${JSON.stringify(bundle)});\n`);
      renameSync(start, program);
    } finally {
      rmSync(unfinished, { recursive: true, force: true });
    }
  });
  return program;
}
