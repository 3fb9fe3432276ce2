/**
 * The rules of `inlay doctor` and of the health of a running service: what each says of one part of a deployment, and what to
 * do. They change nothing. Whoever calls them opens what they look at.
 */

import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { HealthState } from '@inlay/contract/pipelines/health';
import { SqliteConnection } from '@inlay/sqlite/connection';
import { listRedirects } from '../../credentials/clients/clients.ts';
import { byCommandLine } from '../../kernel/cause.ts';
import { type Config, isLoopback, isOnLoopback, type Secrets } from '../../kernel/config/config.ts';
import { findObstacle } from '../../kernel/config/data-dir.ts';
import { isRotating, openSealer } from '../../kernel/config/encryption-keys.ts';
import { compareMigrations } from '../../kernel/db/migrations.ts';
import type { Store } from '../../kernel/db/open.ts';
import { countSealedWithOthers } from '../../kernel/db/resealing.ts';
import type { OrganizationRow } from '../../kernel/db/tables.ts';
import { OperatorError } from '../../kernel/errors.ts';
import { PlatformError, type PlatformPort, type PlatformTraits } from '../../kernel/platform/platform-port.ts';
import type { Transport } from '../../kernel/platform/transport.ts';
import { systemRuntime } from '../../kernel/runtime.ts';
import type { Sealer } from '../../kernel/sealing.ts';
import { createJournal } from '../../log/events/journal.ts';
import type { SyncState } from '../../pipelines/connections/job-watch.worker.ts';
import { countOpenSetUps } from '../../pipelines/set-up/set-ups.worker.ts';
import { createOperatorTokens, rotationAdvisedAfterDays } from '../../tenancy/tokens/operator-tokens.ts';
import { assertKeyOpens } from '../../tenancy/tokens/signing-keys.ts';
import { readBacklog } from '../../tenancy/workspaces/reconciler.worker.ts';
import { discoverIssuer } from '../console/oidc.ts';
import type { CredentialChannel } from '../credential-channel.ts';

export interface Finding {
  state: 'ok' | 'warn' | 'fail';
  what: string;
  advice?: string;
}

export const ok = (what: string): Finding => ({ state: 'ok', what });
export const warn = (what: string, advice: string): Finding => ({ state: 'warn', what, advice });
export const fail = (what: string, advice: string): Finding => ({ state: 'fail', what, advice });

const clockToleranceMs = 5_000;
const longWaitMinutes = 30;

export function examineConfig(config: Config, secrets: Secrets): Finding[] {
  const findings = [ok(`configuration: links and tokens say ${config.publicUrl}`)];
  for (const text of config.unknownNames) findings.push(warn('configuration', text));
  const { protocol, hostname } = new URL(config.publicUrl);
  if (!isLoopback(config.host) && hostname === 'localhost') {
    findings.push(
      warn('others can reach the service, but its links say localhost', 'Set INLAY_PUBLIC_URL to its real address.'),
    );
  } else if (protocol === 'http:' && !isLoopback(hostname)) {
    findings.push(
      warn('the public URL is not https', 'Put a proxy with TLS in front; tokens would travel in the clear.'),
      warn(
        'sign-in with a provider: refused, because browsers send neither its cookie nor fetch metadata over plain http',
        'Set INLAY_PUBLIC_URL to an https address.',
      ),
    );
  }
  if (secrets.databaseUrl !== undefined && secrets.encryptionKeys === undefined) {
    findings.push(
      warn(
        'the encryption key is in the data directory, the data it protects in PostgreSQL',
        'Set INLAY_ENCRYPTION_KEY, the same for every replica. Without the file the signing keys are lost.',
      ),
    );
  }
  return findings;
}

/** What connectors may connect to, and why. */
export function examineReach(config: Config): Finding {
  if (config.platformUrl !== undefined) {
    return ok('connectors: run on the hosted platform, which decides what they may reach');
  }
  const because = config.given.includes('INLAY_ALLOW_PRIVATE_NETWORKS')
    ? `because INLAY_ALLOW_PRIVATE_NETWORKS is ${config.allowPrivateNetworks}`
    : `because ${reachReason(config)}; INLAY_ALLOW_PRIVATE_NETWORKS changes that`;
  if (!config.allowPrivateNetworks) return ok(`connectors: may reach the public internet only, ${because}`);
  const what = `connectors: may reach private networks and other programs on this machine, but never the service itself, ${because}`;
  return isOnLoopback(config)
    ? ok(what)
    : warn(what, 'Customers decide where connectors connect to. Set it to false unless you trust every customer.');
}

function reachReason(config: Config): string {
  if (isOnLoopback(config)) return 'HOST and INLAY_PUBLIC_URL are on loopback';
  return isLoopback(config.host) ? 'INLAY_PUBLIC_URL is not on loopback' : 'HOST is not on loopback';
}

export async function examineConsole({ console: settings, publicUrl }: Config): Promise<Finding[]> {
  if (!settings) return [ok('console: off')];
  if (settings.isSecure === undefined) {
    return [warn('console: nobody can sign in over plain http', 'Set INLAY_PUBLIC_URL to an https address.')];
  }
  const findings = [ok(`console: ${publicUrl}/console`)];
  if (!settings.oidc) return findings;
  const { issuer } = settings.oidc;
  try {
    await discoverIssuer(issuer);
    findings.push(ok(`console: people sign in with ${issuer}, redirect address ${publicUrl}/console/oidc/callback`));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    findings.push(
      fail(
        `console: ${issuer} does not describe itself: ${reason}`,
        'Check INLAY_CONSOLE_OIDC_ISSUER, or sign in with a link.',
      ),
    );
  }
  return findings;
}

export function examineMetrics(config: Config, { metricsToken }: Secrets): Finding {
  const { host, port } = config.metrics;
  if (metricsToken !== undefined) return ok('metrics: for those who have INLAY_METRICS_TOKEN');
  const isPublic = port === undefined ? !isOnLoopback(config) : !isLoopback(host);
  const where = port === undefined ? 'the service' : `port ${port}`;
  return isPublic
    ? warn(
        `metrics: everybody who reaches ${where} can read /metrics`,
        'Set INLAY_METRICS_TOKEN, or INLAY_METRICS_PORT on an address that only you reach.',
      )
    : ok(`metrics: on ${where}, which only this machine reaches`);
}

export function examineDataDir({ dataDir }: Config): Finding[] {
  const obstacle = findObstacle(dataDir);
  if (obstacle !== undefined) {
    return [
      fail(
        `data directory: ${dataDir} cannot be used: ${obstacle}`,
        'Give the user that runs Inlay access to it, or set INLAY_DATA_DIR to another directory.',
      ),
    ];
  }
  if (!existsSync(dataDir)) return [ok(`data directory: ${dataDir} will be made on the first start`)];
  const readableByOthers = (statSync(dataDir).mode & 0o077) !== 0;
  return readableByOthers
    ? [warn(`data directory: ${dataDir} can be read by others`, `Run: chmod 700 ${dataDir}`)]
    : [ok(`data directory: ${dataDir}`)];
}

/** Whether the encryption key opens everything that is stored. Looks at every secret, unlike a start. */
export async function examineEncryptionKey(config: Config, secrets: Secrets, store: Store): Promise<Finding[]> {
  const sealer = readSealer(config, secrets);
  try {
    await assertKeyOpens(store.db, sealer);
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    const advice = 'Until then the service does not start, and commands that write refuse.';
    return [fail(`encryption key: ${error.message}`, advice)];
  }
  const lost = await countSealedWithOthers(store.db, sealer.keyIds());
  if (lost > 0) {
    const what = `encryption key: ${lost} stored secrets were sealed with another key`;
    return [
      fail(what, 'Add the older key behind the present one: a comma in INLAY_ENCRYPTION_KEY, a line in the file.'),
    ];
  }
  return [
    isRotating(secrets, filesIn(config))
      ? warn('encryption key: a rotation has not ended', 'Run: inlay encryption-key rotate')
      : ok('encryption key: opens every stored secret'),
  ];
}

/** The same of the bundled platform, whose file may be all that a machine has. */
export function examinePlatformKey(config: Config, secrets: Secrets): Finding[] {
  const file = join(config.dataDir, 'platform.db');
  if (!existsSync(file)) return [];
  let database: SqliteConnection | undefined;
  try {
    const keyIds = readSealer(config, secrets).keyIds();
    database = new SqliteConnection(file, { readOnly: true });
    // A sealed configuration is a JSON string.
    const [row] = database
      .prepare(
        `select count(*) as count from connectors where configuration like '"%'
         and substr(configuration, 5, 8) not in (${keyIds.map((id) => `'${id}'`).join(', ')})`,
      )
      .all() as { count: number }[];
    const lost = Number(row?.count);
    if (lost === 0) return [];
    const what = `encryption key: ${lost} configurations of the platform were sealed with another key`;
    return [fail(what, 'Set INLAY_ENCRYPTION_KEY, or restore encryption.key, as the platform was last used.')];
  } catch (error) {
    return [fail(`platform: ${file} cannot be used (${(error as Error).message})`, 'Check the file and the disk.')];
  } finally {
    database?.close();
  }
}

const filesIn = ({ dataDir }: Config) => ({ path: (name: string) => join(dataDir, name) });

/** Makes no key. */
function readSealer(config: Config, secrets: Secrets): Sealer {
  const { path } = filesIn(config);
  return openSealer(secrets, { path, readOrCreate: (name) => readFileSync(path(name), 'utf8') });
}

/** Of a database that is open: whether its tables are those of this version. */
export async function examineMigrations(store: Store): Promise<Finding> {
  const kind = databaseNames[store.kind];
  const { pending, unknown } = await compareMigrations(store.db);
  if (unknown.length > 0) {
    return fail(`database: ${kind}, migrated by a newer version of Inlay`, 'Start that version or a later one.');
  }
  return pending.length > 0
    ? warn(`database: ${kind}, not up to date`, 'Run: inlay migrate (start does it, too)')
    : ok(`database: ${kind}, up to date`);
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
              `OAuth client ${name}: its secret ends on ${until}`,
              'Make a new one with the provider, and rotate it.',
            )
          : ok(`OAuth client ${name}: register ${redirectUrl} with its provider`),
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
  if (Math.abs(differenceMs) <= clockToleranceMs) return ok(`clock: agrees with ${whose}`);
  return warn(
    `clock: ${seconds} s ${differenceMs > 0 ? 'behind' : 'ahead of'} ${whose}`,
    'Let NTP set the clocks: tokens carry times.',
  );
}

const journal = createJournal({ runtime: systemRuntime, cause: byCommandLine });

async function examineTenants(store: Store, organizations: readonly OrganizationRow[]): Promise<Finding[]> {
  if (organizations.length === 0) return [ok('organizations: the first is made on the first start')];
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
    const what = `organization ${name} (${id})`;
    if (usable.length === 0) {
      findings.push(
        warn(
          `${what}: no operator token works`,
          `Run: inlay operator-token create --name <what for> --organization ${id}`,
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
    } else findings.push(ok(`${what}: ${usable.length} operator token${usable.length === 1 ? '' : 's'}`));
  }
  return findings;
}

export async function examineBacklog(store: Store): Promise<Finding> {
  const { claims, operations } = await readBacklog(store);
  const ofWorkspaces = claims + Object.values(operations).reduce<number>((sum, count) => sum + (count ?? 0), 0);
  const open = ofWorkspaces + (await countOpenSetUps(store));
  return open === 0
    ? ok('platform work: nothing is left to do')
    : warn(`platform work: ${open} open`, 'A running service finishes it by itself once the platform answers.');
}

/** Connections that do not bring their data, and syncs that wait too long for their turn. */
export function describeSyncs({ byHealth, waiting, oldestWaitingMs }: Omit<SyncState, 'running'>): Finding[] {
  const count = (health: HealthState) => byHealth[health] ?? 0;
  const all = Object.values(byHealth).reduce<number>((sum, each) => sum + (each ?? 0), 0);
  const [failing, attention] = [count('failing'), count('needs_attention')];
  const findings: Finding[] =
    failing + attention === 0
      ? [ok(`syncs: none of ${all} connections fails`)]
      : [
          warn(
            `syncs: of ${all} connections ${failing} fail and ${attention} need somebody to do something`,
            'The log has a line for each attempt that failed, with the reason.',
          ),
        ];
  const minutes = Math.floor((oldestWaitingMs ?? 0) / 60_000);
  if (minutes >= longWaitMinutes) {
    findings.push(
      warn(
        `syncs: ${waiting} wait for their turn, the first for ${minutes} minutes`,
        'Is a service running that runs them? If so, raise INLAY_MAX_CONCURRENT_SYNCS, or spread the schedules.',
      ),
    );
  }
  return findings;
}

const waysToFindNames: Record<PlatformTraits['findsNamesBy'], string> = {
  'name filter': 'platform: finds a workspace by its name (it has a name filter)',
  'internal listing': 'platform: finds a workspace by its name (it offers its internal listing)',
  'reading all': 'platform: has no name filter; a new name is looked for by reading all workspaces',
  'not known yet': 'platform: has no workspaces yet, so whether it has a name filter does not show',
};

function describeTraits({ organizations, tellsApart, findsNamesBy }: PlatformTraits): Finding[] {
  const seen = `platform: the credentials see ${organizations.length} organization${organizations.length === 1 ? '' : 's'}`;
  return [
    ok(waysToFindNames[findsNamesBy]),
    tellsApart
      ? ok(seen)
      : fail(
          `${seen}, and the platform does not say which of them a workspace belongs to`,
          'Set INLAY_PLATFORM_CLIENT_ID and INLAY_PLATFORM_CLIENT_SECRET to an application of a user who is in one only.',
        ),
  ];
}

/** Who refreshes the tokens of customers, and whether an Inlay platform gets them from here. Asked from the platform's side. */
async function examineTokenOwner(platform: PlatformPort, areUsed: boolean): Promise<Finding> {
  const outage = await platform.testCredentials();
  if (outage !== undefined) {
    const what = `sign-in with a provider: the platform gets no access tokens. ${outage}`;
    return areUsed
      ? fail(what, 'Until then, syncs of sources whose customers signed in wait.')
      : warn(what, 'Nobody has signed in yet, so no sync waits.');
  }
  return (await platform.resolvesCredentials())
    ? ok('sign-in with a provider: the platform reaches this service, and gets access tokens from it')
    : ok('sign-in with a provider: the hosted platform gets the tokens once, and refreshes them itself');
}

/** For the environment of a platform that runs alone: the way from it to the service. */
export async function examineServiceUrl({ serviceUrl }: Config, channel: CredentialChannel): Promise<Finding> {
  const outage = await channel.test();
  return outage === undefined
    ? ok(`service: ${serviceUrl} answers, and gives the platform access tokens`)
    : fail(`service: ${outage}`, 'Until then, syncs of sources whose customers signed in wait.');
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
    const findings = [ok(`platform: ${config.platformUrl} answers and takes the credentials`)];
    const wanted = config.platformOrganizationId ?? config.organizationId;
    if (wanted !== undefined && organizations.length > 0 && !organizations.includes(wanted)) {
      findings.push(
        warn(
          `platform: the credentials cannot see the organization ${wanted}`,
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
    const what = `platform: ${config.platformUrl}: ${error.message}`;
    return error.failure === 'unauthorised'
      ? [fail(what, 'Check INLAY_PLATFORM_CLIENT_ID and INLAY_PLATFORM_CLIENT_SECRET.')]
      : [fail(what, 'Check INLAY_PLATFORM_URL (it ends in /v1) and the network.')];
  }
}
