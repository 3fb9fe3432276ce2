// Once per run: the command line and the connectors are built, because some tests start them as processes, and a
// PostgreSQL is at hand. TEST_DATABASE_URL names one to use instead of a throw-away cluster; the tests create
// databases of their own on it.

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
  const postgres = await startPostgres();
  project.provide('postgresUrl', postgres.url);
  return () => postgres.stop();
}
