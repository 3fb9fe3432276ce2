/** A new process may start on the data directory of one that still runs, on SQLite too. */
import { expect, it, onTestFinished } from 'vitest';
import { createTestDatabase } from './support/databases.ts';
import { takeOver } from './support/side-by-side.ts';

it('A restart that overlaps on one SQLite data directory fails no request and loses no job', async () => {
  const database = await createTestDatabase('sqlite', { migrated: true });
  onTestFinished(() => database.drop());
  await expect(takeOver({ database, programs: [undefined, undefined] })).resolves.toBeUndefined();
});
