/**
 * Loads the seeded simulation (server/test/simulation/main.ts) into this process, whole or without one of the guards
 * below. Without a guard the simulation must find a violation.
 */
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Of files of the platform, the path begins with `platform/`. @param {string} file */
const placeOf = (file) =>
  file.startsWith('platform/') ? resolve(root, 'platform/src', file.slice(9)) : resolve(root, 'server/src', file);

/**
 * Every guard with the change that removes it. If the text is no longer in the code, the build fails: the guard has
 * moved.
 */
export const guards = {
  'settle-window': [['tenancy/workspaces/creation.ts', 'if (waitMs === 0) break;', 'break;']],
  'bind-if-unbound': [
    [
      'tenancy/workspaces/claims.store.ts',
      ".where('name_claims.state', '=', 'creating'),\n    )\n    .returning('workspace_id')",
      ",\n    )\n    .returning('workspace_id')",
    ],
  ],
  'tombstone-check': [
    [
      'tenancy/workspaces/creation.ts',
      "if (row?.lifecycle !== 'live') return undefined;\n      const isCalledSo",
      'if (!row) return undefined;\n      const isCalledSo',
    ],
    ['tenancy/workspaces/creation.ts', '!gone.has(id) && ', ''],
  ],
  'memory-of-lost-creates': [['tenancy/workspaces/claims.store.ts', 'if (claim.no_post_before > 0) continue;', '']],
  'look-for-lost-creates': [['tenancy/workspaces/reconciler.worker.ts', 'await lookForLostCreate(ctx, claim);', '']],
  'claims-of-namesakes': [
    [
      'tenancy/workspaces/claims.store.ts',
      'if ((await listLiveByName(tx, organizationId, name)).length > 0) return;',
      '',
    ],
  ],
  'generation-compare': [
    ['tenancy/workspaces/operations.ts', 'if (present?.gen !== row.gen) throw new Outdated();', ''],
    ['tenancy/workspaces/operations.ts', 'if (present?.gen !== row.gen) throw new Outdated();', ''],
  ],
  'quotas-in-the-transaction': [
    [
      'pipelines/sources/sources.ts',
      'const row = await ctx.store.transaction(async (tx) => {\n    const workspace',
      'await takeRoom(ctx.journal, ctx.store.db, scope, { sources: 1, connections: planned.length });\n' +
        '  const row = await ctx.store.transaction(async (tx) => {\n    const workspace',
    ],
    [
      'pipelines/sources/sources.ts',
      '    await takeRoom(ctx.journal, tx, scope, { sources: 1, connections: planned.length });\n',
      '',
    ],
  ],
  'deleted-sources-left-out': [['tenancy/quotas/quotas.store.ts', ".where('lifecycle', '=', 'live')", '']],
  'lease-of-a-credential': [
    [
      'credentials/tokens/credentials.store.ts',
      ".where('lease_until', '<=', now)\n    .where(isRefreshable)",
      '.where(isRefreshable)',
    ],
  ],
  'no-sending-after-the-lease': [
    ['credentials/tokens/refresh.ts', 'if (runtime.elapsed() > until) throw', 'if (false) throw'],
  ],
  'once-more-at-most': [['credentials/tokens/refresh.ts', 'const mostTries = 2;', 'const mostTries = 1_000;']],
  'tries-of-an-uncertain-end': [
    ['credentials/tokens/credentials.store.ts', "\n    .where('tries', '>=', leastTries)", ''],
  ],
  'lease-of-a-generation': [
    [
      'credentials/tokens/credentials.store.ts',
      ".where('generation', '=', generation)\n    .where('owner'",
      ".where('owner'",
    ],
    [
      'credentials/tokens/refresh.ts',
      'const tokens = openTokens(ctx.sealer, taken);',
      'const tokens = openTokens(ctx.sealer, row);',
    ],
  ],
  'one-entry-for-a-new-workspace': [
    ['tenancy/workspaces/creation.ts', 'if (isNew) await ctx.journal.record(', 'await ctx.journal.record('],
  ],
  'entry-of-a-deletion': [
    ['tenancy/workspaces/operations.ts', 'await ctx.journal.record(tx, row.organization_id, entry);', ''],
  ],
  'proof-of-an-attempt': [
    [
      'platform/jobs/jobs.worker.store.ts',
      ".where('job_id', '=', jobId)\n    .where('attempts', '=', attempt)\n    .where('epoch', '=', epoch)\n    .where('owner', '=', owner)",
      ".where('job_id', '=', jobId)",
    ],
    ['platform/jobs/attempts-book.ts', "if (job?.status !== 'running') throw", 'if (!job) throw'],
  ],
  'epoch-that-grows': [['platform/jobs/jobs.worker.store.ts', '.set({ epoch })', '.set({ epoch: 1 })']],
  'attempts-put-back': [['platform/jobs/attempts-book.ts', '(lease_until ?? 0) <= time', 'false']],
  'lease-before-put-back': [
    ['platform/jobs/attempts-book.ts', '(lease_until ?? 0) <= time', '(lease_until ?? 0) <= time + 25_000'],
  ],
  'limits-of-workspaces': [
    ['platform/jobs/attempts-book.ts', 'mayTake(workspace, { total, perTenant }, total - held.length) &&', ''],
    [
      'platform/jobs/attempts-book.ts',
      'mayTake(workspace, { total: claimant.slots, perTenant }, freeHere)',
      'workspace',
    ],
  ],
  'slots-of-an-owner': [
    ['platform/jobs/attempts-book.ts', 'if (freeHere <= 0) return undefined;', ''],
    ['platform/jobs/attempts-book.ts', 'perTenant }, freeHere)', 'perTenant }, claimant.slots)'],
  ],
  'one-attempt-of-a-connection': [
    [
      'platform/jobs/attempts-book.ts',
      'const busy = held.map(({ connection_id }) => connection_id);',
      'const busy = [];',
    ],
  ],
  'turns-of-workspaces': [['platform/jobs/attempts-book.ts', 'turns.sort(byTurn)', 'turns']],
  'once-a-schedule': [
    [
      'platform/connections/due-connections.ts',
      'await setNextRun(tx, connection_id, nextRunAfter(cron_expression, time));\n  }\n  return due;',
      '}\n  return due;',
    ],
  ],
  'cancelled-until-ended': [
    [
      'platform/jobs/jobs.store.ts',
      "status: 'cancelled',\n      next",
      "status: 'cancelled',\n      owner: null,\n      next",
    ],
  ],
};

/**
 * @param {string} [without] the name of a guard
 * @returns {Promise<typeof import('../server/test/simulation/main.ts')>}
 */
export async function loadSimulation(without) {
  const cuts = without === undefined ? [] : (guards[without] ?? []);
  /** The files that the guard was cut out of. */
  const cutFiles = new Set();
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
      alias: {
        ...Object.fromEntries(
          ['contract', 'schedule', 'database', 'protocol', 'guard', 'manifests', 'connectors', 'platform'].map(
            (name) => [`@inlay/${name}`, resolve(root, name, 'src')],
          ),
        ),
        'inlay-webhooks': resolve(root, 'webhooks/src'),
      },
      logLevel: 'error',
      plugins: [
        {
          name: 'without-guard',
          setup: ({ onLoad }) =>
            onLoad({ filter: /[\\/](server|platform)[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
              let contents = readFileSync(path, 'utf8');
              for (const [file, guard, instead] of cuts) {
                if (path !== placeOf(file)) continue;
                if (!contents.includes(guard))
                  throw new Error(`The guard ${without} is no longer in ${file}. Update scripts/simulation.mjs.`);
                contents = contents.replace(guard, instead);
                cutFiles.add(file);
              }
              return { contents, loader: 'ts' };
            }),
        },
      ],
    });
    for (const [file] of cuts) {
      if (!cutFiles.has(file))
        throw new Error(`The guard ${without} was not removed, because ${file} is not part of the simulation.`);
    }
    return await import(pathToFileURL(outfile).href);
  } finally {
    await rm(directory, { recursive: true });
  }
}
