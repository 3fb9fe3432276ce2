/**
 * How each variable of the environment is read: a reader for each kind of value, and the table of all variables. A reader
 * complains of what it cannot take, in words that come after the name of the variable, and repeats no secret.
 */
import { isIP } from 'node:net';
import { isAbsolute, resolve } from 'node:path';
import { serializeOrigin } from '@inlay/contract/text/origins';
import { QuartzError, readQuartz } from '@inlay/schedule/quartz';
import { samplerNames } from '../telemetry/sampler.ts';
import { isPlausible } from './operator-secrets.ts';
import type { Variable } from './variables.ts';

type Complain = (what: string) => void;
type Reader<T> = (text: string, complain: Complain) => T | undefined;

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const placeholder = /change[-_ ]?me|replace[-_ ]?me|^your[-_ ]|^<.*>$/i;

/** A reader that takes what fits and complains of the rest. */
function fitting<T>(read: (text: string) => T | undefined, complaint: string): Reader<T> {
  return (text, complain) => {
    const value = read(text);
    if (value === undefined) complain(complaint);
    return value;
  };
}

const text: Reader<string> = (given) => given;

const integer =
  (min: number, max: number): Reader<number> =>
  (given, complain) =>
    fitting(
      () => (/^\d+$/.test(given) && Number(given) >= min && Number(given) <= max ? Number(given) : undefined),
      `must be a whole number from ${min} to ${max}, not "${given}".`,
    )(given, complain);

const dayMs = 86_400_000;
/** Operators write seconds, days and megabytes; the configuration has milliseconds and bytes. */
const scaled =
  (reader: Reader<number>, factor: number): Reader<number> =>
  (given, complain) => {
    const value = reader(given, complain);
    return value === undefined ? undefined : value * factor;
  };
const seconds = (min: number, max: number) => scaled(integer(min, max), 1_000);
const days = (min: number, max: number) => scaled(integer(min, max), dayMs);

const boolean = fitting((given) => ({ true: true, false: false })[given], 'must be true or false.');

const oneOf = <const Name extends string>(names: readonly Name[]) =>
  fitting((given) => names.find((name) => name === given), `must be one of ${names.join(', ')}.`);

const matching = (pattern: RegExp, complaint: string) =>
  fitting((given) => (pattern.test(given) ? given : undefined), complaint);

const id = fitting(
  (given) => (uuid.test(given) ? given.toLowerCase() : undefined),
  'must be a UUID such as 7f0a3c52-12ab-4f39-8a53-6f5e0f7d9b20.',
);

const httpUrl = fitting((given) => {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const clean = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
  return clean ? url.href.replace(/\/+$/, '') : undefined;
}, 'must be an http or https URL without a user name, query or fragment.');

const postgresUrl = fitting(
  (given) => (/^postgres(ql)?:\/\//.test(given) && URL.canParse(given) ? given : undefined),
  'must be a postgres:// URL. Leave it unset to use SQLite in INLAY_DATA_DIR.',
);

const publicUrl: Reader<string> = (given, complain) => {
  const url = httpUrl(given, complain);
  if (url !== undefined && serializeOrigin(new URL(url).origin) === undefined) {
    complain('must have a valid lowercase host name.');
  }
  return url;
};

/** Each item is validated separately. */
const list =
  (isItem: (item: string) => boolean, complaint: (item: string) => string): Reader<string[]> =>
  (given, complain) => {
    const items = given
      .split(',')
      .map((item) => item.trim())
      .filter(Boolean);
    for (const item of items) if (!isItem(item)) complain(complaint(item));
    return items;
  };

function isAddressOrNetwork(given: string): boolean {
  const [address = '', prefix, rest] = given.split('/');
  const version = isIP(address);
  if (version === 0 || rest !== undefined) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
}

/** A URL as it is, or the absolute path of a file. */
const location = fitting((given) => {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(given)) return resolve(given);
  const url = URL.canParse(given) ? new URL(given) : undefined;
  return url && /^https?:$/.test(url.protocol) && !url.username && !url.password ? url.href : undefined;
}, 'must be an http or https URL without a user name, or a file path.');

const quartz: Reader<string> = (given, complain) => {
  try {
    return readQuartz(given);
  } catch (error) {
    if (!(error instanceof QuartzError)) throw error;
    complain(`must be a Quartz cron expression such as 0 30 2 * * ?: ${error.message}.`);
    return undefined;
  }
};

/** Whether a secret can be guessed: it is too short, or repeats a few characters. */
export function isWeak(secret: string): boolean {
  const characters = [...secret];
  return characters.length < 32 || new Set(characters).size < 8;
}

const secret: Reader<string> = (given, complain) => {
  if (!placeholder.test(given)) return given;
  complain('still contains a placeholder. Set it to your own secret.');
  return undefined;
};

const strongSecret =
  (advice: string): Reader<string> =>
  (given, complain) => {
    const value = secret(given, complain);
    if (value === undefined || (/^[\x21-\x7e]+$/.test(value) && !isWeak(value))) return value;
    complain(`must have at least 32 printable ASCII characters, at least 8 of them different. ${advice}`);
    return undefined;
  };

const operatorToken: Reader<string> = (given, complain) => {
  const value = strongSecret('Leave it unset to generate one.')(given, complain);
  if (value === undefined) return undefined;
  if (value.length > 512) complain('must have at most 512 characters.');
  else if (!isPlausible(value)) {
    complain('starts with inlay_op_ but has an invalid checksum. Check it for typos or missing characters.');
  }
  return value;
};

const encryptionKeys: Reader<Buffer[]> = (given, complain) =>
  secret(given, complain)
    ?.split(',')
    .map((part) => {
      const key = part.trim();
      const bytes = /^[0-9a-f]{64}$/i.test(key) ? Buffer.from(key, 'hex') : Buffer.from(key, 'base64');
      if (bytes.length !== 32 || !/^[0-9a-f]{64}$|^[A-Za-z0-9+/_-]{43}=?$/i.test(key)) {
        complain('must be 32 bytes in base64 or hex. Generate one with: openssl rand -base64 32');
      } else if (new Set(bytes).size < 8) {
        complain('is not random. Generate one with: openssl rand -base64 32');
      }
      return bytes;
    });

/** `a=1,b=2`, as the variables of OpenTelemetry have it. The complaint repeats no value, because values may be secrets. */
const pairs: Reader<Record<string, string>> = (given, complain) => {
  const found: Record<string, string> = {};
  for (const pair of given.split(',').filter((part) => part.trim() !== '')) {
    const [, key, value] = /^\s*([\w.!#$%&'*+^`|~-]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
    const decoded = value === undefined ? undefined : decode(value);
    if (key === undefined || decoded === undefined || !/^[\x20-\x7e]*$/.test(decoded)) {
      complain('must be a list such as name=value,other=value.');
      return undefined;
    }
    found[key] = decoded;
  }
  return found;
};

function decode(given: string): string | undefined {
  try {
    return decodeURIComponent(given);
  } catch {
    return undefined;
  }
}

const commands = fitting((given): Record<string, [string, ...string[]]> | undefined => {
  try {
    const read: unknown = JSON.parse(given);
    const isCommand = (value: unknown) =>
      Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === 'string');
    const fits = typeof read === 'object' && read !== null && Object.values(read).every(isCommand);
    return fits ? (read as Record<string, [string, ...string[]]>) : undefined;
  } catch {
    return undefined;
  }
}, 'must be a JSON object such as {"Ledger": ["/usr/bin/ledger"]}.');

export const shortestPassphrase = 12;

const readers = {
  PORT: integer(1, 65_535),
  HOST: text,
  INLAY_PUBLIC_URL: publicUrl,
  INLAY_DATA_DIR: text,
  INLAY_DATABASE_URL: postgresUrl,
  INLAY_ORGANIZATION_ID: id,
  INLAY_OPERATOR_TOKEN: operatorToken,
  INLAY_VENDOR: matching(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'must be one word of lowercase letters, digits, - and _.'),
  INLAY_SCOPED_TOKEN_TTL_SECONDS: integer(1, 3_153_600_000),
  INLAY_PLATFORM_URL: httpUrl,
  INLAY_PLATFORM_DATABASE_URL: postgresUrl,
  INLAY_SERVICE_URL: httpUrl,
  INLAY_PLATFORM_CLIENT_ID: text,
  INLAY_PLATFORM_CLIENT_SECRET: secret,
  INLAY_PLATFORM_ORGANIZATION_ID: id,
  INLAY_PLATFORM_SETTLE_SECONDS: seconds(0, 3_600),
  INLAY_CONNECTOR_REGISTRY: location,
  INLAY_ENCRYPTION_KEY: encryptionKeys,
  INLAY_WORKER_URL: httpUrl,
  INLAY_WORKER_TOKEN: matching(/^inlay_enrolment_\S+$/, 'must be a token from: inlay workers enrol'),
  INLAY_WORKER_SLOTS: integer(1, 1_000),
  INLAY_WORKER_COMMANDS: commands,
  INLAY_WORKER_IMAGES: list(
    (item) => /^\S+@sha256:[0-9a-f]{64}$/.test(item),
    (item) => `must list images by digest, such as name@sha256:…; "${item}" is not one.`,
  ),
  INLAY_RATE_LIMIT_PER_MINUTE: integer(0, 10_000_000),
  INLAY_WORKSPACE_RATE_LIMIT_PER_MINUTE: integer(0, 50_000_000),
  INLAY_OPERATOR_RATE_LIMIT_PER_MINUTE: integer(0, 10_000_000),
  INLAY_TRUSTED_PROXIES: list(
    isAddressOrNetwork,
    (item) => `must list IP addresses or networks such as 10.0.0.0/8; "${item}" is neither.`,
  ),
  INLAY_MAX_CONNECTIONS_PER_ADDRESS: integer(0, 1_000_000),
  INLAY_METRICS_TOKEN: strongSecret('Generate one with: openssl rand -base64 32'),
  INLAY_METRICS_PORT: integer(1, 65_535),
  INLAY_METRICS_HOST: text,
  INLAY_ALLOW_PRIVATE_NETWORKS: boolean,
  INLAY_WEBHOOK_ALLOW_PRIVATE_NETWORKS: boolean,
  INLAY_WEBHOOK_TIMEOUT_SECONDS: seconds(1, 30),
  INLAY_WEBHOOK_HISTORY_DAYS: days(1, 3_650),
  INLAY_CUSTOMER_WEBHOOKS: boolean,
  INLAY_CONSOLE: fitting((given) => ({ on: true, off: false })[given], 'must be on or off.'),
  // Judged together, and only where there is a console: see oidc-settings.ts.
  INLAY_CONSOLE_OIDC_ISSUER: httpUrl,
  INLAY_CONSOLE_OIDC_CLIENT_ID: text,
  INLAY_CONSOLE_OIDC_CLIENT_SECRET: secret,
  INLAY_CONSOLE_OIDC_SCOPES: text,
  INLAY_CONSOLE_OIDC_RULES: text,
  INLAY_CONSOLE_CUSTOMER_URL: text,
  INLAY_READABLE_DIRS: list(isAbsolute, (item) => `must list absolute folder paths; "${item}" is not one.`),
  INLAY_MAX_CONCURRENT_SYNCS: integer(0, 1_000),
  INLAY_MAX_CONCURRENT_SYNCS_PER_WORKSPACE: integer(1, 1_000),
  INLAY_MAX_CONCURRENT_CHECKS: integer(1, 1_000),
  INLAY_MAX_CONCURRENT_CHECKS_PER_WORKSPACE: integer(1, 1_000),
  INLAY_MAX_WAITING_PER_WORKSPACE: integer(1, 100_000),
  // The service gives up on a check after five minutes.
  INLAY_CHECK_TIMEOUT_SECONDS: seconds(1, 240),
  // A timer cannot wait longer than 24 days.
  INLAY_SYNC_TIMEOUT_SECONDS: seconds(1, 2_000_000),
  INLAY_JOB_TIMEOUT_SECONDS: seconds(1, 2_000_000),
  INLAY_SYNC_TURN_SECONDS: seconds(1, 2_000_000),
  INLAY_JOB_HISTORY_DAYS: days(1, 3_650),
  INLAY_JOB_LOG_DAYS: days(0, 3_650),
  INLAY_EVENT_DAYS: days(1, 3_650),
  INLAY_AUDIT_DAYS: days(1, 36_500),
  INLAY_BACKUP_TO: fitting(
    (given) => (isAbsolute(given) || /^s3:\/\/[^/?#]+(\/[^?#]*)?$/.test(given) ? given : undefined),
    'must be an absolute folder path, or s3://bucket/prefix.',
  ),
  INLAY_BACKUP_SCHEDULE: quartz,
  INLAY_BACKUP_KEEP: integer(1, 10_000),
  INLAY_BACKUP_PASSPHRASE: (given, complain) => {
    if (given.length < shortestPassphrase) complain(`must have at least ${shortestPassphrase} characters.`);
    return secret(given, complain);
  },
  // Names that other programs share: looked at only when a backup in s3:// needs them.
  AWS_ACCESS_KEY_ID: text,
  AWS_SECRET_ACCESS_KEY: text,
  AWS_SESSION_TOKEN: text,
  AWS_REGION: text,
  AWS_ENDPOINT_URL: text,
  INLAY_CONNECTOR_MEMORY_MB: scaled(integer(128, 16_777_216), 1024 ** 2),
  INLAY_CONNECTOR_OPEN_FILES: integer(64, 1_000_000),
  LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl,
  OTEL_EXPORTER_OTLP_HEADERS: pairs,
  OTEL_EXPORTER_OTLP_TIMEOUT: integer(1, 600_000),
  OTEL_SERVICE_NAME: text,
  OTEL_RESOURCE_ATTRIBUTES: pairs,
  OTEL_TRACES_SAMPLER: oneOf(samplerNames),
  OTEL_TRACES_SAMPLER_ARG: fitting(
    (given) => (Number(given) >= 0 && Number(given) <= 1 ? Number(given) : undefined),
    'must be a number from 0 to 1.',
  ),
} satisfies Record<Variable, Reader<unknown>>;

/** Parsed value of each variable. Undefined if unset or invalid. */
export type Values = { [Name in Variable]: ReturnType<(typeof readers)[Name]> | undefined };

/** `textOf` gives undefined for a variable that is unset. */
export function readValues(textOf: (name: Variable) => string | undefined, faults: string[]): Values {
  const read = Object.entries(readers).map(([name, reader]) => {
    const given = textOf(name as Variable);
    const value = given === undefined ? undefined : reader(given, (what) => faults.push(`${name} ${what}`));
    return [name, value];
  });
  return Object.fromEntries(read) as Values;
}
