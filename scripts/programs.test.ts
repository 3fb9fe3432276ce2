import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from './disposable.mjs';
import { findPostgres, postgresPrograms } from './postgres.mjs';

/** A folder tree with programs that say their version, and with links. */
function makeTree(files: Record<string, { version?: number; linkTo?: string }>): (path: string) => string {
  const root = mkdtempSync(join(tmpdir(), 'inlay-programs-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const at = (path: string) => join(root, path);
  for (const [path, { version = 17, linkTo }] of Object.entries(files)) {
    mkdirSync(dirname(at(path)), { recursive: true });
    if (linkTo !== undefined) {
      symlinkSync(at(linkTo), at(path));
      continue;
    }
    writeFileSync(at(path), `#!/bin/sh\necho "postgres (PostgreSQL) ${version}.1"\n`);
    chmodSync(at(path), 0o755);
  }
  return at;
}

it('finds programs beside the place that links in $PATH point to', async () => {
  const at = makeTree({
    'lib/bin/initdb': {},
    'lib/bin/postgres': {},
    'lib/bin/psql': {},
    'path/initdb': { linkTo: 'lib/bin/initdb' },
    'path/postgres': { linkTo: 'lib/bin/postgres' },
  });
  const found = await findPostgres({ needed: postgresPrograms, directories: () => [at('empty'), at('path')] });
  expect(found).toEqual({
    initdb: at('path/initdb'),
    postgres: at('path/postgres'),
    psql: at('lib/bin/psql'),
  });
});

it('takes each program from the folder that has it, the server programs from one folder', async () => {
  const at = makeTree({
    'half/initdb': {},
    'server/initdb': {},
    'server/postgres': {},
    'client/psql': {},
  });
  const directories = () => [at('half'), at('client'), at('server')];
  expect(await findPostgres({ needed: postgresPrograms, directories })).toEqual({
    initdb: at('server/initdb'),
    postgres: at('server/postgres'),
    psql: at('client/psql'),
  });
});

it('passes over a server that is too old, and over the wrapper that Debian puts in its place', async () => {
  const at = makeTree({
    'wrapper/pg_wrapper': {},
    'path/psql': { linkTo: 'wrapper/pg_wrapper' },
    'old/initdb': { version: 13 },
    'old/postgres': { version: 13 },
    'new/initdb': {},
    'new/postgres': {},
    'new/psql': {},
  });
  const directories = () => [at('path'), at('old'), at('new')];
  expect(await findPostgres({ directories })).toEqual({
    initdb: at('new/initdb'),
    postgres: at('new/postgres'),
    psql: at('new/psql'),
  });
});

it.each([
  { there: ['psql'], missing: ['initdb', 'postgres'] },
  { there: ['initdb', 'postgres'], missing: ['psql'] },
  { there: ['initdb', 'psql'], missing: ['initdb', 'postgres'] },
])('installs what is missing where only $there are there', async ({ there, missing }) => {
  const at = makeTree(Object.fromEntries(there.map((program) => [`here/${program}`, {}])));
  const directories = () => [at('here'), at('installed')];
  const needed = postgresPrograms;
  const refuse = async () => false;
  await expect(findPostgres({ install: true, needed, directories, installPackages: refuse })).rejects.toThrow(
    `: ${missing.join(', ')}. Install them: "apt-get install postgresql"`,
  );

  const asked: string[][] = [];
  const found = await findPostgres({
    install: true,
    needed,
    directories,
    async installPackages(packages) {
      asked.push(packages);
      mkdirSync(at('installed'));
      for (const program of postgresPrograms) {
        writeFileSync(at(`installed/${program}`), '#!/bin/sh\necho "postgres (PostgreSQL) 17.1"\n', { mode: 0o755 });
      }
      return true;
    },
  });
  expect(asked).toEqual([['postgresql']]);
  expect(Object.keys(found).sort()).toEqual([...postgresPrograms].sort());
  const server = there.includes('postgres') ? 'here' : 'installed';
  expect(found).toMatchObject({ initdb: at(`${server}/initdb`), postgres: at(`${server}/postgres`) });
});

it('gives no port twice, however many ask at once', async () => {
  const ports = await Promise.all(Array.from({ length: 300 }, () => freePort()));
  expect(new Set(ports).size).toBe(300);
});
