/**
 * Settings of a running service for operators, with their effective values. Secrets are only shown as set or not set.
 * The compiler rejects missing settings.
 */
import type { Config } from './config.ts';
import { type Variable, variables } from './variables.ts';

export interface Setting {
  name: Variable;
  /** Null: it has no value, or the value is a secret. */
  value: string | null;
  isSet: boolean;
  isSecret: boolean;
}

type Value = string | number | boolean | undefined;
const days = (ms: number) => ms / 86_400_000;
const seconds = (ms: number) => ms / 1000;
const secret = 'secret';

/** Part of an address may be a key. */
function withoutQuery(location: string | undefined): string | undefined {
  if (location === undefined || !URL.canParse(location)) return location;
  const url = new URL(location);
  url.search = url.search === '' ? '' : '?…';
  return url.href;
}

const values: Record<Variable, typeof secret | ((config: Config) => Value)> = {
  PORT: ({ port }) => port,
  HOST: ({ host }) => host,
  INLAY_PUBLIC_URL: ({ publicUrl }) => publicUrl,
  INLAY_DATA_DIR: ({ dataDir }) => dataDir,
  INLAY_DATABASE_URL: secret,
  INLAY_ORGANIZATION_ID: ({ organizationId }) => organizationId,
  INLAY_OPERATOR_TOKEN: secret,
  INLAY_VENDOR: ({ vendor }) => vendor,
  INLAY_SCOPED_TOKEN_TTL_SECONDS: ({ scopedTokenTtlSeconds }) => scopedTokenTtlSeconds,
  INLAY_PLATFORM_URL: ({ platformUrl }) => platformUrl,
  INLAY_PLATFORM_DATABASE_URL: secret,
  INLAY_SERVICE_URL: ({ serviceUrl }) => serviceUrl,
  INLAY_PLATFORM_CLIENT_ID: secret,
  INLAY_PLATFORM_CLIENT_SECRET: secret,
  INLAY_PLATFORM_ORGANIZATION_ID: ({ platformOrganizationId }) => platformOrganizationId,
  INLAY_PLATFORM_SETTLE_SECONDS: ({ settleMs }) => seconds(settleMs),
  INLAY_CONNECTOR_REGISTRY: ({ connectorRegistry }) => withoutQuery(connectorRegistry),
  INLAY_ENCRYPTION_KEY: secret,
  INLAY_WORKER_URL: ({ worker }) => worker.url,
  INLAY_WORKER_TOKEN: secret,
  INLAY_WORKER_SLOTS: ({ worker }) => worker.slots,
  INLAY_WORKER_COMMANDS: ({ worker }) => Object.keys(worker.commands).join(','),
  INLAY_WORKER_IMAGES: ({ worker }) => worker.images.join(','),
  INLAY_RATE_LIMIT_PER_MINUTE: ({ rateLimits }) => rateLimits.scopedPerMinute,
  INLAY_WORKSPACE_RATE_LIMIT_PER_MINUTE: ({ rateLimits }) => rateLimits.workspacePerMinute,
  INLAY_OPERATOR_RATE_LIMIT_PER_MINUTE: ({ rateLimits }) => rateLimits.operatorPerMinute,
  INLAY_TRUSTED_PROXIES: ({ trustedProxies }) => trustedProxies.join(','),
  INLAY_MAX_CONNECTIONS_PER_ADDRESS: ({ maxConnectionsPerAddress }) => maxConnectionsPerAddress,
  INLAY_METRICS_TOKEN: secret,
  INLAY_METRICS_PORT: ({ metrics }) => metrics.port,
  INLAY_METRICS_HOST: ({ metrics }) => metrics.host,
  INLAY_ALLOW_PRIVATE_NETWORKS: ({ allowPrivateNetworks }) => allowPrivateNetworks,
  INLAY_WEBHOOK_ALLOW_PRIVATE_NETWORKS: ({ webhooks }) => webhooks.allowPrivateNetworks,
  INLAY_WEBHOOK_TIMEOUT_SECONDS: ({ webhooks }) => seconds(webhooks.timeoutMs),
  INLAY_WEBHOOK_HISTORY_DAYS: ({ webhooks }) => days(webhooks.historyMs),
  INLAY_CUSTOMER_WEBHOOKS: ({ webhooks }) => webhooks.customersMay,
  INLAY_CONSOLE: ({ console: settings }) => (settings ? 'on' : 'off'),
  INLAY_CONSOLE_CUSTOMER_URL: ({ console: settings }) => withoutQuery(settings?.customerUrl),
  INLAY_CONSOLE_OIDC_ISSUER: ({ console: settings }) => settings?.oidc?.issuer,
  INLAY_CONSOLE_OIDC_CLIENT_ID: ({ console: settings }) => settings?.oidc?.clientId,
  INLAY_CONSOLE_OIDC_CLIENT_SECRET: secret,
  INLAY_CONSOLE_OIDC_SCOPES: ({ console: settings }) => settings?.oidc?.scopes,
  // The rules name people and other organizations.
  INLAY_CONSOLE_OIDC_RULES: secret,
  INLAY_READABLE_DIRS: ({ readableDirs }) => readableDirs.join(','),
  INLAY_MAX_CONCURRENT_SYNCS: ({ maxConcurrentSyncs }) => maxConcurrentSyncs,
  INLAY_MAX_CONCURRENT_SYNCS_PER_WORKSPACE: ({ maxConcurrentSyncsPerWorkspace }) => maxConcurrentSyncsPerWorkspace,
  INLAY_MAX_CONCURRENT_CHECKS: ({ maxConcurrentChecks }) => maxConcurrentChecks,
  INLAY_MAX_CONCURRENT_CHECKS_PER_WORKSPACE: ({ maxConcurrentChecksPerWorkspace }) => maxConcurrentChecksPerWorkspace,
  INLAY_MAX_WAITING_PER_WORKSPACE: ({ maxWaitingPerWorkspace }) => maxWaitingPerWorkspace,
  INLAY_CHECK_TIMEOUT_SECONDS: ({ checkTimeoutMs }) => seconds(checkTimeoutMs),
  INLAY_SYNC_TIMEOUT_SECONDS: ({ syncTimeoutMs }) => seconds(syncTimeoutMs),
  INLAY_JOB_TIMEOUT_SECONDS: ({ jobTimeoutMs }) => seconds(jobTimeoutMs),
  INLAY_SYNC_TURN_SECONDS: ({ syncTurnMs }) => seconds(syncTurnMs),
  INLAY_JOB_HISTORY_DAYS: ({ jobHistoryMs }) => days(jobHistoryMs),
  INLAY_JOB_LOG_DAYS: ({ jobLogMs }) => days(jobLogMs),
  INLAY_EVENT_DAYS: ({ eventsMs }) => days(eventsMs),
  INLAY_AUDIT_DAYS: ({ auditMs }) => days(auditMs),
  INLAY_BACKUP_TO: ({ backup }) => backup.to,
  INLAY_BACKUP_SCHEDULE: ({ backup }) => backup.schedule,
  INLAY_BACKUP_KEEP: ({ backup }) => backup.keep,
  INLAY_BACKUP_PASSPHRASE: secret,
  // May have been set for other programs, and concern nobody here.
  AWS_ACCESS_KEY_ID: secret,
  AWS_SECRET_ACCESS_KEY: secret,
  AWS_SESSION_TOKEN: secret,
  AWS_REGION: secret,
  AWS_ENDPOINT_URL: secret,
  INLAY_CONNECTOR_MEMORY_MB: ({ connectorLimits }) => connectorLimits.memoryBytes / 1024 ** 2,
  INLAY_CONNECTOR_OPEN_FILES: ({ connectorLimits }) => connectorLimits.openFiles,
  LOG_LEVEL: ({ logLevel }) => logLevel,
  OTEL_EXPORTER_OTLP_ENDPOINT: ({ telemetry }) => telemetry?.endpoint,
  OTEL_EXPORTER_OTLP_HEADERS: secret,
  OTEL_EXPORTER_OTLP_TIMEOUT: ({ telemetry }) => telemetry?.timeoutMs,
  OTEL_SERVICE_NAME: ({ telemetry }) => telemetry?.resource['service.name'],
  OTEL_RESOURCE_ATTRIBUTES: ({ telemetry }) =>
    telemetry &&
    Object.entries(telemetry.resource)
      .map(([name, value]) => `${name}=${value}`)
      .join(','),
  OTEL_TRACES_SAMPLER: ({ telemetry }) => telemetry?.sampler.name,
  OTEL_TRACES_SAMPLER_ARG: ({ telemetry }) => telemetry?.sampler.ratio,
};

export function listSettings(config: Config): Setting[] {
  return (Object.keys(variables) as Variable[]).map((name) => {
    const read = values[name];
    const value = read === secret ? undefined : read(config);
    return {
      name,
      value: value === undefined || value === '' ? null : String(value),
      isSet: config.given.includes(name),
      isSecret: read === secret,
    };
  });
}
