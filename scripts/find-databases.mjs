// Finds the database servers the tests start, or installs them where it may (root on Debian).

import { findPgbouncer } from './pgbouncer.mjs';
import { findPostgres } from './postgres.mjs';

try {
  if (!process.env.TEST_DATABASE_URL) console.log(await findPostgres({ install: true }));
  console.log(await findPgbouncer({ install: true }));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
