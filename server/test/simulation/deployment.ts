/**
 * Several replicas of the real code on one real SQLite database: rules, stores, platform client and reconciler as they
 * run in production, with time, chance and the network given by the world. A replica can crash at any await: from then on
 * none of its statements takes effect and nothing it waits for returns.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteConnection } from '@inlay/sqlite/connection';
import { Kysely, type KyselyPlugin, sql } from 'kysely';
import { pino } from 'pino';
import { byWorker } from '../../src/cause.ts';
import { migrate } from '../../src/db/migrations.ts';
import type { Db, Store } from '../../src/db/open.ts';
import { addFunctions, sqliteDialect } from '../../src/db/sqlite.ts';
import type { Tables } from '../../src/db/tables.ts';
import { createJournal } from '../../src/events/journal.ts';
import { createPlatformClient } from '../../src/platform/platform-client.ts';
import type { WorkspacesContext } from '../../src/workspaces/context.ts';
import { JoinableWork } from '../../src/workspaces/joinable-work.ts';
import { createReconciler } from '../../src/workspaces/reconciler.worker.ts';
import type { HostedPlatform } from './hosted-platform.ts';
import type { World } from './world.ts';

export class Crashed extends Error {}

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
    private readonly platform: HostedPlatform,
    template: Buffer,
  ) {
    const folder = mkdtempSync(join(tmpdir(), 'inlay-simulation-'));
    writeFileSync(join(folder, 'inlay.db'), template);
    this.db = openFile(join(folder, 'inlay.db'), () => world.now);
    // The connection goes on without the name, and the file ends with it, also when the process is killed.
    rmSync(folder, { recursive: true });
  }

  /** Every schedule starts from a copy of one migrated database. */
  static async open(world: World, platform: HostedPlatform): Promise<Deployment> {
    Deployment.#template ??= (async () => {
      const folder = mkdtempSync(join(tmpdir(), 'inlay-simulation-'));
      const db = openFile(join(folder, 'inlay.db'), () => 0);
      await migrate({ kind: 'sqlite', exclusively: (work) => db.transaction().execute(work) });
      await db.destroy();
      const template = readFileSync(join(folder, 'inlay.db'));
      rmSync(folder, { recursive: true });
      return template;
    })();
    return new Deployment(world, platform, await Deployment.#template);
  }

  start(settleMs: number): Replica {
    const { world, platform } = this;
    let down = false;
    const check = () => {
      if (down) throw new Crashed();
    };
    const disk: KyselyPlugin = {
      transformQuery: ({ node }) => {
        check();
        return node;
      },
      transformResult: async ({ result }) => {
        await world.pause(world.between(0, 3));
        check();
        return result;
      },
    };
    const db = this.db.withPlugin(disk);
    const store: Store = {
      kind: 'sqlite',
      db,
      transaction: (work) => db.transaction().execute(work),
      exclusively: (work) => db.transaction().execute(work),
      learnSizes: async () => {},
      now: async () => (await sql<{ now: number }>`select now_ms() as now`.execute(db)).rows[0]?.now ?? 0,
      close: async () => {},
    };
    // Clocks of replicas disagree by up to ten minutes; only the database's counts.
    const skewMs = world.between(-600_000, 600_000);
    const runtime = {
      now: () => world.now + skewMs,
      elapsed: () => world.now - world.startedAt,
      random: world.random,
      newId: () => world.newId(),
      // A sleep in a crashed process never ends.
      sleep: async (ms: number) => {
        await world.pause(ms);
        if (down) await new Promise(() => {});
      },
    };
    const transport = platform.transport(check);
    const ctx: WorkspacesContext = {
      store,
      platform: createPlatformClient({ transport, credentials: { clientId: 'c', clientSecret: 's' }, runtime }),
      runtime,
      log: pino({ level: 'silent' }),
      journal: createJournal({ runtime, cause: byWorker }),
      settleMs,
      platformOrganizationId: async (id) => id,
      count: () => {},
      joinable: new JoinableWork(),
      recordContentsDeleted: async () => {},
      statusChanged: async () => {},
      listKeptDisabled: async () => new Set(),
      quotasChanged: async () => {},
      listSyncing: async () => new Set(),
      tokensEnded: () => {},
    };
    createReconciler(ctx).start();
    return {
      ctx,
      crash: () => {
        down = true;
      },
      get isDown() {
        return down;
      },
    };
  }

  close(): Promise<void> {
    return this.db.destroy();
  }
}
