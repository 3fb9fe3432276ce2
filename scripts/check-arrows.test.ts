import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { checkArrows, rules } from './check-arrows.mjs';

const program = fileURLToPath(new URL('check-arrows.mjs', import.meta.url));
const fixtures = fileURLToPath(new URL('fixtures/arrows', import.meta.url));

const bundledOnlyAtTheEdge = 'in server, only edge/ and the reader of manifests import the bundled platform';

/** Each fixture is a small repository; these are all the findings in it, by rule. */
const expected: Record<string, Record<string, string[]>> = {
  clean: {},
  cycle: {
    'no import cycles, type-only imports included': [
      'server/src/first.ts → server/src/second.ts → server/src/third.ts → server/src/first.ts',
    ],
  },
  'cycle-of-types': {
    'no import cycles, type-only imports included': [
      'server/src/export-type.ts → server/src/type-expression.ts → server/src/import-type.ts → server/src/inline-type.ts → server/src/export-type.ts',
    ],
  },
  contract: {
    'a package imports only packages of ours that are below it': [
      'contract/src/from-server.ts → ../../server/src/edge/app.ts',
    ],
    'no relative import leaves a package': ['contract/src/from-server.ts → ../../server/src/edge/app.ts'],
    'contract, ui, embed and webhooks import few packages of others': [
      'contract/src/from-a-package.ts → jose',
      'contract/src/from-a-package.ts → node:fs',
    ],
  },
  'widget-and-embed': {
    'a package imports only packages of ours that are below it': [
      'console/src/page.ts → ../../widget/src/widget.ts',
      'embed/src/embed.ts → inlay/edge/app',
      'server/src/edge/app.ts → @inlay/widget/widget',
      'ui/src/parts.ts → ../../widget/src/widget.ts',
      'webhooks/src/verify.ts → ../../server/src/edge/app.ts',
      'widget/src/widget.ts → @inlay/platform/create-platform',
    ],
    'no relative import leaves a package': [
      'console/src/page.ts → ../../widget/src/widget.ts',
      'ui/src/parts.ts → ../../widget/src/widget.ts',
      'webhooks/src/verify.ts → ../../server/src/edge/app.ts',
    ],
    'contract, ui, embed and webhooks import few packages of others': [
      'embed/src/embed.ts → preact',
      'embed/src/other.ts → react',
      'ui/src/parts.ts → typebox',
      'webhooks/src/verify.ts → node:fs',
    ],
  },
  platform: {
    'a package imports only packages of ours that are below it': [
      'connectors/src/notes/notes.ts → @inlay/platform/create-platform',
      'platform/src/create-platform.ts → inlay/edge/app',
      'platform/src/dynamic.ts → inlay/edge/app',
      'schedule/src/quartz.ts → @inlay/connectors/notes/specification',
    ],
    'the platform imports of a connector only its specification': [
      'platform/src/definitions.ts → @inlay/connectors/notes/notes',
    ],
    'the service imports of connectors only the S3 client, for backups': [
      'server/src/edge/app.ts → @inlay/connectors/notes/specification',
    ],
  },
  sqlite: {
    'a package imports only packages of ours that are below it': [
      'database/src/connection.ts → @inlay/contract/fields',
    ],
    'only database/src/connection.ts imports the SQLite driver': [
      'server/src/edge/app.ts → @photostructure/sqlite',
      'server/src/edge/app.ts → node:sqlite',
    ],
  },
  'platform-rooms': {
    'no cycles between the folders of a half': ['platform/src/notes → platform/src/tags → platform/src/notes'],
    'no route reaches a worker store, which serves all tenants, not even through other files': [
      'platform/src/notes/notes.routes.ts → platform/src/notes/notes.ts → platform/src/notes/notes.worker.store.ts',
    ],
    'a store is imported only by files of its own domain': [
      'platform/src/runner/run.ts → ../lists/lists.store.ts',
      'platform/src/tags/tags.ts → ../lists/lists.store.ts',
    ],
    'a store imports of its half only db/, stores of its own domain, and files of its own domain or kernel/ that import nothing of that half':
      ['platform/src/tags/tags.store.ts → ../notes/note-names.ts'],
    'db/ imports of its half only loose files': ['platform/src/db/open.ts → ../notes/note-names.ts'],
    'routes and hooks are imported only by app.ts and routes.ts, those of the platform by api.ts and platform-app.ts': [
      'platform/src/http/health.ts → ../notes/notes.routes.ts',
    ],
    'only routes, hooks, http/ and the files that put an app together import http/ or fastify': [
      'platform/src/tags/tags.ts → fastify',
    ],
    'the runner imports of the platform only its processes and the runtime': [
      'platform/src/runner/run.ts → ../lists/lists.store.ts',
    ],
    'http/ of the platform imports of it only db/ and loose files': [
      'platform/src/http/health.ts → ../notes/notes.routes.ts',
    ],
  },
  'bundled-platform': {
    [bundledOnlyAtTheEdge]: [
      'server/src/kernel/platform/port.ts → @inlay/platform/create-platform',
      'server/src/tenancy/notes/notes.ts → @inlay/platform/create-platform',
    ],
  },
  stores: {
    'a store is imported only by files of its own domain': [
      'server/src/tenancy/tags/tags.ts → ../notes/notes.store.ts',
    ],
    'a store imports of its half only db/, stores of its own domain, and files of its own domain or kernel/ that import nothing of that half':
      [
        'server/src/tenancy/tags/tags.store.ts → ../lists/lists.ts',
        'server/src/tenancy/tags/tags.store.ts → ./tagging.ts',
        'server/src/tenancy/tags/tags.store.ts → ./tags.routes.ts',
      ],
    'routes and hooks are imported only by app.ts and routes.ts, those of the platform by api.ts and platform-app.ts': [
      'server/src/tenancy/tags/tags.store.ts → ./tags.routes.ts',
    ],
    'only routes, hooks, http/ and the files that put an app together import http/ or fastify': [
      'server/src/tenancy/tags/tags.store.ts → ../../kernel/http/replies.ts',
    ],
  },
  workers: {
    'a store of workers, which serves all tenants, is imported only by workers': [
      'server/src/tenancy/notes/notes.ts → ./notes.worker.store.ts',
    ],
    'a worker is imported only by workers and edge/': ['server/src/tenancy/notes/notes.ts → ./tidying.worker.ts'],
  },
  http: {
    'no cycles between the folders of a half': [
      'server/src/kernel/http → server/src/tenancy/notes → server/src/kernel/http',
    ],
    'in server, a layer imports only layers below it': [
      'server/src/kernel/http/health.ts → ../../tenancy/notes/notes.routes.ts',
    ],
    'routes and hooks are imported only by app.ts and routes.ts, those of the platform by api.ts and platform-app.ts': [
      'server/src/kernel/http/health.ts → ../../tenancy/notes/notes.routes.ts',
      'server/src/tenancy/notes/notes.ts → ./note-limits.hooks.ts',
    ],
    'only routes, hooks, http/ and the files that put an app together import http/ or fastify': [
      'server/src/tenancy/notes/notes.ts → ../../kernel/http/replies.ts',
      'server/src/tenancy/notes/notes.ts → fastify',
    ],
  },
  tools: {
    'no import cycles, type-only imports included': [
      'bench/databases.ts → bench/settings.ts → bench/databases.ts',
      'scripts/find-databases.mjs → scripts/postgres.mjs → scripts/find-databases.mjs',
    ],
    'no relative import leaves a package': ['server/src/edge/app.ts → ../../../scripts/postgres.mjs'],
    'no package imports bench or scripts': ['server/src/edge/app.ts → ../../../scripts/postgres.mjs'],
    'no file or folder is named utils, helpers, common, shared, manager, service, impl, types': ['scripts/utils.mjs'],
  },
  names: {
    'no file or folder is named utils, helpers, common, shared, manager, service, impl, types': [
      'server/src/shared/clock.ts',
      'server/src/tenancy/notes/notes.types.ts',
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
    ['kernel/platform/port.ts', 'tenancy/notes/notes.ts']
      .map((file) => `server/src/${file} → @inlay/platform/create-platform\n    ${bundledOnlyAtTheEdge}\n`)
      .join(''),
  );
  expect(status).toBe(1);
});

it('says nothing and exits with 0 when every arrow is right', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, `${fixtures}/clean`], { encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
});
