/**
 * Builds crashing-service.ts into a program, beside the product: there its packages and what else was built are found.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Builds it for the tests of a file or a `describe`, and returns its path. */
export function useCrashingProgram(): string {
  const program = join(root, `server/dist/crashing-${process.pid}.mjs`);
  beforeAll(async () => {
    await build({
      absWorkingDir: root,
      entryPoints: ['server/test/support/crashing-service.ts'],
      outfile: program,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      // All in one file, so that it starts twice as fast. Native packages stay in node_modules.
      external: ['@photostructure/sqlite', 'pg-native'],
      banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
      alias: { '@inlay/contract': join(root, 'contract/src'), '@inlay/platform': join(root, 'platform/src') },
      logLevel: 'error',
    });
  });
  afterAll(() => rm(program, { force: true }));
  return program;
}
