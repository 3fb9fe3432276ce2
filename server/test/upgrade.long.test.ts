/**
 * The last release (release.json) and this version side by side on one database, then this version alone, then the last
 * release again: no request fails, and no job is lost.
 */
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { buildCommit } from '../../scripts/build-commit.mjs';
import { createTestDatabase, describeOnBothDatabases } from './support/databases.ts';
import { takeOver } from './support/side-by-side.ts';

let lastRelease: string;

beforeAll(async () => {
  const { product } = await buildCommit({ root: fileURLToPath(new URL('../..', import.meta.url)) });
  lastRelease = product;
});

describeOnBothDatabases('An upgrade without an outage, and back', (kind) => {
  it('fails no request and loses no job', async () => {
    const database = await createTestDatabase(kind);
    onTestFinished(() => database.drop());
    const programs = [lastRelease, undefined, lastRelease];
    await expect(takeOver({ database, programs, clients: 4, pauseMs: 20 })).resolves.toBeUndefined();
  });
});
