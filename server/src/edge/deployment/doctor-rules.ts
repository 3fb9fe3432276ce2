/**
 * The rules of `inlay doctor` and of the health of a running service: what each reports about one part of a deployment,
 * and what to do. They change nothing. Callers open what the rules read.
 */

import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckState, ServiceCheck } from '@inlay/contract/log/service-health';
import type { HealthState } from '@inlay/contract/pipelines/health';
import { findIncompatibility } from '@inlay/database/schema-history';
import { openStoreAsItIs, type Store as PlatformStore, readStoreHistory } from '@inlay/platform/db/open';
import { nextRuns } from '@inlay/schedule/quartz';
import { sql } from 'kysely';
import { listRedirects } from '../../credentials/clients/clients.ts';
import { byCommandLine } from '../../kernel/cause.ts';
import { type Config, isLoopback, isOnLoopback, type Secrets } from '../../kernel/config/config.ts';
import { findObstacle } from '../../kernel/config/data-dir.ts';
import { isRotating, openSealer } from '../../kernel/config/encryption-keys.ts';
import { readSchemaHistory } from '../../kernel/db/migrations.ts';
import type { Store } from '../../kernel/db/open.ts';
import { countSealedWithOthers } from '../../kernel/db/resealing.ts';
import type { OrganizationRow } from '../../kernel/db/tables.ts';
import { OperatorError } from '../../kernel/errors.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import { PlatformError, type PlatformPort, type PlatformTraits } from '../../kernel/platform/platform-port.ts';
import type { Transport } from '../../kernel/platform/transport.ts';
import { systemRuntime } from '../../kernel/runtime.ts';
import type { Sealer } from '../../kernel/sealing.ts';
import { version } from '../../kernel/version.ts';
import { createJournal } from '../../log/events/journal.ts';
import type { SyncState } from '../../pipelines/connections/job-watch.worker.ts';
import { countOpenSetUps } from '../../pipelines/set-up/set-ups.worker.ts';
import { createOperatorTokens, rotationAdvisedAfterDays } from '../../tenancy/tokens/operator-tokens.ts';
import { assertKeyOpens } from '../../tenancy/tokens/signing-keys.ts';
import { readBacklog } from '../../tenancy/workspaces/reconciler.worker.ts';
import { discoverIssuer } from '../console/oidc.ts';
import type { CredentialChannel } from '../credential-channel.ts';
import { findPlatformStore, refuseUnmoved } from '../platform-store.ts';
import { readLastBackup } from './last-backup.ts';

export interface Finding {
  state: 'ok' | 'warn' | 'fail';
  what: string;
  advice?: string;
}

export const ok = (what: string): Finding => ({ state: 'ok', what });
export const warn = (what: string, advice: string): Finding => ({ state: 'warn', what, advice });
export const fail = (what: string, advice: string): Finding => ({ state: 'fail', what, advice });

/** As the API shows it. */
export function presentFinding({ state, what, advice }: Finding): ServiceCheck {
  return { state, what, advice: advice ?? null };
}

export function worstOf(checks: readonly Pick<ServiceCheck, 'state'>[]): CheckState {
  return (['fail', 'warn'] as const).find((state) => checks.some((check) => check.state === state)) ?? 'ok';
}

const clockToleranceMs = 5_000;
const longWaitMinutes = 30;
const backupAdvisedAfterMs = 7 * 86_400_000;

export function examineConfig(config: Config, secrets: Secrets): Finding[] {
  const findings = [ok(`Configuration: public URL is ${config.publicUrl}`)];
  for (const text of config.unknownNames) findings.push(warn('Configuration: unknown variable', text));
  const { protocol, hostname } = new URL(config.publicUrl);
  if (!isLoopback(config.host) && hostname === 'localhost') {
    findings.push(
      warn(
        'Configuration: other machines can reach the service, but INLAY_PUBLIC_URL is localhost',
        'Set INLAY_PUBLIC_URL to the URL under which others reach the service.',
      ),
    );
  } else if (protocol === 'http:' && !isLoopback(hostname)) {
    findings.push(
      warn(
        'Configuration: INLAY_PUBLIC_URL is not https',
        'Put a TLS proxy in front of Inlay. Otherwise tokens travel unencrypted.',
      ),
      warn(
        'Customer sign-in: disabled, because browsers send neither its cookie nor fetch metadata over plain http',
        'Set INLAY_PUBLIC_URL to an https URL.',
      ),
    );
  }
  if (secrets.databaseUrl !== undefined && secrets.encryptionKeys === undefined) {
    findings.push(
      warn(
        'Encryption key: stored in the data directory, while the data it protects is in PostgreSQL',
        'Set INLAY_ENCRYPTION_KEY to the same key on every replica. If the key file is lost, stored secrets cannot be decrypted.',
      ),
    );
  }
  return findings;
}

/** What connectors may connect to, and why. */
export function examineReach(config: Config): Finding {
  if (config.platformUrl !== undefined) {
    return ok('Connectors: run on the hosted platform, which controls what they can reach');
  }
  const reason = config.given.includes('INLAY_ALLOW_PRIVATE_NETWORKS')
    ? `INLAY_ALLOW_PRIVATE_NETWORKS is ${config.allowPrivateNetworks}`
    : `${reachReason(config)}; set INLAY_ALLOW_PRIVATE_NETWORKS to change this`;
  if (!config.allowPrivateNetworks) return ok(`Connectors: can reach only the public internet (${reason})`);
  const what = `Connectors: can reach private networks and other programs on this machine, but never the service itself (${reason})`;
  return isOnLoopback(config)
    ? ok(what)
    : warn(
        what,
        'Customers choose which hosts connectors connect to. Set INLAY_ALLOW_PRIVATE_NETWORKS to false unless you trust every customer.',
      );
}

function reachReason(config: Config): string {
  if (isOnLoopback(config)) return 'HOST and INLAY_PUBLIC_URL are on loopback';
  return isLoopback(config.host) ? 'INLAY_PUBLIC_URL is not on loopback' : 'HOST is not on loopback';
}

export async function examineConsole({ console: settings, publicUrl }: Config): Promise<Finding[]> {
  if (!settings) return [ok('Console: disabled')];
  if (settings.isSecure === undefined) {
    return [warn('Console: sign-in does not work over plain http', 'Set INLAY_PUBLIC_URL to an https URL.')];
  }
  const findings = [ok(`Console: ${publicUrl}/console`)];
  if (!settings.oidc) return findings;
  const { issuer } = settings.oidc;
  try {
    await discoverIssuer(issuer);
    findings.push(ok(`Console: sign-in with ${issuer}, redirect URI ${publicUrl}/console/oidc/callback`));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    findings.push(
      fail(
        `Console: cannot read the OpenID configuration of ${issuer}: ${reason}`,
        'Check INLAY_CONSOLE_OIDC_ISSUER. Sign-in links from inlay console link still work.',
      ),
    );
  }
  return findings;
}

export function examineMetrics(config: Config, { metricsToken }: Secrets): Finding {
  const { host, port } = config.metrics;
  if (metricsToken !== undefined) return ok('Metrics: protected by INLAY_METRICS_TOKEN');
  const isPublic = port === undefined ? !isOnLoopback(config) : !isLoopback(host);
  const where = port === undefined ? 'the service' : `port ${port}`;
  return isPublic
    ? warn(
        `Metrics: anyone who can reach ${where} can read /metrics`,
        'Set INLAY_METRICS_TOKEN, or move metrics to a private address with INLAY_METRICS_PORT and INLAY_METRICS_HOST.',
      )
    : ok(`Metrics: on ${where}, reachable only from this machine`);
}

export function examineDataDir({ dataDir }: Config): Finding[] {
  const obstacle = findObstacle(dataDir);
  if (obstacle !== undefined) {
    return [
      fail(
        `Data directory: cannot use ${dataDir}: ${obstacle}`,
        'Give the user that runs Inlay access to it, or set INLAY_DATA_DIR to a different directory.',
      ),
    ];
  }
  if (!existsSync(dataDir)) return [ok(`Data directory: ${dataDir} will be created on first start`)];
  const readableByOthers = (statSync(dataDir).mode & 0o077) !== 0;
  return readableByOthers
    ? [warn(`Data directory: other users can read ${dataDir}`, `Run: chmod 700 ${dataDir}`)]
    : [ok(`Data directory: ${dataDir}`)];
}

/** Whether the encryption key opens everything that is stored. Looks at every secret, unlike a start. */
export async function examineEncryptionKey(config: Config, secrets: Secrets, store: Store): Promise<Finding[]> {
  const sealer = readSealer(config, secrets);
  try {
    await assertKeyOpens(store.db, sealer);
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    const advice = 'Until this is fixed, the service does not start and commands cannot change data.';
    return [fail(`Encryption key: ${error.message}`, advice)];
  }
  const lost = await countSealedWithOthers(store.db, sealer.keyIds());
  if (lost > 0) {
    const what = `Encryption key: ${lost} stored secrets were encrypted with a different key`;
    return [
      fail(
        what,
        'Add the older key after the current one: after a comma in INLAY_ENCRYPTION_KEY, or on a new line in the key file.',
      ),
    ];
  }
  return [
    isRotating(secrets, filesIn(config))
      ? warn('Encryption key: a rotation is unfinished', 'Run: inlay encryption-key rotate')
      : ok('Encryption key: decrypts every stored secret'),
  ];
}

export const bundledPlatform = ({ given }: Config): Finding =>
  ok(given.includes('INLAY_PLATFORM_DATABASE_URL') ? 'Platform: bundled, on PostgreSQL' : 'Platform: bundled');

/** The same of the bundled platform, whose store may be all that a machine has. */
export async function examinePlatformStore(config: Config, secrets: Secrets): Promise<Finding[]> {
  const place = findPlatformStore(config, secrets);
  const bundled = bundledPlatform(config);
  if (!place) return [bundled];
  let store: PlatformStore | undefined;
  try {
    refuseUnmoved(config, secrets);
    const keyIds = readSealer(config, secrets).keyIds();
    store = openStoreAsItIs(place, { isReadOnly: true, maxConnections: 1 });
    if ((await readStoreHistory(store)).applied.length === 0) return [bundled];
    // A sealed configuration is a JSON string.
    const { count } = await store.db
      .selectFrom('connectors')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('configuration', 'like', '"%')
      .where(sql<string>`substr(configuration, 5, 8)`, 'not in', keyIds)
      .executeTakeFirstOrThrow();
    if (count === 0) return [bundled];
    const what = `Encryption key: ${count} connector configurations on the platform were encrypted with a different key`;
    const advice = 'Set INLAY_ENCRYPTION_KEY, or restore encryption.key, to the key that the platform used last.';
    return [bundled, fail(what, advice)];
  } catch (error) {
    if (error instanceof OperatorError) return [fail('Platform: does not start', error.message)];
    const [where, advice] =
      'url' in place
        ? ['PostgreSQL', 'Check INLAY_PLATFORM_DATABASE_URL and that the database server is running.']
        : [place.file, 'Check the file and the disk.'];
    return [bundled, fail(`Platform: cannot use ${where} (${(error as Error).message})`, advice)];
  } finally {
    await store?.close();
  }
}

const filesIn = ({ dataDir }: Config) => ({ path: (name: string) => join(dataDir, name) });

/** Makes no key. */
function readSealer(config: Config, secrets: Secrets): Sealer {
  const { path } = filesIn(config);
  return openSealer(secrets, { path, readOrCreate: (name) => readFileSync(path(name), 'utf8') });
}

/** For an open database: whether its tables are those of this version. */
export async function examineMigrations(store: Store): Promise<Finding> {
  const kind = databaseNames[store.kind];
  const history = await readSchemaHistory(store);
  const incompatibility = findIncompatibility(history, version);
  if (incompatibility !== undefined) return fail(`Database: ${kind}. ${incompatibility}`, 'Run that version.');
  if (history.pending.length > 0) {
    const advice = 'Run: inlay upgrade (or inlay start, which upgrades first)';
    return warn(`Database: ${kind}, has pending migrations`, advice);
  }
  return history.unknown.length > 0
    ? ok(`Database: ${kind}, migrated by Inlay ${history.migratedBy}; works with this version too`)
    : ok(`Database: ${kind}, up to date`);
}

export const databaseNames = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const;

/** What belongs to organizations: their operator tokens and OAuth clients. */
export async function examineOrganizations(
  store: Store,
  config: Config,
  organizations: readonly OrganizationRow[],
): Promise<Finding[]> {
  return [
    ...(await examineTenants(store, organizations)),
    ...(await examineOAuthClients(store, organizations, config)),
  ];
}

const secretWarningMs = 30 * 86_400_000;

/** Where providers must send customers back to, and secrets that are about to end. */
async function examineOAuthClients(
  store: Store,
  organizations: readonly OrganizationRow[],
  { publicUrl }: Config,
): Promise<Finding[]> {
  const now = await store.now();
  const findings: Finding[] = [];
  for (const { id } of organizations) {
    for (const { name, redirectUrl, secretExpiresAt } of await listRedirects({ store, publicUrl }, id)) {
      const isEnding = secretExpiresAt !== null && secretExpiresAt < now + secretWarningMs;
      const until = isEnding ? new Date(secretExpiresAt).toISOString().slice(0, 10) : '';
      findings.push(
        isEnding
          ? warn(
              `OAuth client ${name}: the client secret expires on ${until}`,
              'Create a new secret at the provider, then rotate it in Inlay.',
            )
          : ok(`OAuth client ${name}: the redirect URI to register with the provider is ${redirectUrl}`),
      );
    }
  }
  return findings;
}

export async function examineClock(store: Store): Promise<Finding> {
  return clockFinding('the database', (await store.now()) - systemRuntime.now());
}

function clockFinding(whose: string, differenceMs: number): Finding {
  const seconds = Math.round(Math.abs(differenceMs) / 1000);
  if (Math.abs(differenceMs) <= clockToleranceMs) return ok(`Clock: in sync with ${whose}`);
  return warn(
    `Clock: ${seconds} s ${differenceMs > 0 ? 'behind' : 'ahead of'} ${whose}`,
    'Sync the clocks with NTP. Token expiry depends on them.',
  );
}

const journal = createJournal({ runtime: systemRuntime, cause: byCommandLine });

async function examineTenants(store: Store, organizations: readonly OrganizationRow[]): Promise<Finding[]> {
  if (organizations.length === 0) return [ok('Organizations: the first one will be created on first start')];
  const findings: Finding[] = [];
  const now = systemRuntime.now();
  for (const { id, name } of organizations) {
    const tokens = await createOperatorTokens(store, systemRuntime, journal).list(id);
    const usable = tokens.filter(
      (token) =>
        (token.revoked_at === null || Date.parse(token.revoked_at) > now) &&
        (token.expires_at === null || Date.parse(token.expires_at) > now),
    );
    const old = usable.filter((token) => now - Date.parse(token.created_at) > rotationAdvisedAfterDays * 86_400_000);
    const what = `Organization ${name} (${id})`;
    if (usable.length === 0) {
      findings.push(
        warn(
          `${what}: no active operator token`,
          `Run: inlay operator-token create --name <name> --organization ${id}`,
        ),
      );
    } else if (old.length > 0) {
      const names = old.map((token) => token.name).join(', ');
      findings.push(
        warn(
          `${what}: operator tokens older than ${rotationAdvisedAfterDays} days: ${names}`,
          'Run: inlay operator-token rotate <id> --overlap-hours 24',
        ),
      );
    } else findings.push(ok(`${what}: ${usable.length} active operator token${usable.length === 1 ? '' : 's'}`));
  }
  return findings;
}

/** Empty if no backup is recorded: operators may take snapshots of the database server instead. */
export function examineBackup({ dataDir, backup }: Pick<Config, 'dataDir' | 'backup'>): Finding[] {
  const at = readLastBackup(dataDir);
  if (at === null) return [];
  const what = `Backup: the last one was made at ${isoTime(at)}`;
  // With a schedule, two in a row were missed.
  const [, secondDue] = backup.schedule === undefined ? [] : nextRuns(backup.schedule, new Date(at), 2);
  const isOld = systemRuntime.now() > (secondDue?.getTime() ?? at + backupAdvisedAfterMs);
  return [isOld ? warn(what, 'Run inlay backup, and check why no newer one was made.') : ok(what)];
}

export async function examineBacklog(store: Store): Promise<Finding> {
  const { claims, operations } = await readBacklog(store);
  const ofWorkspaces = claims + Object.values(operations).reduce<number>((sum, count) => sum + (count ?? 0), 0);
  const open = ofWorkspaces + (await countOpenSetUps(store));
  if (open === 0) return ok('No platform changes are pending');
  const what = open === 1 ? '1 platform change is pending' : `${open} platform changes are pending`;
  return warn(what, 'A running service finishes them automatically when the platform responds.');
}

/** Connections that do not bring their data, and syncs that wait too long for their turn. */
export function describeSyncs({ byHealth, waiting, oldestWaitingMs }: Omit<SyncState, 'running'>): Finding[] {
  const count = (health: HealthState) => byHealth[health] ?? 0;
  const all = Object.values(byHealth).reduce<number>((sum, each) => sum + (each ?? 0), 0);
  const [failing, attention] = [count('failing'), count('needs_attention')];
  const findings: Finding[] =
    failing + attention === 0
      ? [ok(`Syncs: 0 of ${all} connections are failing`)]
      : [
          warn(
            `Syncs: ${failing} of ${all} connections are failing; ${attention} ${attention === 1 ? 'needs' : 'need'} action`,
            'Run inlay status, or open the console, to see which customers are affected and why.',
          ),
        ];
  const minutes = Math.floor((oldestWaitingMs ?? 0) / 60_000);
  if (minutes >= longWaitMinutes) {
    findings.push(
      warn(
        `Syncs: ${waiting} are queued, the oldest for ${minutes} minutes`,
        'Check that a service that runs syncs is up. If it is, raise INLAY_MAX_CONCURRENT_SYNCS or spread out the schedules.',
      ),
    );
  }
  return findings;
}

const waysToFindNames: Record<PlatformTraits['findsNamesBy'], string> = {
  'name filter': 'Platform: looks up workspaces by name (with the name filter)',
  'internal listing': 'Platform: looks up workspaces by name (with the internal listing)',
  'reading all': 'Platform: has no name filter, so looking up a new name reads all workspaces',
  'not known yet': 'Platform: has no workspaces yet, so it is not known whether it has a name filter',
};

function describeTraits({ organizations, tellsApart, findsNamesBy }: PlatformTraits): Finding[] {
  const seen = `Platform: the credentials can access ${organizations.length} organization${organizations.length === 1 ? '' : 's'}`;
  return [
    ok(waysToFindNames[findsNamesBy]),
    tellsApart
      ? ok(seen)
      : fail(
          `${seen}, but the platform does not report which one a workspace belongs to`,
          'Set INLAY_PLATFORM_CLIENT_ID and INLAY_PLATFORM_CLIENT_SECRET to an application of a user who belongs to only one organization.',
        ),
  ];
}

/** Who refreshes the tokens of customers, and whether an Inlay platform gets them from here. Asked from the platform's side. */
async function examineTokenOwner(platform: PlatformPort, areUsed: boolean): Promise<Finding> {
  const outage = await platform.testCredentials();
  if (outage !== undefined) {
    const what = `Customer sign-in: the platform cannot get access tokens. ${outage}`;
    return areUsed
      ? fail(what, 'Until this is fixed, syncs of sources with a customer sign-in wait.')
      : warn(what, 'No customer has signed in yet, so no syncs are affected.');
  }
  return (await platform.resolvesCredentials())
    ? ok('Customer sign-in: the platform gets access tokens from this service')
    : ok('Customer sign-in: the hosted platform receives the tokens once and refreshes them');
}

/** For the environment of a platform that runs alone: the way from it to the service. */
export async function examineServiceUrl({ serviceUrl }: Config, channel: CredentialChannel): Promise<Finding> {
  const outage = await channel.test();
  return outage === undefined
    ? ok(`Service: ${serviceUrl} responds and provides access tokens`)
    : fail(`Service: ${outage}`, 'Until this is fixed, syncs of sources with a customer sign-in wait.');
}

interface ExaminedPlatform {
  platform: PlatformPort;
  transport: Transport;
  /** Whether anybody has signed in with a provider. */
  hasCredentials(): Promise<boolean>;
}

export async function examinePlatform(
  config: Config,
  { platform, transport, hasCredentials }: ExaminedPlatform,
): Promise<Finding[]> {
  try {
    const organizations = await platform.listOrganizations();
    const findings = [ok(`Platform: ${config.platformUrl} responds and accepts the credentials`)];
    const wanted = config.platformOrganizationId ?? config.organizationId;
    if (wanted !== undefined && organizations.length > 0 && !organizations.includes(wanted)) {
      findings.push(
        warn(
          `Platform: the credentials cannot access organization ${wanted}`,
          `Set INLAY_PLATFORM_ORGANIZATION_ID to one of: ${organizations.join(', ')}`,
        ),
      );
    }
    const shown = wanted ?? organizations[0];
    if (shown !== undefined) findings.push(...describeTraits(await platform.traits(shown)));
    const { headers } = await transport.send({ method: 'GET', path: '/organizations', headers: {}, timeoutMs: 5_000 });
    const date = Date.parse(String(headers.date));
    // The header has whole seconds, so half a second is added as the best guess.
    if (!Number.isNaN(date)) findings.push(clockFinding('the platform', date + 500 - systemRuntime.now()));
    return [...findings, await examineTokenOwner(platform, await hasCredentials())];
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    const what = `Platform: ${config.platformUrl}: ${error.message}`;
    return error.failure === 'unauthorised'
      ? [fail(what, 'Check INLAY_PLATFORM_CLIENT_ID and INLAY_PLATFORM_CLIENT_SECRET.')]
      : [fail(what, 'Check INLAY_PLATFORM_URL (it ends in /v1) and the network.')];
  }
}
