// Runs once per test run: builds the command line and the connectors, because some tests start them as processes, and
// starts a PostgreSQL. TEST_DATABASE_URL names a server to use instead of a throw-away cluster; the tests create their
// own databases on it.

import { ensureBuilt } from './ensure-built.mjs';
import { startPostgres } from './postgres.mjs';

/** @param {import('vitest/node').TestProject} project */
export default async function setUp(project) {
  await ensureBuilt();

  const existing = process.env.TEST_DATABASE_URL;
  if (existing) {
    project.provide('postgresUrl', existing);
    return;
  }
  // PostgreSQL's background work takes CPU time from the tests, which don't need it.
  const postgres = await startPostgres({
    settings: { autovacuum: 'off', jit: 'off', wal_level: 'minimal', max_wal_senders: 0, checkpoint_timeout: '1h' },
  });
  project.provide('postgresUrl', postgres.url);
  return () => postgres.stop();
}
