/**
 * How the service itself does, for operators: the rules of doctor, applied to the parts that run.
 *
 * Invariants: an organization sees its own data, and whether platform and database respond. Data about the deployment
 * is for the first organization alone; totals across organizations are omitted if there are several. Requests cannot
 * overload dependencies: a response is cached for ten seconds, results of dependencies for thirty, and nothing waits
 * longer than five seconds for a dependency.
 */
import type { Deployment, Replica, ServiceHealth } from '@inlay/contract/log/service-health';
import { BoundedMap } from '@inlay/schedule/bounded-map';
import { sql } from 'kysely';
import type { Config, Secrets } from '../../kernel/config/config.ts';
import { listSettings } from '../../kernel/config/settings.ts';
import { readSchemaHistory } from '../../kernel/db/migrations.ts';
import type { Store } from '../../kernel/db/open.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { PlatformPort } from '../../kernel/platform/platform-port.ts';
import type { Transport } from '../../kernel/platform/transport.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import { version } from '../../kernel/version.ts';
import { readSyncsOf } from '../../operating/overview.ts';
import { findOrganization, listOrganizations } from '../../tenancy/organizations/organizations.ts';
import * as rules from './doctor-rules.ts';
import { readLastBackup } from './last-backup.ts';
import { listReplicas, silentAfterMs } from './replicas.store.ts';

/** The result of the last call to the platform, and when calls failed. */
export interface PlatformTrouble {
  failure: 'unavailable' | 'unauthorised' | null;
  failingSince: number | null;
  lastFailureAt: number | null;
}

export interface ServiceHealthContext {
  store: Store;
  runtime: Pick<Runtime, 'elapsed' | 'timeLimit'>;
  config: Config;
  secrets: Secrets;
  platform: PlatformPort;
  transport: Transport;
  platformTrouble(): PlatformTrouble;
  firstOrganizationId: string;
  /** Whether anybody has signed in with a provider. */
  hasCredentials(): Promise<boolean>;
}

const answerKeptMs = 10_000;
const othersKeptMs = 30_000;
const othersPatienceMs = 5_000;
const maxOrganizations = 1_000;

export function createServiceHealth(ctx: ServiceHealthContext): (organizationId: string) => Promise<ServiceHealth> {
  const { config, runtime } = ctx;
  const askPlatform = keptFor(runtime, othersKeptMs, () => rules.examinePlatform(config, ctx));
  const askIssuer = keptFor(runtime, othersKeptMs, () => rules.examineConsole(config));
  const others = {
    platform: () =>
      config.platformUrl === undefined
        ? Promise.resolve([rules.bundledPlatform(config)])
        : inTime(runtime, askPlatform(), `Platform: ${config.platformUrl}`),
    console: () => inTime(runtime, askIssuer(), 'Console: the sign-in provider'),
  };
  const kept = new BoundedMap<string, () => Promise<ServiceHealth>>(maxOrganizations);
  return (organizationId) => {
    let read = kept.get(organizationId);
    if (!read) {
      read = keptFor(runtime, answerKeptMs, () => readHealth(ctx, organizationId, others));
      kept.set(organizationId, read);
    }
    return read();
  };
}

/** One at a time, and not again for a while. What failed is tried again at once. */
function keptFor<T>({ elapsed }: Pick<Runtime, 'elapsed'>, keptMs: number, ask: () => Promise<T>): () => Promise<T> {
  let known: { answer: Promise<T>; until: number } | undefined;
  return () => {
    if (known && elapsed() < known.until) return known.answer;
    const asked = { answer: ask(), until: Number.POSITIVE_INFINITY };
    known = asked;
    asked.answer.then(
      () => {
        asked.until = elapsed() + keptMs;
      },
      () => {
        asked.until = 0;
      },
    );
    return asked.answer;
  };
}

async function inTime(
  { timeLimit }: Pick<Runtime, 'timeLimit'>,
  asked: Promise<rules.Finding[]>,
  who: string,
): Promise<rules.Finding[]> {
  const patience = new AbortController();
  const late = timeLimit(othersPatienceMs, patience.signal).then(() => [
    rules.fail(
      `${who} did not respond within ${othersPatienceMs / 1000} seconds`,
      'Check again in a minute. If the problem persists, check the network connection to it.',
    ),
  ]);
  try {
    return await Promise.race([asked, late]);
  } finally {
    patience.abort();
  }
}

interface Others {
  platform(): Promise<rules.Finding[]>;
  console(): Promise<rules.Finding[]>;
}

async function readHealth(ctx: ServiceHealthContext, organizationId: string, others: Others): Promise<ServiceHealth> {
  const { store, config, runtime } = ctx;
  const startedAt = runtime.elapsed();
  const now = await store.now();
  const answeredInMs = Math.ceil(runtime.elapsed() - startedAt);
  const organization = await findOrganization(store, organizationId);
  const own = organization ? [organization] : [];
  const syncs = rules.describeSyncs(await readSyncsOf(store, organizationId));
  const ofOrganization = [...(await rules.examineOrganizations(store, config, own)), ...syncs];
  const isFirst = organizationId === ctx.firstOrganizationId;
  // Replicas first: what they say is one of the checks.
  const deployment = isFirst ? await readDeployment(ctx) : null;
  const findings = deployment
    ? [...(await examineDeployment(ctx, others, deployment.replicas)), ...ofOrganization]
    : ofOrganization;
  const checks = findings.map(rules.presentFinding).toSorted((a, b) => order[a.state] - order[b.state]);
  const { failure, failingSince, lastFailureAt } = ctx.platformTrouble();
  return {
    state: rules.worstOf(checks),
    checked_at: isoTime(now),
    version,
    checks,
    platform: {
      kind: config.platformUrl === undefined ? 'bundled' : 'hosted',
      failure,
      failing_since: failingSince === null ? null : isoTime(failingSince),
      last_failure_at: lastFailureAt === null ? null : isoTime(lastFailureAt),
    },
    database: { kind: store.kind, answered_in_ms: answeredInMs },
    deployment,
  };
}

const order = { fail: 0, warn: 1, ok: 2 };

async function examineDeployment(
  { store, config, secrets }: ServiceHealthContext,
  others: Others,
  replicas: readonly Replica[],
): Promise<rules.Finding[]> {
  const isAlone = (await listOrganizations(store)).length === 1;
  // Both at once: the slower of them is waited for.
  const [platform, console] = await Promise.all([others.platform(), others.console()]);
  return [
    ...rules.examineConfig(config, secrets),
    rules.examineReach(config),
    rules.examineMetrics(config, secrets),
    ...rules.examineDataDir(config),
    ...rules.examineBackup(config),
    await rules.examineMigrations(store),
    await rules.examineClock(store),
    ...describeReplicas(replicas),
    ...(isAlone ? [await rules.examineBacklog(store)] : []),
    ...platform,
    ...console,
  ];
}

export function describeReplicas(replicas: readonly Replica[]): rules.Finding[] {
  const present = replicas.filter(({ is_present }) => is_present);
  const findings = replicas
    .filter(({ is_present }) => !is_present)
    .map(({ host, last_seen_at }) =>
      rules.warn(
        `Replicas: the replica on ${host} was last seen at ${last_seen_at}`,
        'It was killed or cannot reach the database. Check its log. It disappears from this list after an hour.',
      ),
    );
  const versions = [...new Set(present.map((replica) => replica.version))];
  if (versions.length > 1) {
    findings.push(
      rules.warn(
        `Replicas: running different versions: ${versions.join(', ')}`,
        'Unless an update is in progress, upgrade all replicas to the latest version.',
      ),
    );
  }
  if (findings.length > 0 || present.length === 0) return findings;
  return [rules.ok(`Replicas: ${present.length} running`)];
}

/** Also for commands on this machine, beside a service that may be running. */
export async function readDeployment({
  store,
  config,
}: Pick<ServiceHealthContext, 'store' | 'config'>): Promise<Deployment> {
  const lastBackupAt = readLastBackup(config.dataDir);
  const { applied, pending, unknown } = await readSchemaHistory(store);
  return {
    replicas: (await listReplicas(store.db)).map(({ id, host, version, started_at, last_seen_at, now }) => ({
      ...{ id, host, version },
      started_at: isoTime(started_at),
      last_seen_at: isoTime(last_seen_at),
      is_present: now - last_seen_at <= silentAfterMs,
    })),
    versions: {
      node: process.versions.node,
      database: await databaseVersion(store),
      platform: config.platformUrl === undefined ? version : null,
    },
    last_backup_at: lastBackupAt === null ? null : isoTime(lastBackupAt),
    migrations: { applied: applied.length, last: applied.at(-1) ?? null, pending, unknown },
    settings: listSettings(config).map(({ name, value, isSet, isSecret }) => ({
      ...{ name, value },
      is_set: isSet,
      is_secret: isSecret,
    })),
  };
}

async function databaseVersion({ kind, db }: Store): Promise<string> {
  const asked =
    kind === 'sqlite'
      ? sql<{ version: string }>`select sqlite_version() as version`
      : sql<{ version: string }>`select current_setting('server_version') as version`;
  const { rows } = await asked.execute(db);
  return `${rules.databaseNames[kind]} ${rows[0]?.version ?? ''}`.trim();
}
