/** `inlay upgrade`, and `inlay upgrade --check`: what an upgrade would do, without doing it. */
import { existsSync } from 'node:fs';
import { findIncompatibility } from '@inlay/database/schema-history';
import { type Config, ConfigError, readConfig, type Secrets } from '../../kernel/config/config.ts';
import { noData } from '../../kernel/config/data-dir.ts';
import { readSchemaHistory } from '../../kernel/db/migrations.ts';
import { systemRuntime } from '../../kernel/runtime.ts';
import { version } from '../../kernel/version.ts';
import { databaseNames, type Finding, fail, ok, presentFinding, warn, worstOf } from '../deployment/doctor-rules.ts';
import { readLastBackup } from '../deployment/last-backup.ts';
import { filesToCopy, measureRoom, megabytes, readStores, type StoreState, upgrade } from '../deployment/upgrade.ts';
import { openStore } from '../open-store.ts';
import { printFindings } from './doctor-report.ts';
import { exitWith } from './exit-codes.ts';
import { mayHaveStore, openOwnSealer, withNewStore } from './opened-store.ts';
import { print, printJson, span } from './output.ts';

/** A third of what a local disk did: 300 MB are copied in 0.9 s, and changed with an index in 3.4 s. */
const copiedBytesPerMs = 100_000;
const migratedBytesPerMs = 30_000;
const backupAdvisedAfterMs = 86_400_000;

export async function upgradeData(options: { check?: boolean; json?: boolean }): Promise<void> {
  if (options.check) return await showCheck(options.json ?? false);
  await withNewStore(async (store) => {
    await openOwnSealer(store);
    const isNew = (await readSchemaHistory(store)).applied.length === 0;
    const applied = await upgrade({ ...readConfig(process.env), store, runtime: systemRuntime, tell: print });
    if (applied.length === 0) print('The database is up to date.');
    else if (isNew) print('The database is ready.');
  });
}

async function showCheck(isJson: boolean): Promise<void> {
  const report = await check(process.env);
  const { findings, ...rest } = report;
  const checks = findings.map(presentFinding);
  const state = worstOf(checks);
  if (isJson) printJson({ state, version, checks, ...rest });
  else printFindings(findings);
  if (state === 'fail') exitWith('findings');
}

interface Report {
  findings: Finding[];
  pending?: { database: string[]; platform: string[] };
  estimated_seconds?: number;
  disk?: { needed_bytes: number; free_bytes: number };
  last_backup_at?: string | null;
}

async function check(env: NodeJS.ProcessEnv): Promise<Report> {
  let read: { config: Config; secrets: Secrets };
  try {
    read = readConfig(env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { findings: error.faults.map((fault) => fail('Settings: no longer valid', fault)) };
  }
  const { config, secrets } = read;
  const store = mayHaveStore(config, secrets) ? openStore(config, secrets, { runtime: systemRuntime }) : undefined;
  const stores = await readStores({ config, secrets, store }).finally(() => store?.close());
  if (stores.length === 0) throw noData(config.dataDir);
  const estimatedMs = estimate(stores);
  // On PostgreSQL there may be no data directory yet.
  const room = existsSync(config.dataDir) && (await measureRoom(config, filesToCopy(stores)));
  const lastBackup = readLastBackup(config.dataDir);
  const ofStore = (what: StoreState['what']) => stores.find((each) => each.what === what)?.history.pending ?? [];
  return {
    findings: [
      ...stores.map(describeStore),
      ...(estimatedMs > 0 ? [ok(`Duration: roughly ${span(estimatedMs)}`)] : []),
      ...(room && room.neededBytes > 0 ? [describeRoom(config, room)] : []),
      ...(config.unknownNames.length === 0 ? [ok('Settings: all are known to this version')] : []),
      ...config.unknownNames.map((text) => warn('Settings: unknown variable', text)),
      describeBackup(lastBackup),
    ],
    pending: { database: ofStore('Database'), platform: ofStore('Platform') },
    estimated_seconds: Math.round(estimatedMs / 1000),
    ...(room && { disk: { needed_bytes: room.neededBytes, free_bytes: room.freeBytes } }),
    last_backup_at: lastBackup === null ? null : new Date(lastBackup).toISOString(),
  };
}

function describeStore({ what, file, bytes, history }: StoreState): Finding {
  const name = `${what}: ${databaseNames[file === undefined ? 'postgres' : 'sqlite']}, ${megabytes(bytes)}`;
  const incompatibility = findIncompatibility(history, version);
  if (incompatibility !== undefined) return fail(name, incompatibility);
  const { pending, applied, migratedBy } = history;
  if (applied.length === 0) return ok(`${name}, will be created`);
  if (pending.length === 0) return ok(`${name}, up to date`);
  const from = migratedBy === null ? '' : ` from ${migratedBy}`;
  return ok(`${name}, will be upgraded${from} to ${version}: ${pending.join(', ')}`);
}

function estimate(stores: readonly StoreState[]): number {
  const migrated = stores.filter(({ history }) => history.pending.length > 0 && history.applied.length > 0);
  if (migrated.length === 0) return 0;
  const sum = (which: readonly StoreState[]) => which.reduce((total, { bytes }) => total + bytes, 0);
  const copied = stores.filter(({ file }) => file !== undefined && filesToCopy(stores).includes(file));
  return 1_000 + sum(copied) / copiedBytesPerMs + sum(migrated) / migratedBytesPerMs;
}

function describeRoom({ dataDir }: Config, room: { neededBytes: number; freeBytes: number }): Finding {
  const what = `Disk: the copies need ${megabytes(room.neededBytes)} in ${dataDir}; ${megabytes(room.freeBytes)} are free`;
  return room.freeBytes < room.neededBytes ? fail(what, 'Free up space before you upgrade.') : ok(what);
}

function describeBackup(at: number | null): Finding {
  const advice = 'Make a backup before you upgrade.';
  if (at === null) return warn('Backup: No backup is recorded.', advice);
  const ageMs = systemRuntime.now() - at;
  const what = `Backup: the last one is ${span(ageMs)} old`;
  return ageMs > backupAdvisedAfterMs ? warn(what, advice) : ok(what);
}
