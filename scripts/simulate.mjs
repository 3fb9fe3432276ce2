/**
 * Runs the seeded simulation: `npm run simulate -- --seeds N --from S`, `--trace` to see what happens in a schedule.
 * `--without GUARD` removes one of the guards below from the code first: then the simulation must find a violation.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = 'server/src/';

/**
 * Every guard with the change that removes it. If the text is no longer in the code, the build fails: the guard has
 * moved.
 */
const guards = {
  'settle-window': [['workspaces/creation.ts', 'if (waitMs === 0) break;', 'break;']],
  'bind-if-unbound': [
    [
      'workspaces/claims.store.ts',
      ".where('name_claims.state', '=', 'creating'),\n    )\n    .returning('workspace_id')",
      ",\n    )\n    .returning('workspace_id')",
    ],
  ],
  'tombstone-check': [
    [
      'workspaces/creation.ts',
      "if (row?.lifecycle !== 'live') return undefined;\n      const isCalledSo",
      'if (!row) return undefined;\n      const isCalledSo',
    ],
    ['workspaces/creation.ts', '!gone.has(id) && ', ''],
  ],
  'memory-of-lost-creates': [['workspaces/claims.store.ts', 'if (claim.no_post_before > 0) continue;', '']],
  'look-for-lost-creates': [['workspaces/reconciler.worker.ts', 'await lookForLostCreate(ctx, claim);', '']],
  'claims-of-namesakes': [
    ['workspaces/claims.store.ts', 'if ((await listLiveByName(tx, organizationId, name)).length > 0) return;', ''],
  ],
  'generation-compare': [
    ['workspaces/operations.ts', 'if (present?.gen !== row.gen) throw new Outdated();', ''],
    ['workspaces/operations.ts', 'if (present?.gen !== row.gen) throw new Outdated();', ''],
  ],
  'quotas-in-the-transaction': [
    [
      'pipelines/sources.ts',
      'const row = await ctx.store.transaction(async (tx) => {\n    const workspace',
      'await takeRoom(ctx, ctx.store.db, scope, { sources: 1, connections: planned.length });\n' +
        '  const row = await ctx.store.transaction(async (tx) => {\n    const workspace',
    ],
    ['pipelines/sources.ts', '    await takeRoom(ctx, tx, scope, { sources: 1, connections: planned.length });\n', ''],
  ],
  'deleted-sources-left-out': [['quotas/quotas.store.ts', ".where('lifecycle', '=', 'live')", '']],
  'one-entry-for-a-new-workspace': [
    ['workspaces/creation.ts', 'if (isNew) await ctx.journal.record(', 'await ctx.journal.record('],
  ],
  'entry-of-a-deletion': [
    [
      'workspaces/operations.ts',
      "await ctx.journal.record(tx, row.organization_id, { type: 'workspace.deleted', workspaceId: row.id, data: {} });",
      '',
    ],
  ],
};

const args = process.argv.slice(2);
/** The files that the guard was cut out of. */
const cutFiles = new Set();
const at = args.indexOf('--without');
const without = at < 0 ? undefined : args.splice(at, 2)[1];
const cuts = without === undefined ? [] : guards[without];
if (!cuts) {
  console.error(`There is no guard ${without}. There are: ${Object.keys(guards).join(', ')}`);
  process.exit(2);
}

// Below the repository, so that its packages are found.
await mkdir(join(root, 'server/builds'), { recursive: true });
const directory = await mkdtemp(join(root, 'server/builds/simulation-'));
try {
  const outfile = join(directory, 'main.mjs');
  await build({
    absWorkingDir: root,
    entryPoints: ['server/test/simulation/main.ts'],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    alias: Object.fromEntries(
      ['contract', 'schedule', 'sqlite'].map((name) => [`@inlay/${name}`, resolve(root, name, 'src')]),
    ),
    logLevel: 'error',
    plugins: [
      {
        name: 'without-guard',
        setup: (build) => build.onLoad({ filter: /(workspaces|pipelines|quotas)[\\/][\w.-]+\.ts$/ }, cut),
      },
    ],
  });
  for (const [file] of cuts) {
    if (!cutFiles.has(file))
      throw new Error(`The guard ${without} is not cut out: ${file} is not part of the simulation.`);
  }
  const child = spawn(process.execPath, [outfile, ...args], { stdio: 'inherit' });
  process.exitCode = await new Promise((done) => child.on('exit', (code) => done(code ?? 1)));
} finally {
  await rm(directory, { recursive: true });
}

function cut({ path }) {
  let contents = readFileSync(path, 'utf8');
  for (const [file, guard, instead] of cuts) {
    if (path !== resolve(root, folder, file)) continue;
    if (!contents.includes(guard)) throw new Error(`The guard ${without} is not in ${file} any more.`);
    contents = contents.replace(guard, instead);
    cutFiles.add(file);
  }
  return { contents, loader: 'ts' };
}
