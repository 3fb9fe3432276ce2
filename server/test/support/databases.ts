// Fresh databases for tests. Every suite that touches storage runs on both kinds; the title says which one, so that
// `npm run check` can count that the PostgreSQL half really ran.

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { describe, inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** A PostgreSQL on which the tests may create databases. */
    postgresUrl: string;
  }
}

export const databaseKinds = ['sqlite', 'postgres'] as const;
export type TestDatabaseKind = (typeof databaseKinds)[number];

export interface TestDatabase {
  readonly kind: TestDatabaseKind;
  /** PostgreSQL only: the URL of an empty database. */
  readonly url?: string;
  /** An empty directory; SQLite keeps its files there. */
  readonly dataDir: string;
  /** Removes the database, ending any session still open in it, and the directory. */
  drop(): Promise<void>;
}

export async function createTestDatabase(kind: TestDatabaseKind): Promise<TestDatabase> {
  const dataDir = await mkdtemp(join(tmpdir(), 'inlay-test-'));
  const removeDataDir = () => rm(dataDir, { recursive: true, force: true });
  if (kind === 'sqlite') return { kind, dataDir, drop: removeDataDir };

  const name = `inlay_test_${randomBytes(8).toString('hex')}`;
  // From template0, which accepts no sessions: copying a template fails while someone is connected to it.
  await administer(`create database ${name} template template0 encoding 'UTF8'`);
  const url = new URL(inject('postgresUrl'));
  url.pathname = `/${name}`;
  return {
    kind,
    url: url.href,
    dataDir,
    async drop() {
      await administer(`drop database if exists ${name} with (force)`);
      await removeDataDir();
    },
  };
}

export function describeOnBothDatabases(name: string, define: (kind: TestDatabaseKind) => void): void {
  for (const kind of databaseKinds) {
    describe(`${name} [${kind}]`, () => define(kind));
  }
}

async function administer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
