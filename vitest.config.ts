import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import SlowestFirst from './scripts/test-sequencer.mjs';

/** Tests of code that runs as a process or in a browser. */
const programs = [
  '{server,platform,connectors,manifests,bench}/**/*.test.ts',
  '{widget,console,embed}/test/**/*.test.{ts,tsx}',
  'examples/**/*.test.ts',
  'scripts/{demo,package}.test.ts',
  'deploy/proxies.long.test.ts',
];
const isLongRun = process.env.INLAY_LONG_TESTS !== undefined;
const exclude = [
  ...['**/node_modules/**', '**/dist/**', '**/builds/**', 'scripts/fixtures/**'],
  // Files of which even a part takes long.
  ...(isLongRun ? [] : ['**/*.long.test.ts']),
];

const timeoutMs = isLongRun ? 3_600_000 : 600_000;

export default defineConfig({
  test: {
    pool: 'forks',
    // Loading the service again for each of two hundred files takes minutes. A test file leaves nothing behind that could
    // change the next one.
    isolate: false,
    // A quarter of the CPU time of starting an app goes into collecting short-lived objects. With twice this room a start
    // takes no less, with half of it an eighth more. One thread collects: several threads of each worker wait for each other
    // where there are more workers than cores.
    execArgv: ['--min-semi-space-size=128', '--max-semi-space-size=128', '--single-threaded-gc'],
    // Two more than there are cores: many tests wait for processes, databases and pages. Each worker takes three seconds
    // of CPU time to load the service, and compiles it while it runs.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: SlowestFirst },
    setupFiles: [fileURLToPath(new URL('scripts/vitest-setup.mjs', import.meta.url))],
    // The limit only stops tests that hang: no test depends on how quick the machine is, and a busy machine may be ten
    // times as slow as an idle one.
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs,
    // A bundle that a test has made (scripts/simulation.mjs) runs as it is.
    server: { deps: { external: [/\/server\/builds\//] } },
    // Like the limits above: half of a test's whole time.
    expect: { poll: { timeout: timeoutMs / 2, interval: 50 } },
    // Two projects, because Vitest runs a global setup only for projects that take part in the run: PostgreSQL and the
    // build are for the tests of what runs as a process.
    projects: [
      {
        extends: true,
        test: {
          name: 'programs',
          include: programs,
          exclude,
          globalSetup: ['scripts/vitest-global-setup.mjs'],
        },
      },
      {
        extends: true,
        test: {
          name: 'parts',
          include: ['**/*.test.{ts,tsx}'],
          exclude: [...exclude, ...programs],
        },
      },
    ],
  },
});
