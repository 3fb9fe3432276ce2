/**
 * Upgrades the data of a deployment to this version: the service's database and the bundled platform's file. One process at
 * a time does it. Before a SQLite file changes, both files are copied; the copy is kept until the next upgrade has succeeded.
 * Migrations are expand/contract, so the version before may keep running meanwhile (docs/adr/0030-upgrades.md).
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { SqliteConnection } from '@inlay/database/connection';
import { takeLock } from '@inlay/database/file-lock';
import { assertCompatible, type OnApplied, readFileHistory, type SchemaHistory } from '@inlay/database/schema-history';
import { schema as platformSchema } from '@inlay/platform/db/migrations';
import {
  openStore as openPlatformStore,
  openStoreAsItIs as openPlatformStoreAsItIs,
  postgresSchema,
  readStoreHistory,
  type StorePlace,
} from '@inlay/platform/db/open';
import { sql } from 'kysely';
import type { Config } from '../../kernel/config/config.ts';
import { openDataDir } from '../../kernel/config/data-dir.ts';
import { migrate, readSchemaHistory, schemaOf } from '../../kernel/db/migrations.ts';
import type { Store } from '../../kernel/db/open.ts';
import { OperatorError } from '../../kernel/errors.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import { version } from '../../kernel/version.ts';
import {
  findPlatformStore,
  type PlatformStoreConfig,
  type PlatformStoreSecrets,
  refuseUnmoved,
} from '../platform-store.ts';

const copiesFolder = 'before-upgrade';
/** As long as a migration may take (kernel/db/migrations.ts). */
const lockPatienceMs = 600_000;
/** Beside the copies, for the log of the migrations. */
const spareBytes = 64 * 1024 * 1024;

export interface UpgradeContext {
  config: PlatformStoreConfig;
  secrets: PlatformStoreSecrets;
  /** Undefined for a platform that runs alone. */
  store: Store | undefined;
  runtime: Pick<Runtime, 'now' | 'elapsed' | 'sleep'>;
  tell(line: string): void;
}

/** One of the two stores, with what this version would do to it. */
export interface StoreState {
  what: 'Database' | 'Platform';
  /** Undefined: PostgreSQL. */
  file: string | undefined;
  bytes: number;
  history: SchemaHistory;
}

export async function readStores({
  config,
  secrets,
  store,
}: Pick<UpgradeContext, 'config' | 'secrets' | 'store'>): Promise<StoreState[]> {
  const states: StoreState[] = [];
  if (store) {
    const file = store.kind === 'sqlite' ? join(config.dataDir, 'inlay.db') : undefined;
    const bytes = file === undefined ? await sizeOnServer(store) : sizeOf(file);
    states.push({ what: 'Database', file, bytes, history: await readSchemaHistory(store) });
  }
  const platform = findPlatformStore(config, secrets);
  if (platform) states.push(await readPlatformStore(platform));
  return states;
}

async function readPlatformStore(place: StorePlace): Promise<StoreState> {
  if ('file' in place) {
    const { file } = place;
    return { what: 'Platform', file, bytes: sizeOf(file), history: await readFileHistory(file, platformSchema) };
  }
  const store = openPlatformStoreAsItIs(place, { maxConnections: 1 });
  try {
    const { rows } = await sql<{ bytes: number }>`
      select cast(coalesce(sum(pg_total_relation_size(oid)), 0) as bigint) as bytes from pg_class
      where relkind = 'r' and relnamespace = to_regnamespace(${postgresSchema})`.execute(store.db);
    const bytes = rows[0]?.bytes ?? 0;
    return { what: 'Platform', file: undefined, bytes, history: await readStoreHistory(store) };
  } finally {
    await store.close();
  }
}

const hasData = ({ history }: StoreState) => history.applied.length > 0;
const isPending = ({ history }: StoreState) => history.pending.length > 0;

/** The files that an upgrade copies first. None if no file with data changes. */
export function filesToCopy(stores: readonly StoreState[]): string[] {
  const files = stores.filter((each) => hasData(each) && each.file !== undefined);
  return files.some(isPending) ? files.map(({ file }) => file as string) : [];
}

/** What the copies need on the disk of the data directory, and what is free there. */
export async function measureRoom(
  { dataDir }: Pick<Config, 'dataDir'>,
  files: readonly string[],
): Promise<{ neededBytes: number; freeBytes: number }> {
  const { bavail, bsize } = await statfs(dataDir);
  const bytes = files.reduce((sum, file) => sum + sizeOf(file), 0);
  return { neededBytes: bytes === 0 ? 0 : Math.ceil(bytes * 1.1) + spareBytes, freeBytes: bavail * bsize };
}

/** Returns the migrations it applied. Nearly every start finds nothing to do, and waits for nobody. */
export async function upgrade(ctx: UpgradeContext): Promise<string[]> {
  refuseUnmoved(ctx.config, ctx.secrets);
  const stores = await readStores(ctx);
  for (const { history } of stores) assertCompatible(history, version);
  if (!stores.some(isPending)) return [];
  const files = stores.some((each) => each.file !== undefined && isPending(each));
  if (!files) return await migrateStores(ctx, stores);
  const lock = await takeLock(openDataDir(ctx.config.dataDir).path('upgrade.lock'), ctx.runtime, lockPatienceMs);
  try {
    // Another process may have upgraded meanwhile.
    const locked = await readStores(ctx);
    const copy = await copyFiles(ctx, locked);
    const applied = await migrateStores(ctx, locked);
    if (copy !== undefined) keepOnly(copy);
    return applied;
  } finally {
    lock.close();
  }
}

async function migrateStores(
  { config, secrets, store, tell }: UpgradeContext,
  stores: readonly StoreState[],
): Promise<string[]> {
  const applied: string[] = [];
  const onApplied: OnApplied = (name, ms) => {
    applied.push(name);
    // A new database is no upgrade.
    if (stores.some(hasData)) tell(`Applied ${name} (${ms} ms)`);
  };
  if (store) await migrate(store, onApplied);
  const platform = findPlatformStore(config, secrets);
  if (platform) await (await openPlatformStore(platform, { onApplied })).close();
  return applied;
}

/** Returns the folder of the copy, named as unfinished, or undefined if there is nothing to copy. */
async function copyFiles(ctx: UpgradeContext, stores: readonly StoreState[]): Promise<string | undefined> {
  const { config, runtime, tell } = ctx;
  const files = filesToCopy(stores);
  if (files.length === 0) return undefined;
  const parent = join(config.dataDir, copiesFolder);
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(parent)) {
    if (name.endsWith('.unfinished') && (await isBehind(join(parent, name), stores))) return join(parent, name);
    // An attempt that failed before it changed anything. Its copy may be older than the data.
    if (!isFinished(name)) rmSync(join(parent, name), { recursive: true });
  }
  const { neededBytes, freeBytes } = await measureRoom(config, files);
  if (freeBytes < neededBytes) {
    throw new OperatorError(
      `The upgrade copies the databases first and needs ${megabytes(neededBytes)} in ${config.dataDir}, where ${megabytes(freeBytes)} are free. Free up space, then start again.`,
    );
  }
  const startedAt = runtime.elapsed();
  const from = stores.map(({ history }) => history.migratedBy).find((each) => each !== null) ?? 'unknown';
  const time = isoTime(runtime.now()).replaceAll(':', '-');
  const target = join(parent, `${from}-${time}`);
  mkdirSync(`${target}.copying`, { mode: 0o700 });
  for (const file of files) {
    const connection = new SqliteConnection(file, { readOnly: true });
    await connection.copyTo(join(`${target}.copying`, basename(file))).finally(() => connection.close());
  }
  renameSync(`${target}.copying`, `${target}.unfinished`);
  const seconds = ((runtime.elapsed() - startedAt) / 1000).toFixed(1);
  tell(`Copied ${files.map((file) => basename(file)).join(' and ')} to ${target} (${seconds} s)`);
  return `${target}.unfinished`;
}

const isFinished = (name: string) => !/\.(copying|unfinished)$/.test(name);

/**
 * Whether one file was migrated after the copy, by an attempt that failed at the other one. Then the copy is the only one of
 * the version before, and the upgrade continues with it.
 */
async function isBehind(folder: string, stores: readonly StoreState[]): Promise<boolean> {
  for (const { file, what, history } of stores) {
    const copy = join(folder, basename(file ?? ''));
    if (file === undefined || !existsSync(copy)) continue;
    const then =
      what === 'Platform'
        ? await readFileHistory(copy, platformSchema)
        : await readFileHistory(copy, schemaOf('sqlite'));
    if (then.applied.length !== history.applied.length) return true;
  }
  return false;
}

/** The upgrade has succeeded: the copies of earlier ones are deleted. */
function keepOnly(unfinished: string): void {
  const kept = unfinished.slice(0, -'.unfinished'.length);
  renameSync(unfinished, kept);
  const parent = join(kept, '..');
  for (const name of readdirSync(parent)) {
    if (name !== basename(kept)) rmSync(join(parent, name), { recursive: true });
  }
}

function sizeOf(file: string): number {
  return [file, `${file}-wal`].reduce((sum, each) => sum + (existsSync(each) ? statSync(each).size : 0), 0);
}

async function sizeOnServer({ db }: Store): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`.execute(db);
  return rows[0]?.bytes ?? 0;
}

export const megabytes = (bytes: number) => `${Math.ceil(bytes / 1_000_000).toLocaleString('en-US')} MB`;
