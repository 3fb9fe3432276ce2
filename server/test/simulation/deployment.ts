/**
 * Several replicas of the real code on one real SQLite database: rules, stores, platform client and reconciler as they
 * run in production, with time, chance and the network given by the world. A replica can crash at any await: from then on
 * none of its statements takes effect and nothing it waits for returns.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteConnection } from '@inlay/database/connection';
import { sqliteDialect } from '@inlay/database/sqlite-dialect';
import { Kysely, type KyselyPlugin, sql } from 'kysely';
import { pino } from 'pino';
import { byWorker } from '../../src/kernel/cause.ts';
import { migrate } from '../../src/kernel/db/migrations.ts';
import type { Db, Store } from '../../src/kernel/db/open.ts';
import { addFunctions } from '../../src/kernel/db/sqlite-functions.ts';
import type { Tables } from '../../src/kernel/db/tables.ts';
import { createPlatformClient } from '../../src/kernel/platform/platform-client.ts';
import type { Runtime } from '../../src/kernel/runtime.ts';
import { createMetrics } from '../../src/kernel/telemetry/metrics.ts';
import { createJournal } from '../../src/log/events/journal.ts';
import type { WorkspacesContext } from '../../src/tenancy/workspaces/context.ts';
import { JoinableWork } from '../../src/tenancy/workspaces/joinable-work.ts';
import { createReconciler } from '../../src/tenancy/workspaces/reconciler.worker.ts';
import type { WorkspaceContents } from '../../src/tenancy/workspaces/workspace-contents.ts';
import type { HostedPlatform } from './hosted-platform.ts';
import type { World } from './world.ts';

const metrics = createMetrics();
/** Nothing is in the workspaces of these schedules. */
const emptyContents: WorkspaceContents = {
  recordDeleted: async () => {},
  followStatus: async () => {},
  followQuotas: async () => {},
  listKeptDisabled: async () => new Set(),
  listSyncing: async () => new Set(),
};

export class Crashed extends Error {}

/** What any part of a replica runs on. */
export interface Machine {
  store: Store;
  runtime: Runtime;
  /** Throws in a process that has crashed. */
  check(): void;
  /** Everything waiting in this process resumes only after that. */
  pause(ms: number): void;
  /** Resolves when the process runs. */
  resume(): Promise<void>;
  crash(): void;
  readonly isDown: boolean;
}

export interface Replica {
  ctx: WorkspacesContext;
  crash(): void;
  readonly isDown: boolean;
}

/** Nothing of a simulated database has to survive the process, so nothing waits for the disk. */
function openFile(file: string, now: () => number): Db {
  const database = new SqliteConnection(file);
  database.exec('pragma locking_mode = exclusive; pragma journal_mode = memory; pragma synchronous = off');
  addFunctions(database, now);
  return new Kysely<Tables>({ dialect: sqliteDialect(database) });
}

export class Deployment {
  static #template: Promise<Buffer> | undefined;
  readonly db: Db;

  private constructor(
    private readonly world: World,
    private readonly platform: HostedPlatform | undefined,
    template: Buffer,
  ) {
    const folder = mkdtempSync(join(tmpdir(), 'inlay-simulation-'));
    writeFileSync(join(folder, 'inlay.db'), template);
    this.db = openFile(join(folder, 'inlay.db'), () => world.now);
    // The connection works without the name, and the file ends with it, also when the process is killed.
    rmSync(folder, { recursive: true });
  }

  /** Every schedule starts from a copy of one migrated database. */
  static async open(world: World, platform?: HostedPlatform): Promise<Deployment> {
    Deployment.#template ??= (async () => {
      const folder = mkdtempSync(join(tmpdir(), 'inlay-simulation-'));
      const db = openFile(join(folder, 'inlay.db'), () => 0);
      await migrate({ kind: 'sqlite', db, exclusively: (work) => db.transaction().execute(work) });
      await db.destroy();
      const template = readFileSync(join(folder, 'inlay.db'));
      rmSync(folder, { recursive: true });
      return template;
    })();
    return new Deployment(world, platform, await Deployment.#template);
  }

  /** `stallChance`: how often it is paused right after a statement, where that hurts most. */
  machine(stallChance = 0): Machine {
    const { world } = this;
    let down = false;
    let pausedUntil = 0;
    const check = () => {
      if (down) throw new Crashed();
    };
    const resume = async () => {
      while (world.now < pausedUntil) await world.pause(pausedUntil - world.now);
      check();
    };
    const disk = (isPausable: boolean): KyselyPlugin => ({
      transformQuery: ({ node }) => {
        check();
        return node;
      },
      transformResult: async ({ result }) => {
        await world.pause(world.between(0, 3));
        if (isPausable) {
          if (stallChance > 0 && world.chance(stallChance)) pausedUntil = world.now + world.between(1_000, 150_000);
          await resume();
        }
        check();
        return result;
      },
    });
    const db = this.db.withPlugin(disk(true));
    // A process that is paused within a transaction would keep all others from the one connection.
    const within = this.db.withPlugin(disk(false));
    const transaction: Store['transaction'] = async (work) => {
      const result = await within.transaction().execute(work);
      await resume();
      return result;
    };
    const store: Store = {
      kind: 'sqlite',
      db,
      transaction,
      exclusively: transaction,
      learnSizes: async () => {},
      now: async () => (await sql<{ now: number }>`select now_ms() as now`.execute(db)).rows[0]?.now ?? 0,
      close: async () => {},
    };
    // Clocks of replicas disagree by up to ten minutes; only the database's counts.
    const skewMs = world.between(-600_000, 600_000);
    // A sleep in a crashed process never ends.
    const sleep = async (ms: number) => {
      await world.pause(ms);
      while (!down && world.now < pausedUntil) await world.pause(pausedUntil - world.now);
      if (down) await new Promise(() => {});
    };
    const runtime = {
      now: () => world.now + skewMs,
      elapsed: () => world.now - world.startedAt,
      random: world.random,
      newId: () => world.newId(),
      sleep,
      timeLimit: sleep,
    };
    return {
      store,
      runtime,
      check,
      resume,
      pause: (ms) => {
        pausedUntil = Math.max(pausedUntil, world.now + ms);
      },
      crash: () => {
        down = true;
      },
      get isDown() {
        return down;
      },
    };
  }

  start(settleMs: number): Replica {
    const { platform } = this;
    if (!platform) throw new Error('there is no platform');
    const machine = this.machine();
    const { store, runtime, check } = machine;
    const transport = platform.transport(check);
    const ctx: WorkspacesContext = {
      store,
      platform: createPlatformClient({ transport, credentials: { clientId: 'c', clientSecret: 's' }, runtime }),
      runtime,
      log: pino({ level: 'silent' }),
      journal: createJournal({ runtime, cause: byWorker }),
      settleMs,
      metrics,
      joinable: new JoinableWork(),
      contents: emptyContents,
      scopedTokens: { forget: () => {} },
    };
    createReconciler(ctx).start();
    return {
      ctx,
      crash: machine.crash,
      get isDown() {
        return machine.isDown;
      },
    };
  }

  close(): Promise<void> {
    return this.db.destroy();
  }
}
