import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { checkArrows, rules } from './check-arrows.mjs';

const program = fileURLToPath(new URL('check-arrows.mjs', import.meta.url));
const fixtures = fileURLToPath(new URL('fixtures/arrows', import.meta.url));

const whatHttpImports = 'http/ imports of its half only db/ and the top';
const noFolderCycles = 'no cycles between the folders of a half';
const noCycles = 'no import cycles, type-only imports included';
const routesOnlyInApp =
  'routes and hooks are imported only by app.ts, those of the platform by api.ts and platform-app.ts';
const httpOnlyAtTheEdge =
  'only routes, hooks, http/ and the files at the top that put an app together import http/ or fastify';
const bundledOnlyAtTheTop =
  'in server, only app.ts, bundled-platform.ts, routes.ts, the guarded network, the reader of manifests and cli/ import the bundled platform';
const storesStayInside = 'a store is imported only by files of its own folder';
const whatStoresImport =
  'a store imports of its half only db/, stores of its own folder, ' +
  'and files of its own folder or the top that import nothing of that half';

/** Each fixture is a small repository; these are all the findings in it, by rule. */
const expected: Record<string, Record<string, string[]>> = {
  clean: {},
  cycle: {
    [noCycles]: ['server/src/first.ts → server/src/second.ts → server/src/third.ts → server/src/first.ts'],
  },
  'cycle-of-types': {
    [noCycles]: [
      'server/src/export-type.ts → server/src/type-expression.ts → server/src/import-type.ts → ' +
        'server/src/inline-type.ts → server/src/export-type.ts',
    ],
  },
  contract: {
    'contract imports nothing of ours and no package but typebox and re2js': [
      'contract/src/from-a-package.ts → jose',
      'contract/src/from-a-package.ts → node:fs',
      'contract/src/from-server.ts → ../../server/src/app.ts',
    ],
  },
  'widget-and-embed': {
    'ui imports nothing but contract, preact and the validator of forms': [
      'ui/src/parts.ts → ../../widget/src/widget.ts',
      'ui/src/parts.ts → typebox',
    ],
    'widget imports nothing of ours but contract and ui': ['widget/src/widget.ts → @inlay/platform/create-platform'],
    'console imports nothing of ours but contract and ui': ['console/src/page.ts → ../../widget/src/widget.ts'],
    'embed imports nothing but contract, and react in its React part': [
      'embed/src/embed.ts → inlay/app',
      'embed/src/embed.ts → preact',
      'embed/src/other.ts → react',
    ],
    'webhooks imports nothing but node:crypto': [
      'webhooks/src/verify.ts → ../../server/src/app.ts',
      'webhooks/src/verify.ts → node:fs',
    ],
    'server imports nothing of ui, widget, console or embed': ['server/src/app.ts → @inlay/widget/widget'],
  },
  platform: {
    'platform imports nothing of ours but contract, schedule and sqlite': [
      'platform/src/create-platform.ts → ../../server/src/app.ts',
      'platform/src/dynamic.ts → inlay/app',
    ],
    'a connector imports of the rest of the platform only the protocol': [
      'platform/connectors/notes/notes.ts → ../../src/create-platform.ts',
    ],
    'the platform imports of a connector only its specification': [
      'platform/src/definitions.ts → ../connectors/notes/notes.ts',
    ],
    'schedule imports nothing of ours': ['schedule/src/quartz.ts → ../../platform/connectors/notes/specification.ts'],
  },
  sqlite: {
    'sqlite imports nothing of ours': ['sqlite/src/connection.ts → @inlay/contract/fields'],
    'only sqlite/src/connection.ts imports the SQLite driver': [
      'server/src/app.ts → @photostructure/sqlite',
      'server/src/app.ts → node:sqlite',
    ],
  },
  'platform-rooms': {
    [noFolderCycles]: ['platform/src/notes → platform/src/tags → platform/src/notes'],
    'no route reaches a worker store, which serves all tenants, not even through other files': [
      'platform/src/notes/notes.routes.ts → platform/src/notes/notes.ts → platform/src/notes/notes.worker.store.ts',
    ],
    [storesStayInside]: [
      'platform/src/runner/run.ts → ../lists/lists.store.ts',
      'platform/src/tags/tags.ts → ../lists/lists.store.ts',
    ],
    [whatStoresImport]: ['platform/src/tags/tags.store.ts → ../notes/note-names.ts'],
    'db/ imports of its half only the top': ['platform/src/db/open.ts → ../notes/note-names.ts'],
    [whatHttpImports]: ['platform/src/http/health.ts → ../notes/notes.routes.ts'],
    [routesOnlyInApp]: ['platform/src/http/health.ts → ../notes/notes.routes.ts'],
    [httpOnlyAtTheEdge]: ['platform/src/tags/tags.ts → fastify'],
    'the runner imports of the platform only the protocol and the runtime': [
      'platform/src/runner/run.ts → ../lists/lists.store.ts',
    ],
  },
  'bundled-platform': {
    [bundledOnlyAtTheTop]: [
      'server/src/notes/notes.ts → @inlay/platform/create-platform',
      'server/src/platform/port.ts → @inlay/platform/create-platform',
    ],
  },
  stores: {
    [storesStayInside]: ['server/src/tags/tags.ts → ../notes/notes.store.ts'],
    [whatStoresImport]: [
      'server/src/tags/tags.store.ts → ../http/replies.ts',
      'server/src/tags/tags.store.ts → ../lists/lists.ts',
      'server/src/tags/tags.store.ts → ./tagging.ts',
      'server/src/tags/tags.store.ts → ./tags.routes.ts',
    ],
    [routesOnlyInApp]: ['server/src/tags/tags.store.ts → ./tags.routes.ts'],
    [httpOnlyAtTheEdge]: ['server/src/tags/tags.store.ts → ../http/replies.ts'],
  },
  workers: {
    'a store of workers, which serves all tenants, is imported only by workers': [
      'server/src/notes/notes.ts → ./notes.worker.store.ts',
    ],
    'a worker is imported only by workers and files of the top': ['server/src/notes/notes.ts → ./tidying.worker.ts'],
  },
  http: {
    [noFolderCycles]: ['server/src/http → server/src/notes → server/src/http'],
    [routesOnlyInApp]: [
      'server/src/http/health.ts → ../notes/notes.routes.ts',
      'server/src/notes/notes.ts → ./note-limits.hooks.ts',
    ],
    [whatHttpImports]: ['server/src/http/health.ts → ../notes/notes.routes.ts'],
    [httpOnlyAtTheEdge]: ['server/src/notes/notes.ts → ../http/replies.ts', 'server/src/notes/notes.ts → fastify'],
  },
  tools: {
    [noCycles]: [
      'bench/databases.ts → bench/settings.ts → bench/databases.ts',
      'scripts/find-databases.mjs → scripts/postgres.mjs → scripts/find-databases.mjs',
    ],
    'no package imports bench or scripts': ['server/src/app.ts → ../../scripts/postgres.mjs'],
    'no file or folder is named utils, helpers, common, shared, manager, service, impl, types': ['scripts/utils.mjs'],
  },
  names: {
    'no file or folder is named utils, helpers, common, shared, manager, service, impl, types': [
      'server/src/notes/notes.types.ts',
      'server/src/shared/clock.ts',
      'widget/src/utils.ts',
    ],
    'names are kebab-case': ['server/src/camelCase.ts'],
    'no barrels: no file is named index': ['contract/src/index.ts'],
  },
};

it.each(Object.entries(expected))('finds exactly what is wrong in the fixture %s', async (name, byRule) => {
  const found: Record<string, string[]> = {};
  for (const { rule, file, import: target } of await checkArrows(`${fixtures}/${name}`)) {
    found[rule] = [...(found[rule] ?? []), target ? `${file} → ${target}` : file];
  }
  expect(found).toEqual(byRule);
});

it('has a fixture for every rule and an expectation for every fixture', () => {
  expect(Object.keys(expected).sort()).toEqual(readdirSync(fixtures).sort());
  expect(new Set(Object.values(expected).flatMap(Object.keys))).toEqual(new Set(rules));
});

it('prints each offending import with its rule and exits with 1', () => {
  const { status, stderr } = spawnSync(process.execPath, [program, `${fixtures}/bundled-platform`], {
    encoding: 'utf8',
  });
  expect(stderr).toBe(
    ['notes/notes.ts', 'platform/port.ts']
      .map((file) => `server/src/${file} → @inlay/platform/create-platform\n    ${bundledOnlyAtTheTop}\n`)
      .join(''),
  );
  expect(status).toBe(1);
});

it('says nothing and exits with 0 when every arrow is right', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, `${fixtures}/clean`], { encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
});
