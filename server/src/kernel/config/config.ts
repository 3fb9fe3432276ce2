/**
 * The environment, read once. What may be shown (`Config`) and what may not (`Secrets`) are separate types, so that a
 * secret cannot slip into a log with the rest. All faults are reported at once, and the service refuses to start on
 * any.
 */
import { BlockList, isIP } from 'node:net';
import { resolve } from 'node:path';
import { OperatorError } from '../errors.ts';
import type { TelemetrySettings } from '../telemetry/otlp-tracer.ts';
import { version } from '../version.ts';
import { type OidcSettings, readOidcRules } from './oidc-settings.ts';
import { isWeak, readValues, type Values } from './readers.ts';
import { withSecretFiles } from './secret-files.ts';
import { findStrangeNames, isInjected } from './variable-names.ts';
import { type Variable, variables } from './variables.ts';

export interface Config {
  /** The variables that are set. All others have their defaults. */
  given: readonly Variable[];
  /** What to warn of: names that begin like ours and mean nothing. */
  unknownNames: readonly string[];
  host: string;
  port: number;
  /** Without a slash at the end. */
  publicUrl: string;
  dataDir: string;
  vendor: string;
  organizationId: string | undefined;
  scopedTokenTtlSeconds: number | undefined;
  /** Undefined: the bundled platform. */
  platformUrl: string | undefined;
  /** Where a platform that runs alone asks for the tokens of customers who signed in. */
  serviceUrl: string | undefined;
  platformOrganizationId: string | undefined;
  /** For a process that is a worker. */
  worker: {
    /** The base of the platform's API. */
    url: string | undefined;
    slots: number;
    commands: Record<string, [string, ...string[]]>;
    images: string[];
  };
  /** URL or file of the registry that describes a hosted platform's connectors. Undefined: see definitions/open.ts. */
  connectorRegistry: string | undefined;
  settleMs: number;
  rateLimits: { scopedPerMinute: number; operatorPerMinute: number; workspacePerMinute: number };
  trustedProxies: string[];
  maxConnectionsPerAddress: number;
  /** Without a separate port, metrics are on the port of the service. */
  metrics: { host: string; port: number | undefined };
  allowPrivateNetworks: boolean;
  webhooks: {
    allowPrivateNetworks: boolean;
    /** How long a receiver may take to answer. */
    timeoutMs: number;
    /** How long deliveries that have ended are kept. */
    historyMs: number;
    /** Whether customers may have endpoints of their own. */
    customersMay: boolean;
  };
  /** Undefined: there is no console. */
  console: ConsoleSettings | undefined;
  /** Folders that connectors may read files from. */
  readableDirs: string[];
  maxConcurrentSyncs: number;
  maxConcurrentSyncsPerWorkspace: number;
  maxConcurrentChecks: number;
  maxConcurrentChecksPerWorkspace: number;
  /** How many checks and how many syncs of one workspace may wait before more are refused. */
  maxWaitingPerWorkspace: number;
  checkTimeoutMs: number;
  /** The limit for one attempt. */
  syncTimeoutMs: number;
  /** The limit for all attempts of a job together. */
  jobTimeoutMs: number;
  /** How long a sync keeps its slot while every slot is taken and a workspace without any waits. */
  syncTurnMs: number;
  /** How long jobs are kept after their end. */
  jobHistoryMs: number;
  /** How long the service's own store keeps the log of a job after its end; 0: not at all. */
  jobLogMs: number;
  /** How long events can be read, and how long the audit trail keeps entries. */
  eventsMs: number;
  auditMs: number;
  backup: {
    /** An absolute path, or a URL such as s3://bucket/prefix. */
    to: string | undefined;
    /** A Quartz cron expression. Undefined: only by hand. */
    schedule: string | undefined;
    keep: number;
  };
  /** What one run of a connector of the bundled platform may use of this machine. */
  connectorLimits: { memoryBytes: number; openFiles: number };
  logLevel: string;
  /** Undefined: no spans are sent anywhere. */
  telemetry: TelemetrySettings | undefined;
}

export interface ConsoleSettings {
  /** Whether its cookie is for https only. Undefined: the public URL is plain http, and not on this machine. */
  isSecure: boolean | undefined;
  /** Undefined: nobody signs in with a provider. */
  oidc: OidcSettings | undefined;
  /** Page of a customer in the operator's own system, with `{id}` or `{name}`. */
  customerUrl: string | undefined;
}

export interface Secrets {
  /** Undefined: a public client. */
  consoleOidcSecret: string | undefined;
  databaseUrl: string | undefined;
  /** Of the bundled platform. */
  platformDatabaseUrl: string | undefined;
  operatorToken: string | undefined;
  platformClientId: string | undefined;
  platformClientSecret: string | undefined;
  workerToken: string | undefined;
  /** Undefined: everybody may read the metrics. */
  metricsToken: string | undefined;
  /** The first key seals; each key can open. */
  encryptionKeys: Buffer[] | undefined;
  /** Headers for the collector of OpenTelemetry, credentials for instance. */
  telemetryHeaders: Record<string, string>;
  /** Seals the encryption keys in backups. */
  backupPassphrase: string | undefined;
  /** For backups in S3. */
  aws: AwsSettings;
}

export interface AwsSettings {
  accessKeyId: string | undefined;
  secretAccessKey: string | undefined;
  sessionToken: string | undefined;
  region: string | undefined;
  endpointUrl: string | undefined;
}

export class ConfigError extends OperatorError {
  constructor(readonly faults: string[]) {
    super(
      `Invalid configuration${faults.length === 1 ? '' : ` (${faults.length} problems)`}:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`,
    );
    this.name = 'ConfigError';
  }
}

const dayMs = 86_400_000;

/**
 * `runs`: which program reads the configuration. A platform that runs alone checks callers by the secret of this
 * environment.
 */
export function readConfig(
  environment: Record<string, string | undefined>,
  { runs = 'service' }: { runs?: 'service' | 'platform' | 'worker' } = {},
): { config: Config; secrets: Secrets } {
  const { misspelled, unknown: unknownNames } = findStrangeNames(environment);
  const faults = misspelled.map(({ name, meant }) => `Unknown variable ${name}. Did you mean ${meant}?`);
  const env = withSecretFiles(environment, faults);
  // An empty variable counts as unset, because many deployments unset a variable in this way.
  const textOf = (name: Variable): string | undefined =>
    isInjected(name, env[name]) ? undefined : env[name] || undefined;
  const values = readValues(textOf, faults);
  const isSet = (name: Variable) => textOf(name) !== undefined;
  faults.push(...faultsTogether(values, isSet, runs));

  const port = values.PORT ?? 8080;
  const host = values.HOST ?? '127.0.0.1';
  const publicUrl = values.INLAY_PUBLIC_URL ?? `http://localhost:${port}`;
  const platformUrl = values.INLAY_PLATFORM_URL;
  const isBundled = platformUrl === undefined;
  const allowPrivateNetworks = values.INLAY_ALLOW_PRIVATE_NETWORKS ?? (isBundled && isOnLoopback({ host, publicUrl }));
  const scopedPerMinute = values.INLAY_RATE_LIMIT_PER_MINUTE ?? 1200;
  const syncTimeoutMs = values.INLAY_SYNC_TIMEOUT_SECONDS ?? dayMs;
  const config: Config = {
    given: (Object.keys(variables) as Variable[]).filter(isSet),
    unknownNames,
    host,
    port,
    publicUrl,
    dataDir: resolve(values.INLAY_DATA_DIR ?? './data'),
    vendor: values.INLAY_VENDOR ?? 'inlay',
    organizationId: values.INLAY_ORGANIZATION_ID,
    scopedTokenTtlSeconds: values.INLAY_SCOPED_TOKEN_TTL_SECONDS,
    platformUrl,
    serviceUrl: values.INLAY_SERVICE_URL,
    platformOrganizationId: values.INLAY_PLATFORM_ORGANIZATION_ID,
    worker: {
      url: apiOf(values.INLAY_WORKER_URL),
      slots: values.INLAY_WORKER_SLOTS ?? Math.max(1, values.INLAY_MAX_CONCURRENT_SYNCS ?? 4),
      commands: values.INLAY_WORKER_COMMANDS ?? {},
      images: values.INLAY_WORKER_IMAGES ?? [],
    },
    connectorRegistry: values.INLAY_CONNECTOR_REGISTRY,
    settleMs: values.INLAY_PLATFORM_SETTLE_SECONDS ?? (isBundled ? 0 : 30_000),
    rateLimits: {
      scopedPerMinute,
      workspacePerMinute: values.INLAY_WORKSPACE_RATE_LIMIT_PER_MINUTE ?? 5 * scopedPerMinute,
      operatorPerMinute: values.INLAY_OPERATOR_RATE_LIMIT_PER_MINUTE ?? 0,
    },
    trustedProxies: values.INLAY_TRUSTED_PROXIES ?? [],
    maxConnectionsPerAddress: values.INLAY_MAX_CONNECTIONS_PER_ADDRESS ?? 1_000,
    metrics: { host: values.INLAY_METRICS_HOST ?? '127.0.0.1', port: values.INLAY_METRICS_PORT },
    allowPrivateNetworks,
    webhooks: {
      allowPrivateNetworks: values.INLAY_WEBHOOK_ALLOW_PRIVATE_NETWORKS ?? allowPrivateNetworks,
      timeoutMs: values.INLAY_WEBHOOK_TIMEOUT_SECONDS ?? 15_000,
      historyMs: values.INLAY_WEBHOOK_HISTORY_DAYS ?? 14 * dayMs,
      customersMay: values.INLAY_CUSTOMER_WEBHOOKS ?? false,
    },
    console:
      values.INLAY_CONSOLE === false
        ? undefined
        : {
            isSecure: isSecure(publicUrl),
            oidc: readOidc(values, textOf('INLAY_CONSOLE_OIDC_ISSUER'), faults),
            customerUrl: values.INLAY_CONSOLE_CUSTOMER_URL,
          },
    readableDirs: values.INLAY_READABLE_DIRS ?? [],
    maxConcurrentSyncs: values.INLAY_MAX_CONCURRENT_SYNCS ?? 4,
    maxConcurrentSyncsPerWorkspace: values.INLAY_MAX_CONCURRENT_SYNCS_PER_WORKSPACE ?? 2,
    maxConcurrentChecks: values.INLAY_MAX_CONCURRENT_CHECKS ?? 4,
    maxConcurrentChecksPerWorkspace: values.INLAY_MAX_CONCURRENT_CHECKS_PER_WORKSPACE ?? 2,
    maxWaitingPerWorkspace: values.INLAY_MAX_WAITING_PER_WORKSPACE ?? 50,
    checkTimeoutMs: values.INLAY_CHECK_TIMEOUT_SECONDS ?? 60_000,
    syncTimeoutMs,
    jobTimeoutMs: values.INLAY_JOB_TIMEOUT_SECONDS ?? Math.max(dayMs, syncTimeoutMs),
    syncTurnMs: values.INLAY_SYNC_TURN_SECONDS ?? 600_000,
    jobHistoryMs: values.INLAY_JOB_HISTORY_DAYS ?? 90 * dayMs,
    jobLogMs: values.INLAY_JOB_LOG_DAYS ?? (isSet('INLAY_DATABASE_URL') ? 30 * dayMs : 0),
    eventsMs: values.INLAY_EVENT_DAYS ?? 90 * dayMs,
    auditMs: values.INLAY_AUDIT_DAYS ?? 365 * dayMs,
    backup: {
      to: values.INLAY_BACKUP_TO,
      schedule: values.INLAY_BACKUP_SCHEDULE,
      keep: values.INLAY_BACKUP_KEEP ?? 7,
    },
    connectorLimits: {
      memoryBytes: values.INLAY_CONNECTOR_MEMORY_MB ?? 1024 ** 3,
      openFiles: values.INLAY_CONNECTOR_OPEN_FILES ?? 1024,
    },
    logLevel: values.LOG_LEVEL ?? 'info',
    telemetry: telemetryOf(values),
  };
  if (faults.length > 0) throw new ConfigError(faults);
  return {
    config,
    secrets: {
      databaseUrl: values.INLAY_DATABASE_URL,
      platformDatabaseUrl: values.INLAY_PLATFORM_DATABASE_URL,
      operatorToken: values.INLAY_OPERATOR_TOKEN,
      platformClientId: values.INLAY_PLATFORM_CLIENT_ID,
      platformClientSecret: values.INLAY_PLATFORM_CLIENT_SECRET,
      workerToken: values.INLAY_WORKER_TOKEN,
      metricsToken: values.INLAY_METRICS_TOKEN,
      encryptionKeys: values.INLAY_ENCRYPTION_KEY,
      telemetryHeaders: values.OTEL_EXPORTER_OTLP_HEADERS ?? {},
      consoleOidcSecret: values.INLAY_CONSOLE_OIDC_CLIENT_SECRET,
      backupPassphrase: values.INLAY_BACKUP_PASSPHRASE,
      aws: {
        accessKeyId: values.AWS_ACCESS_KEY_ID,
        secretAccessKey: values.AWS_SECRET_ACCESS_KEY,
        sessionToken: values.AWS_SESSION_TOKEN,
        region: values.AWS_REGION,
        endpointUrl: values.AWS_ENDPOINT_URL,
      },
    },
  };
}

/** Faults between variables that are valid on their own. */
function* faultsTogether(
  values: Values,
  isSet: (name: Variable) => boolean,
  runs: 'service' | 'platform' | 'worker',
): Generator<string> {
  if (values.INLAY_METRICS_PORT !== undefined && values.INLAY_METRICS_PORT === (values.PORT ?? 8080)) {
    yield 'INLAY_METRICS_PORT must be different from PORT.';
  }
  // The secret of a hosted platform is made there, so its strength is not checked here.
  const guardsBundledPlatform = runs === 'platform' || !isSet('INLAY_PLATFORM_URL');
  const secret = values.INLAY_PLATFORM_CLIENT_SECRET;
  if (guardsBundledPlatform && secret !== undefined && isWeak(secret)) {
    yield 'INLAY_PLATFORM_CLIENT_SECRET protects the bundled platform and must have at least 32 characters, at least 8 of them different. Generate one with: openssl rand -base64 32';
  }
  const areSet = [isSet('INLAY_PLATFORM_CLIENT_ID'), isSet('INLAY_PLATFORM_CLIENT_SECRET')];
  if (areSet.includes(false) && isSet('INLAY_PLATFORM_URL')) {
    yield 'INLAY_PLATFORM_URL requires INLAY_PLATFORM_CLIENT_ID and INLAY_PLATFORM_CLIENT_SECRET.';
  } else if (areSet.includes(false) && areSet.includes(true)) {
    yield 'Set both INLAY_PLATFORM_CLIENT_ID and INLAY_PLATFORM_CLIENT_SECRET, or neither.';
  }
  if (runs === 'service' && isSet('INLAY_PLATFORM_URL') && isSet('INLAY_PLATFORM_DATABASE_URL')) {
    yield 'INLAY_PLATFORM_DATABASE_URL belongs to the bundled platform, which INLAY_PLATFORM_URL replaces. Unset one of them.';
  }
  const workerUrl = values.INLAY_WORKER_URL;
  if (runs === 'worker' && !isSet('INLAY_WORKER_URL')) {
    yield 'INLAY_WORKER_URL must be set to the URL of the service, such as https://inlay.example.com.';
  }
  if (workerUrl !== undefined && isSecure(workerUrl) === undefined) {
    yield 'INLAY_WORKER_URL must be an https URL: secrets travel over it. Plain http works only on this machine.';
  }
  if (isSet('INLAY_BACKUP_SCHEDULE')) {
    if (!isSet('INLAY_BACKUP_TO')) yield 'INLAY_BACKUP_SCHEDULE requires INLAY_BACKUP_TO.';
    if (isSet('INLAY_BACKUP_PASSPHRASE') === isSet('INLAY_ENCRYPTION_KEY')) {
      yield 'INLAY_BACKUP_SCHEDULE requires either INLAY_BACKUP_PASSPHRASE, which seals the key of the data directory, or INLAY_ENCRYPTION_KEY, which backups do not contain.';
    }
  }
  const customerUrl = values.INLAY_CONSOLE_CUSTOMER_URL;
  if (customerUrl !== undefined && !isPageOfCustomers(customerUrl)) {
    yield 'INLAY_CONSOLE_CUSTOMER_URL must be an https URL with {id} or {name} after the host, such as https://admin.example.com/customers/{name}.';
  }
}

/** `issuer` as it was given: providers compare it to the letter. */
function readOidc(values: Values, issuer: string | undefined, faults: string[]): OidcSettings | undefined {
  const issuerUrl = values.INLAY_CONSOLE_OIDC_ISSUER;
  if (issuer === undefined || issuerUrl === undefined) return undefined;
  if (isSecure(issuerUrl) === undefined) {
    faults.push('INLAY_CONSOLE_OIDC_ISSUER must be an https URL, or an http URL on this machine.');
  }
  const clientId = values.INLAY_CONSOLE_OIDC_CLIENT_ID;
  const rules = readOidcRules(values.INLAY_CONSOLE_OIDC_RULES ?? '');
  if (clientId === undefined) faults.push('INLAY_CONSOLE_OIDC_ISSUER requires INLAY_CONSOLE_OIDC_CLIENT_ID.');
  if (rules === undefined) {
    faults.push(
      'INLAY_CONSOLE_OIDC_RULES must be a JSON list such as [{"claim": "groups", "value": "admins", "permission": "full"}].',
    );
  }
  const scopes = values.INLAY_CONSOLE_OIDC_SCOPES ?? 'openid email profile';
  if (!scopes.split(' ').includes('openid')) faults.push('INLAY_CONSOLE_OIDC_SCOPES must include openid.');
  return { issuer, clientId: clientId ?? '', scopes, rules: rules ?? [] };
}

function telemetryOf(values: Values): TelemetrySettings | undefined {
  const endpoint = values.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined) return undefined;
  const resource = values.OTEL_RESOURCE_ATTRIBUTES ?? {};
  return {
    endpoint,
    timeoutMs: values.OTEL_EXPORTER_OTLP_TIMEOUT ?? 10_000,
    resource: {
      'service.version': version,
      ...resource,
      'service.name': values.OTEL_SERVICE_NAME ?? resource['service.name'] ?? 'inlay',
    },
    sampler: {
      name: values.OTEL_TRACES_SAMPLER ?? 'parentbased_always_on',
      ratio: values.OTEL_TRACES_SAMPLER_ARG ?? 1,
    },
  };
}

/** A customer's name must not decide whose page it is. */
function isPageOfCustomers(template: string): boolean {
  const [some, other] = ['a', 'b'].map((value) => {
    const filled = template.replaceAll(/\{(id|name)\}/g, value);
    return URL.canParse(filled) ? new URL(filled) : undefined;
  });
  if (!some || !other || some.href === other.href || some.origin !== other.origin) return false;
  return isSecure(some.href) !== undefined && /^https?:$/.test(some.protocol) && !some.username && !some.password;
}

/** The base of the platform's API; a URL without a path is that of the service or the platform. */
function apiOf(url: string | undefined): string | undefined {
  return url !== undefined && new URL(url).pathname === '/' ? `${url}/platform/v1` : url;
}

/** Addresses of this process: its own, and the public address of a proxy in front of it. */
export function serviceEndpoints(config: Config): { host: string; port: number }[] {
  const { host, port, publicUrl, serviceUrl, metrics } = config;
  return [
    { host, port },
    ...[publicUrl, ...(serviceUrl === undefined ? [] : [serviceUrl])].map((address) => {
      const { hostname, protocol, port: given } = new URL(address);
      return { host: hostname, port: Number(given) || (protocol === 'https:' ? 443 : 80) };
    }),
    ...(metrics.port === undefined ? [] : [{ host: metrics.host, port: metrics.port }]),
  ];
}

/** Whether a public URL is secure. Undefined: plain http to another machine. */
function isSecure(publicUrl: string): boolean | undefined {
  const { protocol, hostname } = new URL(publicUrl);
  if (protocol === 'https:') return true;
  return isLoopback(hostname) ? false : undefined;
}

/** Whether only this machine can reach the service: a proxy on loopback may let others in. */
export function isOnLoopback({ host, publicUrl }: Pick<Config, 'host' | 'publicUrl'>): boolean {
  return isLoopback(host) && isLoopback(new URL(publicUrl).hostname);
}

/** Takes a host as HOST or a URL has it: a name, an address, or an IPv6 address in brackets. */
export function isLoopback(host: string): boolean {
  if (/^(.+\.)?localhost$/i.test(host)) return true;
  const loopback = new BlockList();
  loopback.addSubnet('127.0.0.0', 8, 'ipv4');
  loopback.addAddress('::1', 'ipv6');
  const address = host.replace(/^\[(.*)\]$/, '$1');
  const version = isIP(address);
  return version !== 0 && loopback.check(address, version === 4 ? 'ipv4' : 'ipv6');
}
