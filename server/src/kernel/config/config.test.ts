import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ConfigError, isLoopback, readConfig, serviceEndpoints } from './config.ts';
import { newOperatorSecret } from './operator-secrets.ts';
import { secretVariables } from './secret-files.ts';
import { variables } from './variables.ts';

const hosted = {
  INLAY_PLATFORM_URL: 'https://api.example/v1',
  INLAY_PLATFORM_CLIENT_ID: 'client',
  INLAY_PLATFORM_CLIENT_SECRET: 'a secret of the platform',
};
const bundled = {
  INLAY_PLATFORM_CLIENT_ID: 'client',
  INLAY_PLATFORM_CLIENT_SECRET: 'a secret of the bundled platform',
};
/** A fault of a variable. Its words are not asserted, only what distinguishes it from others of the same variable. */
const faultOf = (name: string, part = '') => expect.stringMatching(new RegExp(`^${name} .*${part}`));
const configOf = (env: Record<string, string>) => readConfig(env).config;
const secretsOf = (env: Record<string, string>) => readConfig(env).secrets;
function faultsOf(env: Record<string, string>): string[] {
  try {
    readConfig(env);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).faults;
  }
  throw new Error('the configuration was accepted');
}

describe('The configuration', () => {
  it('has the defaults of the contract', () => {
    const { config, secrets } = readConfig({});
    expect(config).toEqual({
      given: [],
      unknownNames: [],
      host: '127.0.0.1',
      port: 8080,
      publicUrl: 'http://localhost:8080',
      dataDir: resolve('./data'),
      vendor: 'inlay',
      organizationId: undefined,
      scopedTokenTtlSeconds: undefined,
      platformUrl: undefined,
      platformOrganizationId: undefined,
      worker: { url: undefined, slots: 4, commands: {}, images: [] },
      connectorRegistry: undefined,
      settleMs: 0,
      rateLimits: { scopedPerMinute: 1200, operatorPerMinute: 0, workspacePerMinute: 6000 },
      trustedProxies: [],
      maxConnectionsPerAddress: 1_000,
      metrics: { host: '127.0.0.1', port: undefined },
      allowPrivateNetworks: true,
      webhooks: { allowPrivateNetworks: true, timeoutMs: 15_000, historyMs: 14 * 86_400_000, customersMay: false },
      console: { isSecure: false, oidc: undefined, customerUrl: undefined },
      readableDirs: [],
      maxConcurrentSyncs: 4,
      maxConcurrentSyncsPerWorkspace: 2,
      maxConcurrentChecks: 4,
      maxConcurrentChecksPerWorkspace: 2,
      maxWaitingPerWorkspace: 50,
      checkTimeoutMs: 60_000,
      syncTimeoutMs: 86_400_000,
      jobTimeoutMs: 86_400_000,
      syncTurnMs: 600_000,
      jobHistoryMs: 90 * 86_400_000,
      eventsMs: 90 * 86_400_000,
      auditMs: 365 * 86_400_000,
      jobLogMs: 0,
      backup: { to: undefined, schedule: undefined, keep: 7 },
      connectorLimits: { memoryBytes: 1024 ** 3, openFiles: 1024 },
      logLevel: 'info',
      telemetry: undefined,
    });
    expect(secrets).toEqual({
      databaseUrl: undefined,
      operatorToken: undefined,
      platformClientId: undefined,
      platformClientSecret: undefined,
      workerToken: undefined,
      metricsToken: undefined,
      encryptionKeys: undefined,
      telemetryHeaders: {},
      aws: {},
    });
  });

  it('reads the variables of OpenTelemetry, and keeps headers for its collector with the secrets', () => {
    const { config, secrets } = readConfig({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/',
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%3Db%20c, x-tenant = 7',
      OTEL_EXPORTER_OTLP_TIMEOUT: '2000',
      OTEL_SERVICE_NAME: 'integrations',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.name=other',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.1',
    });
    expect(config.telemetry).toEqual({
      endpoint: 'http://collector:4318',
      timeoutMs: 2_000,
      resource: {
        'service.name': 'integrations',
        'service.version': expect.any(String),
        'deployment.environment.name': 'test',
      },
      sampler: { name: 'traceidratio', ratio: 0.1 },
    });
    expect(secrets.telemetryHeaders).toEqual({ 'api-key': 'a=b c', 'x-tenant': '7' });
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'just-a-secret'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'api-key=%zz'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'api-key=a%0d%0ab'],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '10s'],
    ['OTEL_TRACES_SAMPLER', 'sometimes'],
    ['OTEL_TRACES_SAMPLER_ARG', '2'],
    ['OTEL_TRACES_SAMPLER_ARG', 'half'],
  ])('refuses %s=%s, and repeats no secret', (name, value) => {
    let message = '';
    try {
      readConfig({ [name]: value });
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toContain(`${name} must`);
    if (name.endsWith('HEADERS')) expect(message).not.toContain(value);
  });

  it('of a worker has the base of the API, and refuses to send secrets over plain http', () => {
    const read = (url: string | undefined) =>
      readConfig({ INLAY_WORKER_URL: url }, { runs: 'worker' }).config.worker.url;
    expect(read('https://inlay.example.com/')).toBe('https://inlay.example.com/platform/v1');
    expect(read('http://localhost:8080')).toBe('http://localhost:8080/platform/v1');
    expect(read('https://inlay.example.com/a/platform/v1')).toBe('https://inlay.example.com/a/platform/v1');
    expect(() => read('http://inlay.example.com')).toThrow(/INLAY_WORKER_URL must be an https URL/);
    expect(() => read(undefined)).toThrow(/INLAY_WORKER_URL must be set/);
    expect(() => readConfig({ INLAY_WORKER_COMMANDS: '{"a": "b"}' })).toThrow(/INLAY_WORKER_COMMANDS must be/);
    expect(() => readConfig({ INLAY_WORKER_IMAGES: 'name:latest' })).toThrow(/INLAY_WORKER_IMAGES must list/);
  });

  it('knows every variable of the contract', () => {
    expect(Object.keys(variables).toSorted()).toEqual(
      [
        'PORT',
        'HOST',
        ...['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_REGION', 'AWS_ENDPOINT_URL'],
        ...['INLAY_BACKUP_TO', 'INLAY_BACKUP_SCHEDULE', 'INLAY_BACKUP_KEEP', 'INLAY_BACKUP_PASSPHRASE'],
        'LOG_LEVEL',
        'OTEL_EXPORTER_OTLP_ENDPOINT',
        'OTEL_EXPORTER_OTLP_HEADERS',
        'OTEL_EXPORTER_OTLP_TIMEOUT',
        'OTEL_RESOURCE_ATTRIBUTES',
        'OTEL_SERVICE_NAME',
        'OTEL_TRACES_SAMPLER',
        'OTEL_TRACES_SAMPLER_ARG',
        'INLAY_ALLOW_PRIVATE_NETWORKS',
        'INLAY_CONNECTOR_MEMORY_MB',
        'INLAY_CONNECTOR_OPEN_FILES',
        'INLAY_CONNECTOR_REGISTRY',
        'INLAY_CONSOLE',
        'INLAY_CONSOLE_CUSTOMER_URL',
        'INLAY_CONSOLE_OIDC_CLIENT_ID',
        'INLAY_CONSOLE_OIDC_CLIENT_SECRET',
        'INLAY_CONSOLE_OIDC_ISSUER',
        'INLAY_CONSOLE_OIDC_RULES',
        'INLAY_CONSOLE_OIDC_SCOPES',
        'INLAY_CUSTOMER_WEBHOOKS',
        'INLAY_DATABASE_URL',
        'INLAY_PLATFORM_DATABASE_URL',
        'INLAY_DATA_DIR',
        'INLAY_ENCRYPTION_KEY',
        'INLAY_EVENT_DAYS',
        'INLAY_AUDIT_DAYS',
        'INLAY_JOB_HISTORY_DAYS',
        'INLAY_JOB_LOG_DAYS',
        'INLAY_MAX_CONCURRENT_SYNCS',
        'INLAY_MAX_CONCURRENT_SYNCS_PER_WORKSPACE',
        'INLAY_MAX_CONCURRENT_CHECKS',
        'INLAY_MAX_CONCURRENT_CHECKS_PER_WORKSPACE',
        'INLAY_MAX_WAITING_PER_WORKSPACE',
        'INLAY_CHECK_TIMEOUT_SECONDS',
        'INLAY_SYNC_TIMEOUT_SECONDS',
        'INLAY_JOB_TIMEOUT_SECONDS',
        'INLAY_SYNC_TURN_SECONDS',
        'INLAY_MAX_CONNECTIONS_PER_ADDRESS',
        'INLAY_METRICS_HOST',
        'INLAY_METRICS_PORT',
        'INLAY_METRICS_TOKEN',
        'INLAY_OPERATOR_RATE_LIMIT_PER_MINUTE',
        'INLAY_OPERATOR_TOKEN',
        'INLAY_ORGANIZATION_ID',
        'INLAY_PLATFORM_CLIENT_ID',
        'INLAY_PLATFORM_CLIENT_SECRET',
        'INLAY_PLATFORM_ORGANIZATION_ID',
        'INLAY_WORKER_URL',
        'INLAY_WORKER_TOKEN',
        'INLAY_WORKER_SLOTS',
        'INLAY_WORKER_COMMANDS',
        'INLAY_WORKER_IMAGES',
        'INLAY_PLATFORM_SETTLE_SECONDS',
        'INLAY_SERVICE_URL',
        'INLAY_PLATFORM_URL',
        'INLAY_PUBLIC_URL',
        'INLAY_RATE_LIMIT_PER_MINUTE',
        'INLAY_READABLE_DIRS',
        'INLAY_SCOPED_TOKEN_TTL_SECONDS',
        'INLAY_TRUSTED_PROXIES',
        'INLAY_VENDOR',
        'INLAY_WEBHOOK_ALLOW_PRIVATE_NETWORKS',
        'INLAY_WEBHOOK_HISTORY_DAYS',
        'INLAY_WEBHOOK_TIMEOUT_SECONDS',
        'INLAY_WORKSPACE_RATE_LIMIT_PER_MINUTE',
      ].toSorted(),
    );
  });

  it('takes an empty variable for an unset one', () => {
    expect(readConfig(Object.fromEntries(Object.keys(variables).map((name) => [name, ''])))).toEqual(readConfig({}));
  });

  it('reports all faults at once', () => {
    const bad = {
      PORT: 'x',
      INLAY_PUBLIC_URL: 'x',
      INLAY_DATABASE_URL: 'mysql://x',
      INLAY_ORGANIZATION_ID: 'x',
      INLAY_OPERATOR_TOKEN: 'x',
      INLAY_VENDOR: 'X Y',
      INLAY_SCOPED_TOKEN_TTL_SECONDS: 'x',
      INLAY_PLATFORM_URL: 'x',
      INLAY_PLATFORM_ORGANIZATION_ID: 'x',
      INLAY_PLATFORM_SETTLE_SECONDS: 'x',
      INLAY_CONNECTOR_REGISTRY: 'x://x',
      INLAY_ENCRYPTION_KEY: 'x',
      INLAY_RATE_LIMIT_PER_MINUTE: 'x',
      INLAY_OPERATOR_RATE_LIMIT_PER_MINUTE: 'x',
      INLAY_WORKSPACE_RATE_LIMIT_PER_MINUTE: 'x',
      INLAY_TRUSTED_PROXIES: 'x',
      INLAY_ALLOW_PRIVATE_NETWORKS: 'x',
      INLAY_READABLE_DIRS: 'x',
      INLAY_MAX_CONCURRENT_SYNCS: 'x',
      INLAY_MAX_CONNECTIONS_PER_ADDRESS: 'x',
      INLAY_METRICS_TOKEN: 'x',
      INLAY_METRICS_PORT: 'x',
      LOG_LEVEL: 'x',
    };
    const faults = faultsOf(bad);
    for (const name of Object.keys(bad))
      expect(
        faults.some((fault) => fault.includes(name)),
        name,
      ).toBe(true);
    const message = new ConfigError(faults).message;
    expect(message).toMatch(new RegExp(`^.*\\b${faults.length}\\b.*:\n`));
    for (const fault of faults) expect(message).toContain(`  - ${fault}`);
    expect(new ConfigError(['one']).message).toMatch(/:\n {2}- one$/);
  });

  it('never repeats a secret in a fault', () => {
    const faults = faultsOf({
      INLAY_OPERATOR_TOKEN: 'secret-one',
      INLAY_ENCRYPTION_KEY: 'secret-two',
      INLAY_DATABASE_URL: 'mysql://user:secret-three@host/db',
      INLAY_PLATFORM_CLIENT_ID: 'client',
      INLAY_PLATFORM_CLIENT_SECRET: 'secret-four',
    });
    expect(faults.join('\n')).not.toContain('secret-');
  });
});

describe('Secrets in files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-secrets-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const write = (name: string, content: string) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const secret = 'a secret of the bundled platform';

  it('A secret is read from the file that its _FILE variable names, without one newline at the end', () => {
    const env = {
      INLAY_PLATFORM_CLIENT_ID_FILE: write('id', 'client'),
      INLAY_PLATFORM_CLIENT_SECRET_FILE: write('secret', `${secret}\n`),
      INLAY_DATABASE_URL_FILE: write('url', 'postgres://inlay@db/inlay\r\n'),
      INLAY_ENCRYPTION_KEY_FILE: write('key', `${randomBytes(32).toString('base64')}\n`),
    };
    const { config, secrets } = readConfig(env);
    expect(secrets).toMatchObject({
      platformClientId: 'client',
      platformClientSecret: secret,
      databaseUrl: 'postgres://inlay@db/inlay',
    });
    expect(secrets.encryptionKeys).toHaveLength(1);
    expect(config.unknownNames).toEqual([]);
    expect(config.given).toContain('INLAY_DATABASE_URL');
    // Only one newline belongs to the editor.
    expect(secretsOf({ ...env, INLAY_PLATFORM_CLIENT_SECRET_FILE: write('two', `${secret}\n\n`) })).toMatchObject({
      platformClientSecret: `${secret}\n`,
    });
  });

  it.each(secretVariables)('%s cannot be set together with its _FILE variable', (name) => {
    expect(faultsOf({ [name]: 'x', [`${name}_FILE`]: write('x', 'x') })).toContainEqual(
      expect.stringContaining(`${name} and ${name}_FILE are`),
    );
  });

  it('A file that cannot be read, or is empty, is a fault that names its path and the variable', () => {
    const faults = (path: string) => faultsOf({ INLAY_ENCRYPTION_KEY_FILE: path });
    const missing = join(folder, 'missing');
    expect(faults(missing)).toEqual([
      expect.stringMatching(new RegExp(`^INLAY_ENCRYPTION_KEY_FILE .*${missing}.*: .* no such file`)),
    ]);
    expect(faults(folder)).toEqual([
      expect.stringMatching(new RegExp(`^INLAY_ENCRYPTION_KEY_FILE .*${folder}.*: .* directory`)),
    ]);
    const empty = write('empty', '\n');
    expect(faults(empty)).toEqual([`INLAY_ENCRYPTION_KEY_FILE names ${empty}, which is empty.`]);
  });

  it('A file that does not hold what its variable takes is a fault that does not repeat its content', () => {
    const faults = faultsOf({ INLAY_OPERATOR_TOKEN_FILE: write('token', 'too short') });
    expect(faults).toEqual([faultOf('INLAY_OPERATOR_TOKEN', '32')]);
    expect(faults[0]).not.toContain('too short');
  });

  it('A _FILE variable that is misspelled, or of a setting that is no secret, is noticed', () => {
    expect(faultsOf({ INLAY_ENCRYPTON_KEY_FILE: 'x' })).toEqual([
      expect.stringMatching(/INLAY_ENCRYPTON_KEY_FILE.*INLAY_ENCRYPTION_KEY_FILE/),
    ]);
    expect(configOf({ INLAY_VENDOR_FILE: 'x' }).unknownNames).toHaveLength(1);
  });
});

describe('PORT and HOST', () => {
  it('set the address, and the port the public URL', () => {
    expect(configOf({ PORT: '9000', HOST: '0.0.0.0' })).toMatchObject({
      host: '0.0.0.0',
      port: 9000,
      publicUrl: 'http://localhost:9000',
    });
  });

  it.each(['0', '65536', '-1', '80.5', 'http', '0x50', '1e3'])('refuse the port %s', (PORT) => {
    expect(faultsOf({ PORT })).toEqual([faultOf('PORT', `"${PORT}"`)]);
  });
});

describe('Scheduled backups', () => {
  const key = randomBytes(32).toString('base64');
  const settings = {
    INLAY_BACKUP_TO: 's3://backups/inlay',
    INLAY_BACKUP_SCHEDULE: '0 30 2 * * ?',
    INLAY_BACKUP_PASSPHRASE: 'correct horse battery',
  };

  it('need a place, a schedule and one way to keep the encryption key', () => {
    expect(configOf(settings).backup).toEqual({ to: 's3://backups/inlay', schedule: '0 30 2 * * ?', keep: 7 });
    const { INLAY_BACKUP_PASSPHRASE: _, ...withoutPassphrase } = settings;
    expect(configOf({ ...withoutPassphrase, INLAY_ENCRYPTION_KEY: key }).backup.to).toBe('s3://backups/inlay');
    for (const env of [
      withoutPassphrase,
      { ...settings, INLAY_ENCRYPTION_KEY: key },
      { ...settings, INLAY_BACKUP_TO: '' },
    ]) {
      expect(faultsOf(env)).toEqual([expect.stringContaining('INLAY_BACKUP_SCHEDULE requires')]);
    }
  });

  it.each([
    ['INLAY_BACKUP_TO', 'backups'],
    ['INLAY_BACKUP_TO', 's3://'],
    ['INLAY_BACKUP_TO', 's3://bucket/x?versionId=1'],
    ['INLAY_BACKUP_SCHEDULE', '30 2 * * *'],
    ['INLAY_BACKUP_KEEP', '0'],
    ['INLAY_BACKUP_PASSPHRASE', 'short'],
  ])('refuse %s=%s', (name, value) => {
    const faults = faultsOf({ ...settings, [name]: value });
    expect(faults).toEqual([expect.stringMatching(new RegExp(`^${name} must`))]);
  });
});

describe('INLAY_CONNECTOR_REGISTRY', () => {
  it.each([
    ['https://registry.example/all.json?version=2', 'https://registry.example/all.json?version=2'],
    ['http://127.0.0.1:9000', 'http://127.0.0.1:9000/'],
    ['/etc/inlay/registry.json', '/etc/inlay/registry.json'],
    ['registry.json', resolve('registry.json')],
  ])('%s becomes %s', (INLAY_CONNECTOR_REGISTRY, connectorRegistry) => {
    expect(configOf({ INLAY_CONNECTOR_REGISTRY }).connectorRegistry).toBe(connectorRegistry);
  });

  it.each(['ftp://registry.example/', 'https://user:secret@registry.example/', 'file:///etc/registry.json', 'http://'])(
    'refuses %s',
    (INLAY_CONNECTOR_REGISTRY) => {
      expect(faultsOf({ INLAY_CONNECTOR_REGISTRY })).toEqual([faultOf('INLAY_CONNECTOR_REGISTRY')]);
    },
  );
});

describe('INLAY_PUBLIC_URL', () => {
  it.each([
    ['https://inlay.example', 'https://inlay.example'],
    ['https://inlay.example/', 'https://inlay.example'],
    ['https://inlay.example/base/', 'https://inlay.example/base'],
    ['http://localhost:9', 'http://localhost:9'],
  ])('%s becomes %s', (INLAY_PUBLIC_URL, publicUrl) => {
    expect(configOf({ INLAY_PUBLIC_URL }).publicUrl).toBe(publicUrl);
  });

  it.each([
    'inlay.example',
    'ftp://inlay.example',
    'https://u:p@inlay.example',
    'https://inlay.example?a',
    'https://x/#a',
  ])('refuses %s', (INLAY_PUBLIC_URL) => {
    const fault = faultOf('INLAY_PUBLIC_URL');
    expect(faultsOf({ INLAY_PUBLIC_URL })).toEqual([fault]);
  });
});

it('INLAY_DATA_DIR is taken from the working directory', () => {
  expect(configOf({ INLAY_DATA_DIR: 'x/y' }).dataDir).toBe(resolve('x/y'));
  expect(configOf({ INLAY_DATA_DIR: '/var/lib/inlay' }).dataDir).toBe('/var/lib/inlay');
});

describe('INLAY_CONSOLE_CUSTOMER_URL', () => {
  it.each([
    'https://admin.example.com/customers/{name}',
    'https://admin.example.com/?id={id}#{name}',
    'http://localhost:3000/{id}',
  ])('takes %s', (INLAY_CONSOLE_CUSTOMER_URL) => {
    expect(configOf({ INLAY_CONSOLE_CUSTOMER_URL }).console?.customerUrl).toBe(INLAY_CONSOLE_CUSTOMER_URL);
  });

  it.each([
    'http://admin.example.com/{name}',
    'javascript:alert({name})',
    'https://admin.example.com/customers',
    'https://{name}.example.com/',
    'https://{name}@admin.example.com/{id}',
    '/customers/{name}',
  ])('refuses %s', (INLAY_CONSOLE_CUSTOMER_URL) => {
    expect(faultsOf({ INLAY_CONSOLE_CUSTOMER_URL })).toEqual([faultOf('INLAY_CONSOLE_CUSTOMER_URL')]);
  });
});

describe('INLAY_PLATFORM_DATABASE_URL', () => {
  const INLAY_PLATFORM_DATABASE_URL = 'postgres://u:secret@db/inlay';

  it('is a secret of its own, for the bundled platform', () => {
    expect(secretsOf({ INLAY_PLATFORM_DATABASE_URL })).toMatchObject({
      databaseUrl: undefined,
      platformDatabaseUrl: INLAY_PLATFORM_DATABASE_URL,
    });
    expect(faultsOf({ INLAY_PLATFORM_DATABASE_URL: 'mysql://db/inlay' })).toEqual([
      faultOf('INLAY_PLATFORM_DATABASE_URL'),
    ]);
  });

  it('is refused for a service that uses another platform', () => {
    const env = { INLAY_PLATFORM_URL: 'http://p', INLAY_PLATFORM_CLIENT_ID: 'x', INLAY_PLATFORM_CLIENT_SECRET: 'y' };
    expect(faultsOf({ ...env, INLAY_PLATFORM_DATABASE_URL })).toEqual([
      'INLAY_PLATFORM_DATABASE_URL belongs to the bundled platform, which INLAY_PLATFORM_URL replaces. Unset one of them.',
    ]);
  });
});

describe('INLAY_DATABASE_URL', () => {
  it.each(['postgres://u:p@db/inlay', 'postgresql://db/inlay?sslmode=require'])('takes %s', (INLAY_DATABASE_URL) => {
    expect(secretsOf({ INLAY_DATABASE_URL }).databaseUrl).toBe(INLAY_DATABASE_URL);
  });

  it.each(['mysql://db/inlay', 'db/inlay', 'postgres:db', 'sqlite://x'])('refuses %s', (INLAY_DATABASE_URL) => {
    expect(faultsOf({ INLAY_DATABASE_URL })).toEqual([faultOf('INLAY_DATABASE_URL')]);
  });
});

describe.each([
  ['INLAY_ORGANIZATION_ID', 'organizationId'],
  ['INLAY_PLATFORM_ORGANIZATION_ID', 'platformOrganizationId'],
] as const)('%s', (name, field) => {
  it('takes a UUID and keeps it in lower case', () => {
    const id = '7F0A3C52-12AB-4F39-8A53-6F5E0F7D9B20';
    expect(configOf({ [name]: id })[field]).toBe(id.toLowerCase());
  });

  it('refuses anything else', () => {
    const fault = faultOf(name, 'UUID');
    expect(faultsOf({ [name]: 'acme' })).toEqual([fault]);
  });
});

describe('INLAY_OPERATOR_TOKEN', () => {
  it.each([
    ['32 characters, 8 of them different', 'abcdefgh'.repeat(4)],
    ['32 visible characters', `!"#$%&'${'~'.repeat(25)}`],
    ['one of ours', newOperatorSecret()],
    ['512 letters', 'abcdefgh'.repeat(64)],
  ])('takes %s', (_what, token) => {
    expect(secretsOf({ INLAY_OPERATOR_TOKEN: token }).operatorToken).toBe(token);
  });

  const strong = 'abcdefgh'.repeat(5);
  it.each([
    'short',
    strong.slice(0, 31),
    `${strong} y`,
    `${strong}é`,
    `${strong}\n`,
    'x'.repeat(32),
    'x'.repeat(600),
    'abcdefg'.repeat(10),
  ])('refuses %j', (token) => {
    expect(faultsOf({ INLAY_OPERATOR_TOKEN: token })).toEqual([faultOf('INLAY_OPERATOR_TOKEN', '32')]);
  });

  it('refuses a token that is too long, or a mistyped token of ours', () => {
    expect(faultsOf({ INLAY_OPERATOR_TOKEN: `${'abcdefgh'.repeat(64)}i` })).toEqual([
      faultOf('INLAY_OPERATOR_TOKEN', '512'),
    ]);
    expect(faultsOf({ INLAY_OPERATOR_TOKEN: newOperatorSecret().slice(0, -1) })).toEqual([
      faultOf('INLAY_OPERATOR_TOKEN', 'checksum'),
    ]);
  });

  it.each([
    'change-me-change-me-change-me-change-me',
    'CHANGEME_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
    'please-replace-me-with-something-random',
    'your-operator-token-goes-here-32-characters',
    '<the operator token of your deployment>',
  ])('refuses the placeholder %s', (token) => {
    expect(faultsOf({ INLAY_OPERATOR_TOKEN: token })).toEqual([faultOf('INLAY_OPERATOR_TOKEN', 'placeholder')]);
  });
});

describe('Metrics', () => {
  it('have a token and a port of their own where these are set', () => {
    const INLAY_METRICS_TOKEN = 'a-token-that-only-prometheus-knows';
    const { config, secrets } = readConfig({
      INLAY_METRICS_TOKEN,
      INLAY_METRICS_PORT: '9464',
      INLAY_METRICS_HOST: '::',
    });
    expect([config.metrics, secrets.metricsToken]).toEqual([{ host: '::', port: 9464 }, INLAY_METRICS_TOKEN]);
    expect(serviceEndpoints(config)).toContainEqual({ host: '::', port: 9464 });
  });

  it('refuse a weak token, and the port of the service', () => {
    expect(faultsOf({ INLAY_METRICS_TOKEN: 'x'.repeat(40), PORT: '9000', INLAY_METRICS_PORT: '9000' })).toEqual([
      faultOf('INLAY_METRICS_TOKEN', '32'),
      faultOf('INLAY_METRICS_PORT', 'PORT'),
    ]);
  });
});

describe('INLAY_VENDOR', () => {
  it.each(['acme', 'acme-2', 'a_b', '7'])('takes %s', (INLAY_VENDOR) => {
    expect(configOf({ INLAY_VENDOR }).vendor).toBe(INLAY_VENDOR);
  });

  it.each(['Acme', 'a.b', 'a b', '-a', 'a'.repeat(64), 'é'])('refuses %s', (INLAY_VENDOR) => {
    const fault = faultOf('INLAY_VENDOR');
    expect(faultsOf({ INLAY_VENDOR })).toEqual([fault]);
  });
});

describe.each([
  [
    'INLAY_SCOPED_TOKEN_TTL_SECONDS',
    1,
    3_153_600_000,
    (value: string) => configOf({ INLAY_SCOPED_TOKEN_TTL_SECONDS: value }).scopedTokenTtlSeconds,
  ],
  [
    'INLAY_PLATFORM_SETTLE_SECONDS',
    0,
    3_600,
    (value: string) => configOf({ INLAY_PLATFORM_SETTLE_SECONDS: value }).settleMs / 1000,
  ],
  [
    'INLAY_RATE_LIMIT_PER_MINUTE',
    0,
    10_000_000,
    (value: string) => configOf({ INLAY_RATE_LIMIT_PER_MINUTE: value }).rateLimits.scopedPerMinute,
  ],
  [
    'INLAY_OPERATOR_RATE_LIMIT_PER_MINUTE',
    0,
    10_000_000,
    (value: string) => configOf({ INLAY_OPERATOR_RATE_LIMIT_PER_MINUTE: value }).rateLimits.operatorPerMinute,
  ],
  [
    'INLAY_WORKSPACE_RATE_LIMIT_PER_MINUTE',
    0,
    50_000_000,
    (value: string) => configOf({ INLAY_WORKSPACE_RATE_LIMIT_PER_MINUTE: value }).rateLimits.workspacePerMinute,
  ],
  [
    'INLAY_MAX_CONNECTIONS_PER_ADDRESS',
    0,
    1_000_000,
    (value: string) => configOf({ INLAY_MAX_CONNECTIONS_PER_ADDRESS: value }).maxConnectionsPerAddress,
  ],
] as const)('%s', (name, min, max, read) => {
  it('takes whole numbers within its bounds', () => {
    for (const value of [min, max]) expect(read(String(value))).toBe(value);
  });

  it('refuses anything else', () => {
    for (const value of [String(min - 1), String(max + 1), '1.5', 'x', '1e3', ' 5']) {
      expect(faultsOf({ [name]: value })).toEqual([faultOf(name, `${min} to ${max}.*"${value}"`)]);
    }
  });
});

describe('The platform', () => {
  it('is a hosted one with INLAY_PLATFORM_URL and its credentials; then writes need 30 s to settle', () => {
    const { config, secrets } = readConfig({ ...hosted, INLAY_PLATFORM_URL: 'https://api.example/v1/' });
    expect(config).toMatchObject({
      platformUrl: 'https://api.example/v1',
      settleMs: 30_000,
      allowPrivateNetworks: false,
    });
    expect(secrets).toMatchObject({ platformClientId: 'client', platformClientSecret: 'a secret of the platform' });
    expect(configOf({ ...hosted, INLAY_PLATFORM_SETTLE_SECONDS: '0' }).settleMs).toBe(0);
  });

  it.each(['INLAY_PLATFORM_CLIENT_ID', 'INLAY_PLATFORM_CLIENT_SECRET'])('needs %s with INLAY_PLATFORM_URL', (name) => {
    expect(faultsOf({ ...hosted, [name]: '' })).toEqual([
      'INLAY_PLATFORM_URL requires INLAY_PLATFORM_CLIENT_ID and INLAY_PLATFORM_CLIENT_SECRET.',
    ]);
  });

  it('takes both credentials or neither for the bundled one', () => {
    expect(secretsOf(bundled).platformClientId).toBe('client');
    expect(faultsOf({ INLAY_PLATFORM_CLIENT_ID: 'client' })).toEqual([
      expect.stringMatching(/INLAY_PLATFORM_CLIENT_ID .*INLAY_PLATFORM_CLIENT_SECRET/),
    ]);
  });

  const weak = [
    'INLAY_PLATFORM_CLIENT_SECRET protects the bundled platform and must have at least 32 characters, at least 8 of them different. Generate one with: openssl rand -base64 32',
  ];

  it.each(['b', 'a secret of 31 characters .....', 'x'.repeat(64), 'abcdefg'.repeat(8), 'é'.repeat(40)])(
    'refuses the secret %j for the bundled one, and never judges the secret of a hosted one',
    (secret) => {
      expect(faultsOf({ ...bundled, INLAY_PLATFORM_CLIENT_SECRET: secret })).toEqual(weak);
      expect(secretsOf({ ...hosted, INLAY_PLATFORM_CLIENT_SECRET: secret }).platformClientSecret).toBe(secret);
      const alone = () => readConfig({ ...hosted, INLAY_PLATFORM_CLIENT_SECRET: secret }, { runs: 'platform' });
      expect(alone).toThrow(weak[0]);
    },
  );

  it('refuses a placeholder for its secret, and an URL that is none', () => {
    expect(faultsOf({ ...hosted, INLAY_PLATFORM_CLIENT_SECRET: 'changeme' })).toEqual([
      faultOf('INLAY_PLATFORM_CLIENT_SECRET', 'placeholder'),
    ]);
    expect(faultsOf({ ...hosted, INLAY_PLATFORM_URL: 'api.example' })).toEqual([faultOf('INLAY_PLATFORM_URL')]);
  });
});

describe('INLAY_ENCRYPTION_KEY', () => {
  const key = randomBytes(32);
  it.each([
    ['base64', key.toString('base64')],
    ['base64 without padding', key.toString('base64').replace('=', '')],
    ['base64url', key.toString('base64url')],
    ['hex', key.toString('hex')],
    ['hex in upper case', key.toString('hex').toUpperCase()],
  ])('takes 32 bytes in %s', (_form, text) => {
    expect(secretsOf({ INLAY_ENCRYPTION_KEY: text }).encryptionKeys?.[0]?.equals(key)).toBe(true);
  });

  it.each([
    ['a word', 'short'],
    ['16 bytes', randomBytes(16).toString('base64')],
    ['33 bytes', randomBytes(33).toString('base64')],
    ['31 bytes in hex', randomBytes(31).toString('hex')],
    ['text with spaces', 'x y'.repeat(15)],
  ])('refuses %s', (_what, text) => {
    expect(faultsOf({ INLAY_ENCRYPTION_KEY: text })).toEqual([faultOf('INLAY_ENCRYPTION_KEY', '32 bytes')]);
  });

  it.each([
    '0'.repeat(64),
    'a'.repeat(64),
    Buffer.alloc(32).toString('base64'),
    Buffer.alloc(32, 'ab').toString('base64'),
  ])('refuses %s, which is not random', (text) => {
    expect(faultsOf({ INLAY_ENCRYPTION_KEY: text })).toEqual([faultOf('INLAY_ENCRYPTION_KEY', 'random')]);
  });
});

describe('INLAY_TRUSTED_PROXIES', () => {
  it('takes addresses and networks, with or without spaces', () => {
    expect(configOf({ INLAY_TRUSTED_PROXIES: '10.0.0.0/8, 127.0.0.1,::1 ,fd00::/8,' }).trustedProxies).toEqual([
      '10.0.0.0/8',
      '127.0.0.1',
      '::1',
      'fd00::/8',
    ]);
  });

  it.each(['proxy.example', '10.0.0.0/33', '::1/129', '10.0.0.0/8/8', '10.0.0', '*', 'true'])(
    'refuses %s',
    (address) => {
      expect(faultsOf({ INLAY_TRUSTED_PROXIES: `127.0.0.1,${address}` })).toEqual([
        faultOf('INLAY_TRUSTED_PROXIES', `"${address}"`),
      ]);
    },
  );
});

describe('INLAY_ALLOW_PRIVATE_NETWORKS', () => {
  it.each([
    ['true on loopback with the bundled platform', {}, true],
    ['true on another loopback address', { HOST: '::1' }, true],
    ['true when the public URL is on loopback as well', { INLAY_PUBLIC_URL: 'https://[::1]:8443' }, true],
    ['true under a name below localhost', { INLAY_PUBLIC_URL: 'http://inlay.localhost:9000' }, true],
    ['false when others can reach the service', { HOST: '0.0.0.0' }, false],
    ['false behind a proxy on this host', { INLAY_PUBLIC_URL: 'https://inlay.example' }, false],
    ['false behind a proxy, by address', { INLAY_PUBLIC_URL: 'http://192.168.1.7' }, false],
    ['false when only the public URL is on loopback', { HOST: '::', INLAY_PUBLIC_URL: 'http://127.0.0.1' }, false],
    ['false for a name that only begins so', { INLAY_PUBLIC_URL: 'http://localhost.example' }, false],
    ['false with a hosted platform', hosted, false],
  ])('is %s', (_what, env, expected) => {
    expect(configOf(env).allowPrivateNetworks).toBe(expected);
    expect(configOf({ ...env, INLAY_ALLOW_PRIVATE_NETWORKS: 'true' }).allowPrivateNetworks).toBe(true);
    expect(configOf({ ...env, INLAY_ALLOW_PRIVATE_NETWORKS: 'false' }).allowPrivateNetworks).toBe(false);
    // Webhooks follow it, unless they have a setting of their own.
    const own = (text: string) => configOf({ ...env, INLAY_WEBHOOK_ALLOW_PRIVATE_NETWORKS: text }).webhooks;
    expect(configOf(env).webhooks.allowPrivateNetworks).toBe(expected);
    expect([own('true').allowPrivateNetworks, own('false').allowPrivateNetworks]).toEqual([true, false]);
  });

  it.each(['1', 'yes', 'TRUE'])('refuses %s', (INLAY_ALLOW_PRIVATE_NETWORKS) => {
    expect(faultsOf({ INLAY_ALLOW_PRIVATE_NETWORKS })).toEqual([faultOf('INLAY_ALLOW_PRIVATE_NETWORKS')]);
  });
});

describe('What syncs may use', () => {
  it('are the folders in INLAY_READABLE_DIRS, by their full path', () => {
    expect(configOf({ INLAY_READABLE_DIRS: '/srv/files, /srv/more' }).readableDirs).toEqual([
      '/srv/files',
      '/srv/more',
    ]);
    expect(faultsOf({ INLAY_READABLE_DIRS: '/srv/files,here' })).toEqual([faultOf('INLAY_READABLE_DIRS', '"here"')]);
  });

  it('is as many at a time as INLAY_MAX_CONCURRENT_SYNCS says, also none', () => {
    expect(configOf({ INLAY_MAX_CONCURRENT_SYNCS: '12' }).maxConcurrentSyncs).toBe(12);
    expect(configOf({ INLAY_MAX_CONCURRENT_SYNCS: '0' }).maxConcurrentSyncs).toBe(0);
    expect(faultsOf({ INLAY_MAX_CONCURRENT_SYNCS: '-1' })).toHaveLength(1);
  });

  it('gives one connector so much memory and so many open files as the settings say', () => {
    expect(configOf({ INLAY_CONNECTOR_MEMORY_MB: '512', INLAY_CONNECTOR_OPEN_FILES: '4096' }).connectorLimits).toEqual({
      memoryBytes: 512 * 1024 ** 2,
      openFiles: 4096,
    });
    expect(faultsOf({ INLAY_CONNECTOR_MEMORY_MB: '100' })).toHaveLength(1);
  });

  it('is shared between workspaces as the settings say', () => {
    const config = configOf({
      INLAY_MAX_CONCURRENT_SYNCS_PER_WORKSPACE: '3',
      INLAY_MAX_CONCURRENT_CHECKS: '8',
      INLAY_MAX_CONCURRENT_CHECKS_PER_WORKSPACE: '1',
      INLAY_MAX_WAITING_PER_WORKSPACE: '5',
      INLAY_CHECK_TIMEOUT_SECONDS: '30',
      INLAY_SYNC_TIMEOUT_SECONDS: '7200',
      INLAY_JOB_TIMEOUT_SECONDS: '9000',
      INLAY_SYNC_TURN_SECONDS: '60',
    });
    expect(config).toMatchObject({
      maxConcurrentSyncsPerWorkspace: 3,
      maxConcurrentChecks: 8,
      maxConcurrentChecksPerWorkspace: 1,
      maxWaitingPerWorkspace: 5,
      checkTimeoutMs: 30_000,
      syncTimeoutMs: 7_200_000,
      jobTimeoutMs: 9_000_000,
      syncTurnMs: 60_000,
    });
    expect(configOf({})).toMatchObject({ jobTimeoutMs: 86_400_000, syncTurnMs: 600_000 });
    // An attempt that may take longer than a day still may.
    expect(configOf({ INLAY_SYNC_TIMEOUT_SECONDS: '100000' })).toMatchObject({ jobTimeoutMs: 100_000_000 });
    expect(faultsOf({ INLAY_CHECK_TIMEOUT_SECONDS: '241', INLAY_SYNC_TIMEOUT_SECONDS: '0' })).toHaveLength(2);
  });
});

describe('LOG_LEVEL', () => {
  it.each(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])('takes %s', (LOG_LEVEL) => {
    expect(configOf({ LOG_LEVEL }).logLevel).toBe(LOG_LEVEL);
  });

  it('refuses anything else', () => {
    expect(faultsOf({ LOG_LEVEL: 'verbose' })).toEqual([faultOf('LOG_LEVEL')]);
  });
});

it.each([
  ['localhost', true],
  ['127.0.0.1', true],
  ['127.1.2.3', true],
  ['::1', true],
  ['[::1]', true],
  ['inlay.localhost', true],
  ['::ffff:127.0.0.1', true],
  ['notlocalhost', false],
  ['localhost.example', false],
  ['0.0.0.0', false],
  ['::', false],
  ['192.168.1.1', false],
  ['inlay.example', false],
])('%s is a loopback address: %s', (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});

describe('A name in the environment that is not ours', () => {
  it.each([
    ['INLAY_DATABSE_URL', 'INLAY_DATABASE_URL'],
    ['INLAY_DATABASEURL', 'INLAY_DATABASE_URL'],
    ['INLAY_DATA_DRI', 'INLAY_DATA_DIR'],
    ['INLAY_DATADIR', 'INLAY_DATA_DIR'],
    ['INALY_DATA_DIR', 'INLAY_DATA_DIR'],
    ['inlay_data_dir', 'INLAY_DATA_DIR'],
    ['INLAY_SERVICE_URI', 'INLAY_SERVICE_URL'],
    ['INLAY_ENCRYPTION_KEYS', 'INLAY_ENCRYPTION_KEY'],
    ['INLAY_TRUSTED_PROXY', 'INLAY_TRUSTED_PROXIES'],
    ['INLAY_METRIC_PORT', 'INLAY_METRICS_PORT'],
    ['INLAY_OPERATOR_TOKENS', 'INLAY_OPERATOR_TOKEN'],
  ])('%s is a misspelling of %s, whatever its value, which is not repeated', (name, meant) => {
    expect(faultsOf({ [name]: 'a-secret' })).toEqual([expect.stringMatching(new RegExp(`${name}\\b.*\\b${meant}\\b`))]);
    // An empty variable counts as unset.
    expect(configOf({ [name]: '' }).unknownNames).toEqual([]);
  });

  it('is reported with all other faults', () => {
    expect(faultsOf({ INLAY_PUBLICURL: 'x', PORT: 'x' })).toHaveLength(2);
  });

  it.each(['INLAY_COLOUR', 'INLAY_DATABASE', 'INLAY_SERVICE_NAME'])('%s is something to warn of', (name) => {
    expect(configOf({ [name]: 'x' }).unknownNames).toEqual([expect.stringContaining(name)]);
  });

  it.each(['HOST', 'LOG_LEVEL'])('INLAY_%s is distinguished from the variable without the prefix', (name) => {
    expect(configOf({ [`INLAY_${name}`]: 'x' }).unknownNames).toEqual([
      expect.stringMatching(new RegExp(`INLAY_${name}\\b.*\\b${name}\\b`)),
    ]);
  });

  it('is ignored if it is the name of a client, or of anybody else', () => {
    const env = { INLAY_URL: 'http://localhost:8080', PATH: '/bin', POST: '1', HOSTS: 'x', OTEL_SERVICE_NAMES: 'x' };
    expect(configOf(env).unknownNames).toEqual([]);
  });

  it.each(['inlay', 'inlay-platform', 'inlay-metrics'])(
    'is ignored if Kubernetes has injected it for a Service named %s',
    (service) => {
      const prefix = service.toUpperCase().replace('-', '_');
      const env = {
        [`${prefix}_SERVICE_HOST`]: '10.0.0.11',
        [`${prefix}_SERVICE_PORT`]: '8000',
        [`${prefix}_SERVICE_PORT_HTTP`]: '8000',
        [`${prefix}_SERVICE_PORT_HTTP_ALT`]: '8001',
        [`${prefix}_PORT`]: 'tcp://10.0.0.11:8000',
        [`${prefix}_PORT_8000_TCP`]: 'tcp://10.0.0.11:8000',
        [`${prefix}_PORT_8000_TCP_PROTO`]: 'tcp',
        [`${prefix}_PORT_8000_TCP_PORT`]: '8000',
        [`${prefix}_PORT_8000_TCP_ADDR`]: '10.0.0.11',
        [`${prefix}_PORT_53_UDP_ADDR`]: '10.0.0.11',
      };
      expect(configOf(env)).toEqual(configOf({}));
    },
  );
});
