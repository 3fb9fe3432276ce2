/**
 * The environment, read once. What may be shown (`Config`) and what may not (`Secrets`) are separate types, so that a
 * secret cannot slip into a log with the rest. All faults are reported at once, and the service refuses to start on
 * any.
 */
import { BlockList, isIP } from 'node:net';
import { isAbsolute, resolve } from 'node:path';
import { serialiseOrigin } from '@inlay/contract/origins';
import { type OidcSettings, readOidcRules } from './console/oidc-settings.ts';
import { OperatorError } from './errors.ts';
import type { TelemetrySettings } from './telemetry/otlp-tracer.ts';
import { samplerNames } from './telemetry/sampler.ts';
import { isPlausible } from './tokens/operator-secrets.ts';
import { type Variable, variables } from './variables.ts';
import { version } from './version.ts';

export interface Config {
  /** The variables that are set. All others have their defaults. */
  given: readonly Variable[];
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
  platformOrganizationId: string | undefined;
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
  /** How long jobs are kept after their end. */
  jobHistoryMs: number;
  /** How long the service's own store keeps the log of a job after its end; 0: not at all. */
  jobLogMs: number;
  /** How long events can be read, and how long the audit trail keeps entries. */
  eventsMs: number;
  auditMs: number;
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
  operatorToken: string | undefined;
  platformClientId: string | undefined;
  platformClientSecret: string | undefined;
  /** Undefined: everybody may read the metrics. */
  metricsToken: string | undefined;
  /** The first key seals; each key can open. */
  encryptionKeys: Buffer[] | undefined;
  /** Headers for the collector of OpenTelemetry, credentials for instance. */
  telemetryHeaders: Record<string, string>;
}

export class ConfigError extends OperatorError {
  constructor(readonly faults: string[]) {
    super(
      `The configuration has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`,
    );
    this.name = 'ConfigError';
  }
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const placeholder = /change[-_ ]?me|replace[-_ ]?me|^your[-_ ]|^<.*>$/i;

/**
 * `runs`: which program reads the configuration. A platform that runs alone checks callers by the secret of this
 * environment.
 */
export function readConfig(
  env: Record<string, string | undefined>,
  { runs = 'service' }: { runs?: 'service' | 'platform' } = {},
): { config: Config; secrets: Secrets } {
  const faults: string[] = [];
  // An empty variable counts as unset, because many deployments unset a variable in this way.
  const text = (name: Variable): string | undefined => env[name] || undefined;

  function integer(name: Variable, min: number, max: number): number | undefined {
    const given = text(name);
    if (given === undefined) return undefined;
    const value = Number(given);
    if (/^\d+$/.test(given) && value >= min && value <= max) return value;
    faults.push(`${name} must be a whole number from ${min} to ${max}, not "${given}".`);
    return undefined;
  }

  const list = (name: Variable): string[] =>
    (text(name) ?? '')
      .split(',')
      .map((item) => item.trim())
      .filter(Boolean);

  function id(name: Variable): string | undefined {
    const given = text(name);
    if (given === undefined || uuid.test(given)) return given?.toLowerCase();
    faults.push(`${name} must be a UUID, as in 7f0a3c52-12ab-4f39-8a53-6f5e0f7d9b20.`);
    return undefined;
  }

  function httpUrl(name: Variable): string | undefined {
    const given = text(name);
    if (given === undefined) return undefined;
    const url = URL.canParse(given) ? new URL(given) : undefined;
    const clean = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
    if (url && clean) return url.href.replace(/\/+$/, '');
    faults.push(`${name} must be an http or https URL without user name, query and fragment.`);
    return undefined;
  }

  function secret(name: Variable): string | undefined {
    const given = text(name);
    if (given === undefined || !placeholder.test(given)) return given;
    faults.push(`${name} still holds a placeholder. Set it to a secret of your own.`);
    return undefined;
  }

  const port = integer('PORT', 1, 65_535) ?? 8080;
  const host = text('HOST') ?? '127.0.0.1';
  const publicUrl = httpUrl('INLAY_PUBLIC_URL') ?? `http://localhost:${port}`;
  if (serialiseOrigin(new URL(publicUrl).origin) === undefined) {
    faults.push('INLAY_PUBLIC_URL must name a host that browsers accept, in lower case.');
  }

  const databaseUrl = text('INLAY_DATABASE_URL');
  if (databaseUrl !== undefined && !(/^postgres(ql)?:\/\//.test(databaseUrl) && URL.canParse(databaseUrl))) {
    faults.push('INLAY_DATABASE_URL must be a postgres:// URL. Leave it unset to use SQLite in INLAY_DATA_DIR.');
  }

  const operatorToken = secret('INLAY_OPERATOR_TOKEN');
  if (operatorToken !== undefined) {
    if (!/^[\x21-\x7e]+$/.test(operatorToken) || isWeak(operatorToken)) {
      faults.push(
        'INLAY_OPERATOR_TOKEN must have 32 or more visible ASCII characters, 8 or more of them different. Leave it unset to have one generated.',
      );
    } else if (operatorToken.length > 512) {
      faults.push('INLAY_OPERATOR_TOKEN must have at most 512 characters.');
    } else if (!isPlausible(operatorToken)) {
      faults.push('INLAY_OPERATOR_TOKEN begins with inlay_op_ but its checksum is wrong: it was mistyped or cut off.');
    }
  }

  const metricsToken = secret('INLAY_METRICS_TOKEN');
  if (metricsToken !== undefined && (!/^[\x21-\x7e]+$/.test(metricsToken) || isWeak(metricsToken))) {
    faults.push(
      'INLAY_METRICS_TOKEN must have 32 or more visible ASCII characters, 8 or more of them different. Make one with: openssl rand -base64 32',
    );
  }
  const metricsPort = integer('INLAY_METRICS_PORT', 1, 65_535);
  if (metricsPort === port) faults.push('INLAY_METRICS_PORT must be another port than PORT.');

  const vendor = text('INLAY_VENDOR') ?? 'inlay';
  if (!/^[a-z0-9][a-z0-9_-]{0,62}$/.test(vendor)) {
    faults.push('INLAY_VENDOR must be one lower-case word of letters, digits, - and _.');
  }

  const platformUrl = httpUrl('INLAY_PLATFORM_URL');
  const platformClientId = text('INLAY_PLATFORM_CLIENT_ID');
  const platformClientSecret = secret('INLAY_PLATFORM_CLIENT_SECRET');
  // The secret of a hosted platform is made there, so its strength is not checked here.
  const guardsBundledPlatform = runs === 'platform' || text('INLAY_PLATFORM_URL') === undefined;
  if (guardsBundledPlatform && platformClientSecret !== undefined && isWeak(platformClientSecret)) {
    faults.push(
      'INLAY_PLATFORM_CLIENT_SECRET must have 32 or more characters, 8 or more of them different, because it guards the bundled platform. Make one with: openssl rand -base64 32',
    );
  }
  const credentials = [text('INLAY_PLATFORM_CLIENT_ID'), text('INLAY_PLATFORM_CLIENT_SECRET')].filter(Boolean).length;
  if (credentials < 2 && text('INLAY_PLATFORM_URL') !== undefined) {
    faults.push('INLAY_PLATFORM_URL needs INLAY_PLATFORM_CLIENT_ID and INLAY_PLATFORM_CLIENT_SECRET as well.');
  } else if (credentials === 1) {
    faults.push('INLAY_PLATFORM_CLIENT_ID and INLAY_PLATFORM_CLIENT_SECRET go together. Set both or neither.');
  }

  const connectorRegistry = readLocation(text('INLAY_CONNECTOR_REGISTRY'), faults);
  const encryptionKeys = secret('INLAY_ENCRYPTION_KEY')
    ?.split(',')
    .map((key) => readEncryptionKey(key.trim(), faults));

  const trustedProxies = list('INLAY_TRUSTED_PROXIES');
  for (const address of trustedProxies) {
    if (!isAddressOrNetwork(address)) {
      faults.push(
        `INLAY_TRUSTED_PROXIES must list IP addresses or networks, as in 10.0.0.0/8; "${address}" is neither.`,
      );
    }
  }

  function boolean(name: Variable): boolean | undefined {
    const given = text(name);
    if (given === undefined || given === 'true' || given === 'false')
      return given === undefined ? undefined : given === 'true';
    faults.push(`${name} must be true or false.`);
    return undefined;
  }

  const allowPrivateNetworks =
    boolean('INLAY_ALLOW_PRIVATE_NETWORKS') ?? (platformUrl === undefined && isOnLoopback({ host, publicUrl }));

  const consoleSwitch = text('INLAY_CONSOLE') ?? 'on';
  if (consoleSwitch !== 'on' && consoleSwitch !== 'off') faults.push('INLAY_CONSOLE must be on or off.');
  const consoleOidcSecret = secret('INLAY_CONSOLE_OIDC_CLIENT_SECRET');

  function oidc(): OidcSettings | undefined {
    const issuer = httpUrl('INLAY_CONSOLE_OIDC_ISSUER');
    if (issuer === undefined) return undefined;
    if (isSecure(issuer) === undefined) {
      faults.push('INLAY_CONSOLE_OIDC_ISSUER must be an https URL, or on this machine.');
    }
    const clientId = text('INLAY_CONSOLE_OIDC_CLIENT_ID');
    const rules = readOidcRules(text('INLAY_CONSOLE_OIDC_RULES') ?? '');
    if (clientId === undefined) faults.push('INLAY_CONSOLE_OIDC_ISSUER needs INLAY_CONSOLE_OIDC_CLIENT_ID as well.');
    if (rules === undefined) {
      faults.push(
        'INLAY_CONSOLE_OIDC_RULES must be a JSON list, as in [{"claim": "groups", "value": "admins", "permission": "full"}].',
      );
    }
    const scopes = text('INLAY_CONSOLE_OIDC_SCOPES') ?? 'openid email profile';
    if (!scopes.split(' ').includes('openid')) faults.push('INLAY_CONSOLE_OIDC_SCOPES must name openid.');
    return {
      issuer: text('INLAY_CONSOLE_OIDC_ISSUER') ?? issuer,
      clientId: clientId ?? '',
      scopes,
      rules: rules ?? [],
    };
  }

  const customerUrl = text('INLAY_CONSOLE_CUSTOMER_URL');
  if (customerUrl !== undefined && !isPageOfCustomers(customerUrl)) {
    faults.push(
      'INLAY_CONSOLE_CUSTOMER_URL must be an https URL with {id} or {name} behind its host, as in https://admin.example.com/customers/{name}.',
    );
  }

  const readableDirs = list('INLAY_READABLE_DIRS');
  for (const dir of readableDirs) {
    if (!isAbsolute(dir)) faults.push(`INLAY_READABLE_DIRS must list folders by their full path; "${dir}" is none.`);
  }

  const logLevel = text('LOG_LEVEL') ?? 'info';
  if (!logLevels.includes(logLevel)) faults.push(`LOG_LEVEL must be one of ${logLevels.join(', ')}.`);

  const samplerName = text('OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on';
  const sampler = samplerNames.find((name) => name === samplerName);
  if (sampler === undefined) faults.push(`OTEL_TRACES_SAMPLER must be one of ${samplerNames.join(', ')}.`);
  const ratio = Number(text('OTEL_TRACES_SAMPLER_ARG') ?? '1');
  if (!(ratio >= 0 && ratio <= 1)) faults.push('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1.');
  const telemetryEndpoint = httpUrl('OTEL_EXPORTER_OTLP_ENDPOINT');
  const telemetryTimeoutMs = integer('OTEL_EXPORTER_OTLP_TIMEOUT', 1, 600_000) ?? 10_000;
  const resource = readPairs('OTEL_RESOURCE_ATTRIBUTES', text('OTEL_RESOURCE_ATTRIBUTES'), faults);
  const telemetryHeaders = readPairs('OTEL_EXPORTER_OTLP_HEADERS', text('OTEL_EXPORTER_OTLP_HEADERS'), faults);

  const scopedPerMinute = integer('INLAY_RATE_LIMIT_PER_MINUTE', 0, 10_000_000) ?? 1200;
  const settleSeconds = integer('INLAY_PLATFORM_SETTLE_SECONDS', 0, 3_600);
  const config: Config = {
    given: (Object.keys(variables) as Variable[]).filter((name) => text(name) !== undefined),
    host,
    port,
    publicUrl,
    dataDir: resolve(text('INLAY_DATA_DIR') ?? './data'),
    vendor,
    organizationId: id('INLAY_ORGANIZATION_ID'),
    scopedTokenTtlSeconds: integer('INLAY_SCOPED_TOKEN_TTL_SECONDS', 1, 3_153_600_000),
    platformUrl,
    platformOrganizationId: id('INLAY_PLATFORM_ORGANIZATION_ID'),
    connectorRegistry,
    settleMs: (settleSeconds ?? (platformUrl === undefined ? 0 : 30)) * 1000,
    rateLimits: {
      scopedPerMinute,
      workspacePerMinute: integer('INLAY_WORKSPACE_RATE_LIMIT_PER_MINUTE', 0, 50_000_000) ?? 5 * scopedPerMinute,
      operatorPerMinute: integer('INLAY_OPERATOR_RATE_LIMIT_PER_MINUTE', 0, 10_000_000) ?? 0,
    },
    trustedProxies,
    maxConnectionsPerAddress: integer('INLAY_MAX_CONNECTIONS_PER_ADDRESS', 0, 1_000_000) ?? 1_000,
    metrics: { host: text('INLAY_METRICS_HOST') ?? '127.0.0.1', port: metricsPort },
    allowPrivateNetworks,
    webhooks: {
      allowPrivateNetworks: boolean('INLAY_WEBHOOK_ALLOW_PRIVATE_NETWORKS') ?? allowPrivateNetworks,
      timeoutMs: (integer('INLAY_WEBHOOK_TIMEOUT_SECONDS', 1, 30) ?? 15) * 1000,
      historyMs: (integer('INLAY_WEBHOOK_HISTORY_DAYS', 1, 3_650) ?? 14) * 86_400_000,
      customersMay: boolean('INLAY_CUSTOMER_WEBHOOKS') ?? false,
    },
    console: consoleSwitch === 'off' ? undefined : { isSecure: isSecure(publicUrl), oidc: oidc(), customerUrl },
    readableDirs,
    maxConcurrentSyncs: integer('INLAY_MAX_CONCURRENT_SYNCS', 1, 1_000) ?? 4,
    maxConcurrentSyncsPerWorkspace: integer('INLAY_MAX_CONCURRENT_SYNCS_PER_WORKSPACE', 1, 1_000) ?? 2,
    maxConcurrentChecks: integer('INLAY_MAX_CONCURRENT_CHECKS', 1, 1_000) ?? 4,
    maxConcurrentChecksPerWorkspace: integer('INLAY_MAX_CONCURRENT_CHECKS_PER_WORKSPACE', 1, 1_000) ?? 2,
    maxWaitingPerWorkspace: integer('INLAY_MAX_WAITING_PER_WORKSPACE', 1, 100_000) ?? 50,
    // The service gives up on a check after five minutes.
    checkTimeoutMs: (integer('INLAY_CHECK_TIMEOUT_SECONDS', 1, 240) ?? 60) * 1000,
    // A timer cannot wait longer than 24 days.
    syncTimeoutMs: (integer('INLAY_SYNC_TIMEOUT_SECONDS', 1, 2_000_000) ?? 86_400) * 1000,
    jobHistoryMs: (integer('INLAY_JOB_HISTORY_DAYS', 1, 3_650) ?? 90) * 86_400_000,
    jobLogMs: (integer('INLAY_JOB_LOG_DAYS', 0, 3_650) ?? (databaseUrl === undefined ? 0 : 30)) * 86_400_000,
    eventsMs: (integer('INLAY_EVENT_DAYS', 1, 3_650) ?? 90) * 86_400_000,
    auditMs: (integer('INLAY_AUDIT_DAYS', 1, 36_500) ?? 365) * 86_400_000,
    connectorLimits: {
      memoryBytes: (integer('INLAY_CONNECTOR_MEMORY_MB', 128, 16_777_216) ?? 1024) * 1024 ** 2,
      openFiles: integer('INLAY_CONNECTOR_OPEN_FILES', 64, 1_000_000) ?? 1024,
    },
    logLevel,
    telemetry:
      telemetryEndpoint === undefined
        ? undefined
        : {
            endpoint: telemetryEndpoint,
            timeoutMs: telemetryTimeoutMs,
            resource: {
              'service.version': version,
              ...resource,
              'service.name': text('OTEL_SERVICE_NAME') ?? resource['service.name'] ?? 'inlay',
            },
            sampler: { name: sampler ?? 'parentbased_always_on', ratio },
          },
  };
  if (faults.length > 0) throw new ConfigError(faults);
  return {
    config,
    secrets: {
      databaseUrl,
      operatorToken,
      platformClientId,
      platformClientSecret,
      metricsToken,
      encryptionKeys,
      telemetryHeaders,
      consoleOidcSecret,
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

/** Whether a secret can be guessed: it is too short, or repeats a few characters. */
function isWeak(secret: string): boolean {
  const characters = [...secret];
  return characters.length < 32 || new Set(characters).size < 8;
}

/** A URL as it is, or the absolute path of a file. */
function readLocation(given: string | undefined, faults: string[]): string | undefined {
  if (given === undefined || !/^[a-z][a-z0-9+.-]*:\/\//i.test(given)) return given && resolve(given);
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password) return url.href;
  faults.push('INLAY_CONNECTOR_REGISTRY must be an http or https URL without user name, or the path of a file.');
  return undefined;
}

/** `a=1,b=2`, as the variables of OpenTelemetry have it. The message repeats no value, because values may be secrets. */
function readPairs(name: string, given: string | undefined, faults: string[]): Record<string, string> {
  const pairs: Record<string, string> = {};
  for (const pair of (given ?? '').split(',').filter((text) => text.trim() !== '')) {
    const [, key, value] = /^\s*([\w.!#$%&'*+^`|~-]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
    const decoded = value === undefined ? undefined : decode(value);
    if (key === undefined || decoded === undefined || !/^[\x20-\x7e]*$/.test(decoded)) {
      faults.push(`${name} must be a list as in name=value,other=value.`);
      return {};
    }
    pairs[key] = decoded;
  }
  return pairs;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function readEncryptionKey(text: string, faults: string[]): Buffer {
  const key = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
  if (key.length !== 32 || !/^[0-9a-f]{64}$|^[A-Za-z0-9+/_-]{43}=?$/i.test(text)) {
    faults.push('INLAY_ENCRYPTION_KEY must be 32 bytes in base64 or hex. Make one with: openssl rand -base64 32');
  } else if (new Set(key).size < 8) {
    faults.push('INLAY_ENCRYPTION_KEY is not random. Make one with: openssl rand -base64 32');
  }
  return key;
}

function isAddressOrNetwork(text: string): boolean {
  const [address = '', prefix, rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest !== undefined) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
}

/** The addresses of this process: its own, and the public one of a proxy in front of it. */
export function serviceEndpoints({ host, port, publicUrl, metrics }: Config): { host: string; port: number }[] {
  const { hostname, protocol, port: publicPort } = new URL(publicUrl);
  return [
    { host, port },
    { host: hostname, port: Number(publicPort) || (protocol === 'https:' ? 443 : 80) },
    ...(metrics.port === undefined ? [] : [{ host: metrics.host, port: metrics.port }]),
  ];
}

/** Of a public URL. Undefined: plain http to another machine. */
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
