import { defineConfig } from 'vitest/config';

/** Tests of what runs as a process, or in a browser. */
const programs = [
  '{server,platform,bench}/**/*.test.ts',
  '{widget,embed}/test/**/*.test.{ts,tsx}',
  'examples/**/*.test.ts',
  'scripts/demo.test.ts',
];
const exclude = ['**/node_modules/**', '**/dist/**', '**/builds/**', 'scripts/fixtures/**'];

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    // Against tests that hang, and nothing else: no test depends on how quick the machine is, and a busy machine may be
    // ten times as slow as an idle one.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 60_000, interval: 50 } },
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
