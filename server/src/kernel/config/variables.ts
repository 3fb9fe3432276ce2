/** Every variable of the environment, with its default and its meaning, in the words of docs/reference/configuration.md. */
export const variables = {
  PORT: ['`8080`', 'Port to listen on'],
  HOST: ['`127.0.0.1`', 'Address to listen on. `0.0.0.0` or `::` for all'],
  INLAY_PUBLIC_URL: [
    '`http://localhost:$PORT`',
    'Public URL of the service: the base of `next`, `widgetUrl` and the token issuer. Never taken from a request. Changing it invalidates existing tokens',
  ],
  INLAY_DATA_DIR: ['`./data`', 'Directory for SQLite files and generated keys, readable by their owner only'],
  INLAY_DATABASE_URL: ['SQLite in the data directory', '`postgres://…` URL to run on PostgreSQL 14 or later'],
  INLAY_ORGANIZATION_ID: ['generated on the first start', 'Id (UUID) of the first organization'],
  INLAY_OPERATOR_TOKEN: [
    'generated on the first start and printed once',
    'First operator token: at least 32 visible ASCII characters, at least 8 of them different',
  ],
  INLAY_VENDOR: ['`inlay`', "Vendor segment of the scoped token's claim `io.<vendor>.auth.workspace_scope`"],
  INLAY_SCOPED_TOKEN_TTL_SECONDS: [
    'no expiry',
    'Lifetime of scoped and widget tokens, and the maximum for `expires_in_seconds` in requests',
  ],
  INLAY_PLATFORM_URL: [
    'the bundled platform',
    "Base URL of a hosted platform's public API, for example `https://api.airbyte.com/v1`, or of a standalone Inlay platform (`inlay platform`), for example `http://platform.internal:8080/platform/v1`",
  ],
  INLAY_SERVICE_URL: [
    'none: sources whose customers signed in wait',
    'Only for `inlay platform`: URL of the service, for example `http://inlay.internal:8080`. Any replica, or a load balancer in front of them. The platform requests access tokens of signed-in customers there, with `INLAY_PLATFORM_CLIENT_ID` and `INLAY_PLATFORM_CLIENT_SECRET`',
  ],
  INLAY_PLATFORM_CLIENT_ID: ['generated for the bundled platform', 'Client id of the application on the platform'],
  INLAY_PLATFORM_CLIENT_SECRET: [
    'generated for the bundled platform',
    'Client secret of that application. For the bundled platform: at least 32 characters, at least 8 of them different',
  ],
  INLAY_PLATFORM_ORGANIZATION_ID: ["the organization's id", 'Id of the first organization on the platform'],
  INLAY_PLATFORM_SETTLE_SECONDS: [
    '`30`; `0` for the bundled platform',
    'How long the platform may still apply a request after its response was lost. No second create is sent within that time',
  ],
  INLAY_CONNECTOR_REGISTRY: [
    'the hosted platform itself if it describes its connectors, else `https://connectors.airbyte.com/files/registries/v0/cloud_registry.json`',
    "URL or file of the registry that describes a hosted platform's connectors. Cached in the data directory and refreshed every hour. Not used with the bundled platform",
  ],
  INLAY_ENCRYPTION_KEY: [
    'generated into the data directory',
    'Key that encrypts stored secrets such as signing keys and connector passwords: 32 bytes in base64 or hex, the same for every replica. While replacing the key: the new key, a comma, the old key (see docs/reference/storage.md)',
  ],
  INLAY_RATE_LIMIT_PER_MINUTE: ['`1200`', 'Requests per scoped token and minute, per process. `0` disables the limit'],
  INLAY_WORKSPACE_RATE_LIMIT_PER_MINUTE: [
    'five times `INLAY_RATE_LIMIT_PER_MINUTE`',
    'Requests per minute of all scoped tokens of one workspace together, per process. `0` disables the limit',
  ],
  INLAY_OPERATOR_RATE_LIMIT_PER_MINUTE: [
    '`0`',
    'Requests per operator token and minute, per process. `0` disables the limit',
  ],
  INLAY_TRUSTED_PROXIES: [
    'none',
    'Trusted proxies: addresses or networks, separated by commas, whose forwarding headers are used',
  ],
  INLAY_MAX_CONNECTIONS_PER_ADDRESS: [
    '`1000`',
    'Maximum number of open connections per client address and process. `0` disables the limit. Trusted proxies are exempt. All addresses together are limited to 5,000',
  ],
  INLAY_METRICS_TOKEN: [
    'none: anybody who can reach `/metrics` can read it',
    'Token that protects `/metrics`: at least 32 visible ASCII characters, at least 8 of them different',
  ],
  INLAY_METRICS_PORT: [
    'the port of the service',
    'Separate port for `/metrics`, which is then not available on the main port',
  ],
  INLAY_METRICS_HOST: ['`127.0.0.1`', 'Address to listen on for `INLAY_METRICS_PORT`. `0.0.0.0` or `::` for all'],
  INLAY_ALLOW_PRIVATE_NETWORKS: [
    '`true` with the bundled platform when both `HOST` and `INLAY_PUBLIC_URL` are on loopback, else `false`',
    'Whether connectors may reach private addresses. They can never reach the service itself. Run `inlay doctor` to see what they can reach',
  ],
  INLAY_WEBHOOK_ALLOW_PRIVATE_NETWORKS: [
    'what `INLAY_ALLOW_PRIVATE_NETWORKS` is',
    'Whether webhooks may be sent to private addresses and over plain `http`. They can never reach the service itself',
  ],
  INLAY_WEBHOOK_TIMEOUT_SECONDS: ['`15`', 'Maximum time for a webhook receiver to respond, at most 30'],
  INLAY_WEBHOOK_HISTORY_DAYS: ['`14`', "How many days receivers' responses are kept"],
  INLAY_CUSTOMER_WEBHOOKS: [
    '`false`',
    'Whether customers may create webhook endpoints for their own workspace with a scoped token',
  ],
  INLAY_CONSOLE: ['`on`', 'Whether the console is available at `/console`: `on` or `off`'],
  INLAY_CONSOLE_CUSTOMER_URL: [
    'none',
    "URL of a customer's page in your own system, which the console links to, such as `https://admin.example.com/customers/{name}`. `{name}` and `{id}` are replaced by the name and id of the workspace. `https`, or `http` on this machine. First organization only",
  ],
  INLAY_CONSOLE_OIDC_ISSUER: [
    'none',
    'Issuer of your identity provider (OpenID Connect) for signing in to the console. See [the guide](../guides/console.md#with-your-own-provider)',
  ],
  INLAY_CONSOLE_OIDC_CLIENT_ID: ['none', 'Client id of the service at that provider'],
  INLAY_CONSOLE_OIDC_CLIENT_SECRET: ['none: a public client', 'Client secret of the service at that provider'],
  INLAY_CONSOLE_OIDC_SCOPES: ['`openid email profile`', 'Scopes to request from the provider, separated by spaces'],
  INLAY_CONSOLE_OIDC_RULES: [
    'none',
    'Who may sign in: a JSON list of rules with `claim`, `value`, `permission` (`read`, `operator` or `full`) and, if there are several, `organization`. The first matching rule applies',
  ],
  INLAY_READABLE_DIRS: [
    'none',
    'Directories, separated by commas, that the file source of the bundled platform may read',
  ],
  INLAY_MAX_CONCURRENT_SYNCS: [
    '`4`',
    'Maximum number of concurrent syncs on the bundled platform. A quarter of them, at least one, is reserved for workspaces with none running',
  ],
  INLAY_MAX_CONCURRENT_SYNCS_PER_WORKSPACE: ['`2`', 'Maximum number of concurrent syncs per workspace'],
  INLAY_MAX_CONCURRENT_CHECKS: [
    '`4`',
    'Maximum number of concurrent source checks per process, and of concurrent stream discoveries on the bundled platform. A quarter of them, at least one, is reserved for workspaces with none running',
  ],
  INLAY_MAX_CONCURRENT_CHECKS_PER_WORKSPACE: ['`2`', 'Maximum number of concurrent checks per workspace'],
  INLAY_MAX_WAITING_PER_WORKSPACE: [
    '`50`',
    'Maximum number of queued checks, and of queued manual syncs, per workspace. Further ones return 429. Scheduled syncs are never refused',
  ],
  INLAY_CHECK_TIMEOUT_SECONDS: ['`60`', 'Maximum duration of a check on the bundled platform, at most 240'],
  INLAY_SYNC_TIMEOUT_SECONDS: [
    '`86400`, a day',
    'Maximum duration of a sync attempt on the bundled platform. What the destination has confirmed by then is kept',
  ],
  INLAY_JOB_TIMEOUT_SECONDS: [
    '`86400`, a day, or `INLAY_SYNC_TIMEOUT_SECONDS` if that is longer',
    'Maximum duration of a job on the bundled platform, across all attempts. A job that reaches the limit fails with a message that names it, and is not retried',
  ],
  INLAY_SYNC_TURN_SECONDS: [
    '`600`',
    'How long a sync keeps its slot on the bundled platform while every slot is taken and a workspace with none running waits. The longest-running sync then returns to the queue and continues later from its last state; its next turn is twice as long',
  ],
  INLAY_JOB_HISTORY_DAYS: ['`90`', 'How many days the service keeps a job after it ended'],
  INLAY_JOB_LOG_DAYS: [
    '`30` on PostgreSQL, else `0`',
    "How many days the service's own database keeps a job's log after it ended, compressed, at most 10 MB per job and never longer than the job. `0`: logs are only kept by the bundled platform, in its data directory, for the last 100 jobs of a connection",
  ],
  INLAY_EVENT_DAYS: [
    '`90`',
    'How many days events can be read. A reader of `/api/v1/events` that is away for longer gets 410 and has to start over',
  ],
  INLAY_AUDIT_DAYS: [
    '`365`',
    'How many days the audit trail keeps its entries, at least `INLAY_EVENT_DAYS`. Only the oldest entries are deleted, up to a signed checkpoint',
  ],
  INLAY_CONNECTOR_MEMORY_MB: [
    '`1024`',
    'Maximum memory in megabytes of a connector run on the bundled platform, including child processes. A connector that exceeds it is stopped, and its job says so',
  ],
  INLAY_CONNECTOR_OPEN_FILES: [
    '`1024`',
    'Maximum number of open files and connections per connector process on the bundled platform',
  ],
  LOG_LEVEL: ['`info`', '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`'],
  OTEL_EXPORTER_OTLP_ENDPOINT: [
    'none: no spans are recorded',
    'URL of an OpenTelemetry collector that accepts OTLP over HTTP, for example `http://localhost:4318`. Spans are sent to `/v1/traces` below it, as JSON',
  ],
  OTEL_EXPORTER_OTLP_HEADERS: [
    'none',
    'Headers for the collector, such as `api-key=secret,tenant=7`. Values may be percent-encoded',
  ],
  OTEL_EXPORTER_OTLP_TIMEOUT: ['`10000`', 'Timeout of the collector in milliseconds'],
  OTEL_SERVICE_NAME: ['`inlay`', 'Name of the service in traces'],
  OTEL_RESOURCE_ATTRIBUTES: [
    'none',
    'Additional attributes of the service in traces, such as `deployment.environment.name=production`',
  ],
  OTEL_TRACES_SAMPLER: [
    '`parentbased_always_on`',
    'Which traces are recorded: `always_on`, `always_off`, `traceidratio`, or `parentbased_` and one of these, which follows the decision of the caller where there is one',
  ],
  OTEL_TRACES_SAMPLER_ARG: ['`1`', 'The share of traces for `traceidratio`, from 0 to 1'],
} as const;

export type Variable = keyof typeof variables;
