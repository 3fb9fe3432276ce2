/*
 * The bundled platform of one machine: opens its database file and puts together what the rules work with.
 *
 * It owns workspaces, sources, destinations and connections, and the jobs that move data; it shows them only through
 * the HTTP API in api.ts. It does not know the service in front of it; that service talks to it as it would to a
 * hosted platform.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createChecks } from './actors/check-queue.ts';
import { resealConfigurations, type Sealer, sealPlainConfigurations } from './actors/sealed-configuration.ts';
import { applicationTokens } from './applications/applications.ts';
import { nextRunAfter } from './connections/schedule.ts';
import type { Log, Platform } from './context.ts';
import { openStore, type Store } from './db/open.ts';
import { bundledDefinitions, type Definition } from './definitions/definitions.ts';
import { createScheduler } from './jobs/scheduler.ts';
import { forgetProcessName, isAbandoned, newProcessName } from './process-names.ts';
import { createRunner, type RunnerOptions } from './runner/create-runner.ts';

export interface PlatformOptions {
  /** The SQLite file; ':memory:' keeps everything in memory. */
  file: string;
  /** Where the files of workspaces, the logs of jobs, and for a moment the configurations of running connectors are. */
  dataDir: string;
  clientId: string;
  clientSecret: string;
  /** Seals connector configurations, and opens what was sealed with an older key. */
  sealer: Sealer;
  /** The base of the `next` and `previous` links, for example `http://localhost:8080/platform/v1`. */
  publicUrl: string;
  /** The built program of the bundled connectors. */
  connectorsProgram: string;
  accessTokenTtlSeconds?: number;
  /** Milliseconds since the epoch. */
  clock?: { now(): number };
  newId?: () => string;
  /** The organization of a workspace whose creator names none. */
  defaultOrganizationId?: string;
  /** Folders that connectors may read files from. */
  readableDirs?: readonly string[];
  allowPrivateNetworks?: boolean;
  /** Where the service that runs this platform can be reached, which no connector may. */
  serviceEndpoints?: readonly { host: string; port: number }[];
  maxConcurrentSyncs?: number;
  discoveryPatienceMs?: number;
  bundledDefinitions?: readonly Definition[];
  runner?: Omit<RunnerOptions, 'folder'>;
  log?: Log;
}

export interface OpenPlatform extends Platform {
  /** Begins to run jobs. Until then they are only written down. */
  start(): void;
  /** Does at once what is due, for whoever has moved the clock. */
  look(): Promise<void>;
  /** Seals every secret with the key the sealer seals with now. */
  reseal(): Promise<void>;
  /** Running jobs are stopped, and gone on with after the next start. */
  close(): Promise<void>;
}

const DEFAULT_TOKEN_TTL_SECONDS = 900;
const NIL_UUID = '00000000-0000-0000-0000-000000000000';
const silent: Log = { info: () => {}, warn: () => {}, error: () => {} };

export async function openPlatform(options: PlatformOptions): Promise<OpenPlatform> {
  const { dataDir, sealer, log = silent, newId = randomUUID, clock = Date } = options;
  const now = () => clock.now();
  const tokens = applicationTokens({
    clientId: options.clientId,
    clientSecret: options.clientSecret,
    ttlSeconds: options.accessTokenTtlSeconds ?? DEFAULT_TOKEN_TTL_SECONDS,
    now,
  });
  const store = await openStore(options.file);
  try {
    await sealPlainConfigurations(store, sealer);
    await completeSchedules(store, now());
  } catch (error) {
    await store.destroy();
    throw error;
  }

  const closing = new AbortController();
  const ownFolder = openOwnFolder(join(dataDir, 'running'));
  const platform: Platform = {
    store,
    tokens,
    sealer,
    runner: createRunner({ ...options.runner, folder: ownFolder.path }),
    checks: createChecks({ now, newId, log }),
    discoveries: new Map(),
    bundledDefinitions: options.bundledDefinitions ?? bundledDefinitions,
    folders: {
      files: (workspaceId) => join(dataDir, 'files', workspaceId),
      logs: (connectionId) => join(dataDir, 'logs', connectionId),
    },
    surroundings: {
      connectorsProgram: options.connectorsProgram,
      readableDirs: options.readableDirs ?? [],
      allowPrivateNetworks: options.allowPrivateNetworks ?? false,
      serviceEndpoints: options.serviceEndpoints ?? [],
    },
    maxConcurrentSyncs: options.maxConcurrentSyncs ?? 4,
    discoveryPatienceMs: options.discoveryPatienceMs ?? 30_000,
    closing: closing.signal,
    publicUrl: options.publicUrl.replace(/\/+$/, ''),
    defaultOrganizationId: (options.defaultOrganizationId ?? NIL_UUID).toLowerCase(),
    log,
    now,
    newId,
    wake: () => scheduler.wake(),
  };
  const scheduler = createScheduler(platform);
  return {
    ...platform,
    start: scheduler.start,
    look: scheduler.look,
    reseal: () => resealConfigurations(store, sealer),
    async close() {
      closing.abort();
      await scheduler.stop();
      await platform.checks.close();
      await Promise.allSettled(platform.discoveries.values());
      ownFolder.remove();
      await store.destroy();
    },
  };
}

/** Schedules that were stored before there was a scheduler. */
async function completeSchedules(store: Store, now: number): Promise<void> {
  await store.transaction().execute(async (trx) => {
    const unscheduled = await trx
      .selectFrom('connections')
      .select(['connection_id', 'cron_expression'])
      .where('status', '=', 'active')
      .where('cron_expression', 'is not', null)
      .where('next_run_at', 'is', null)
      .execute();
    for (const { connection_id, cron_expression } of unscheduled) {
      await trx
        .updateTable('connections')
        .set({ next_run_at: nextRunAfter(cron_expression, now) })
        .where('connection_id', '=', connection_id)
        .execute();
    }
  });
}

/** A folder for this process alone, without what killed processes have left in theirs: configurations with secrets. */
function openOwnFolder(parent: string) {
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(parent)) {
    if (isAbandoned(name)) rmSync(join(parent, name), { recursive: true, force: true });
  }
  const name = newProcessName();
  const path = join(parent, name);
  return {
    path,
    remove() {
      rmSync(path, { recursive: true, force: true });
      forgetProcessName(name);
    },
  };
}
