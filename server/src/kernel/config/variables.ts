/** Every variable of the environment, with its default and its meaning, in the words of docs/reference/configuration.md. */
export const variables = {
  PORT: ['`8080`', 'Port to listen on'],
  HOST: ['`127.0.0.1`', 'Address to listen on; `0.0.0.0` or `::` for all interfaces'],
  INLAY_PUBLIC_URL: [
    '`http://localhost:$PORT`',
    'Public URL of the service: the base of `next` and `widgetUrl`, and the issuer of tokens. Never derived from a request. Changing it invalidates all tokens issued so far',
  ],
  INLAY_DATA_DIR: ['`./data`', 'Directory for SQLite files and generated keys, readable only by its owner'],
  INLAY_DATABASE_URL: ['SQLite in the data directory', 'Database URL, `postgres://…`, to use PostgreSQL 14 or later'],
  INLAY_ORGANIZATION_ID: ['generated on first start', 'Id (UUID) of the first organization'],
  INLAY_OPERATOR_TOKEN: [
    'generated on first start and printed once',
    'First operator token: at least 32 printable ASCII characters, at least 8 of them different',
  ],
  INLAY_VENDOR: ['`inlay`', "Vendor segment of the scoped token's claim `io.<vendor>.auth.workspace_scope`"],
  INLAY_SCOPED_TOKEN_TTL_SECONDS: [
    'no expiry',
    'Lifetime of scoped and widget tokens, and the maximum that a request can set with `expires_in_seconds`',
  ],
  INLAY_PLATFORM_URL: [
    'the bundled platform',
    "Base URL of a hosted platform's public API, for example `https://api.airbyte.com/v1`, or of a separate Inlay platform (`inlay platform`), for example `http://platform.internal:8080/platform/v1`",
  ],
  INLAY_PLATFORM_DATABASE_URL: [
    'SQLite in the data directory',
    'Only for the bundled platform: URL of its database, `postgres://…`. Its tables are in the schema `inlay_platform`, so it can be the database of the service',
  ],
  INLAY_SERVICE_URL: [
    'none; syncs of sources with a customer sign-in wait',
    'Only for `inlay platform`: URL of the service, for example `http://inlay.internal:8080`. Use any replica, or a load balancer in front of them. The platform requests access tokens of customers who signed in from this URL and authenticates with `INLAY_PLATFORM_CLIENT_ID` and `INLAY_PLATFORM_CLIENT_SECRET`',
  ],
  INLAY_PLATFORM_CLIENT_ID: ['generated for the bundled platform', 'Client ID of the application on the platform'],
  INLAY_PLATFORM_CLIENT_SECRET: [
    'generated for the bundled platform',
    'Client secret of that application. For the bundled platform: at least 32 characters, at least 8 of them different',
  ],
  INLAY_PLATFORM_ORGANIZATION_ID: ["the organization's ID", 'ID of the first organization on the platform'],
  INLAY_PLATFORM_SETTLE_SECONDS: [
    '`30`; `0` for the bundled platform',
    'How long the platform may still apply a request whose response was lost. Inlay sends no second create request during this time',
  ],
  INLAY_CONNECTOR_REGISTRY: [
    'the hosted platform if it describes its connectors, otherwise `https://connectors.airbyte.com/files/registries/v0/cloud_registry.json`',
    "URL or file of the registry that describes a hosted platform's connectors. Cached in the data directory and refreshed every hour. Not used with the bundled platform",
  ],
  INLAY_ENCRYPTION_KEY: [
    'generated into the data directory',
    '32 bytes in base64 or hex, used to encrypt stored secrets such as signing keys and connector passwords. Must be the same on every replica. During a key rotation: the new key, a comma, the old key (see docs/reference/storage.md)',
  ],
  INLAY_WORKER_URL: [
    'none',
    'Only for `inlay worker`: URL of the service, or of `inlay platform`, for example `https://inlay.example.com`. Plain `http` only on this machine',
  ],
  INLAY_WORKER_TOKEN: [
    'none; the worker uses its own token once it has joined',
    'Only for `inlay worker`: token from `inlay workers enrol`. May stay set after the worker has joined',
  ],
  INLAY_WORKER_SLOTS: ['value of `INLAY_MAX_CONCURRENT_SYNCS`', 'Only for `inlay worker`: maximum concurrent syncs'],
  INLAY_WORKER_COMMANDS: [
    'none',
    'Only for `inlay worker`: programs of connectors that this machine has, as a JSON object from the name of the connector to program and arguments, for example `{"Ledger": ["/usr/bin/ledger", "--quiet"]}`',
  ],
  INLAY_WORKER_IMAGES: [
    'none',
    'Only for `inlay worker`: comma-separated images of connectors that this machine may run, by digest: `registry/name@sha256:…`',
  ],
  INLAY_RATE_LIMIT_PER_MINUTE: [
    '`1200`',
    'Maximum requests per minute for each scoped token, per process; `0` disables the limit',
  ],
  INLAY_WORKSPACE_RATE_LIMIT_PER_MINUTE: [
    'five times `INLAY_RATE_LIMIT_PER_MINUTE`',
    'Maximum requests per minute for all scoped tokens of a workspace together, per process; `0` disables the limit',
  ],
  INLAY_OPERATOR_RATE_LIMIT_PER_MINUTE: [
    '`0`',
    'Maximum requests per minute for each operator token, per process; `0` disables the limit',
  ],
  INLAY_TRUSTED_PROXIES: ['none', 'Comma-separated IP addresses or networks whose forwarding headers are trusted'],
  INLAY_MAX_CONNECTIONS_PER_ADDRESS: [
    '`1000`',
    'Maximum open connections per client address, per process; `0` disables the limit. Trusted proxies are not counted. All addresses together can have 5,000',
  ],
  INLAY_METRICS_TOKEN: [
    'none; anyone who can reach `/metrics` can read it',
    'Token required to read `/metrics`: at least 32 printable ASCII characters, at least 8 of them different',
  ],
  INLAY_METRICS_PORT: [
    'the port of the service',
    'Separate port for `/metrics`. If set, `/metrics` is not served on `PORT`',
  ],
  INLAY_METRICS_HOST: [
    '`127.0.0.1`',
    'Address to listen on for `INLAY_METRICS_PORT`; `0.0.0.0` or `::` for all interfaces',
  ],
  INLAY_ALLOW_PRIVATE_NETWORKS: [
    '`true` with the bundled platform when both `HOST` and `INLAY_PUBLIC_URL` are on loopback, otherwise `false`',
    'Whether connectors can reach private addresses. They can never reach the service itself. `inlay doctor` shows what they can reach',
  ],
  INLAY_WEBHOOK_ALLOW_PRIVATE_NETWORKS: [
    'value of `INLAY_ALLOW_PRIVATE_NETWORKS`',
    'Whether webhooks can be sent to private addresses and over plain `http`. They can never reach the service itself',
  ],
  INLAY_WEBHOOK_TIMEOUT_SECONDS: ['`15`', 'Timeout for webhook deliveries in seconds, at most 30'],
  INLAY_WEBHOOK_HISTORY_DAYS: ['`14`', 'Days to keep webhook deliveries and responses'],
  INLAY_CUSTOMER_WEBHOOKS: [
    '`false`',
    'Whether customers can manage webhook endpoints for their own workspace with a scoped token',
  ],
  INLAY_CONSOLE: ['`on`', 'Whether the console is available at `/console`: `on` or `off`'],
  INLAY_CONSOLE_CUSTOMER_URL: [
    'none',
    "URL of a customer's page in your own system, for links from the console, for example `https://admin.example.com/customers/{name}`. `{name}` and `{id}` are replaced by the name and id of the workspace. Must be `https`, or `http` on this machine. Applies to the first organization only",
  ],
  INLAY_CONSOLE_OIDC_ISSUER: [
    'none',
    'Issuer URL of your OpenID Connect provider for console sign-in; see [the guide](../guides/console.md#with-your-own-provider)',
  ],
  INLAY_CONSOLE_OIDC_CLIENT_ID: ['none', 'Client ID of Inlay at that provider'],
  INLAY_CONSOLE_OIDC_CLIENT_SECRET: ['none (public client)', 'Client secret of Inlay at that provider'],
  INLAY_CONSOLE_OIDC_SCOPES: ['`openid email profile`', 'Space-separated scopes to request from the provider'],
  INLAY_CONSOLE_OIDC_RULES: [
    'none',
    'Who can sign in: a JSON list of rules with `claim`, `value`, `permission` (`read`, `operator` or `full`) and, if there are several organizations, `organization`. The first matching rule applies',
  ],
  INLAY_READABLE_DIRS: [
    'none',
    'Comma-separated folders on this machine that the file source of the bundled platform can read',
  ],
  INLAY_MAX_CONCURRENT_SYNCS: [
    '`4`',
    'Maximum concurrent syncs in each process of the bundled platform. A quarter of the slots, at least one, is reserved for workspaces without a running sync. With `0`, only workers run syncs',
  ],
  INLAY_MAX_CONCURRENT_SYNCS_PER_WORKSPACE: ['`2`', 'Maximum concurrent syncs per workspace'],
  INLAY_MAX_CONCURRENT_CHECKS: [
    '`4`',
    'Maximum concurrent source checks, per process, and maximum concurrent stream discoveries on the bundled platform. A quarter of the slots, at least one, is reserved for workspaces without a running check',
  ],
  INLAY_MAX_CONCURRENT_CHECKS_PER_WORKSPACE: ['`2`', 'Maximum concurrent checks per workspace'],
  INLAY_MAX_WAITING_PER_WORKSPACE: [
    '`50`',
    'Maximum queued checks, and maximum queued on-demand syncs, per workspace; further requests get 429. Scheduled syncs are never refused',
  ],
  INLAY_CHECK_TIMEOUT_SECONDS: ['`60`', 'Timeout for a running check on the bundled platform in seconds, at most 240'],
  INLAY_SYNC_TIMEOUT_SECONDS: [
    '`86400` (one day)',
    'Timeout in seconds for one attempt of a sync on the bundled platform. Data that the destination has confirmed is kept',
  ],
  INLAY_JOB_TIMEOUT_SECONDS: [
    '`86400` (one day), or `INLAY_SYNC_TIMEOUT_SECONDS` if that is longer',
    'Timeout in seconds for a job on the bundled platform, all attempts together. A job that reaches the limit fails and is not retried; its error names the limit',
  ],
  INLAY_SYNC_TURN_SECONDS: [
    '`600`',
    'Seconds that a sync can hold its slot on the bundled platform while all slots are taken and a workspace without a running sync waits. The longest-running sync then returns to the queue and continues later from its last state; its next turn is twice as long',
  ],
  INLAY_JOB_HISTORY_DAYS: ['`90`', 'Days to keep ended jobs'],
  INLAY_JOB_LOG_DAYS: [
    '`30` on PostgreSQL, otherwise `0`',
    "Days to keep logs of ended jobs in the service's database, compressed, at most 10 MB per job and never longer than the job. With `0`, logs are kept only in the data directory of the bundled platform, for the last 100 jobs of each connection",
  ],
  INLAY_EVENT_DAYS: [
    '`90`',
    'Days to keep events. A reader of `/api/v1/events` that stays away longer gets 410 and must start over',
  ],
  INLAY_AUDIT_DAYS: [
    '`365`',
    'Days to keep audit trail entries, at least `INLAY_EVENT_DAYS`. Only the oldest entries are deleted, up to a signed checkpoint',
  ],
  INLAY_BACKUP_TO: [
    'none',
    'Where backups are kept: an absolute folder path, or `s3://bucket/prefix`. Each deployment, and a separate `inlay platform`, needs a place of its own. See [the guide](../guides/operating.md#back-up-and-restore)',
  ],
  INLAY_BACKUP_SCHEDULE: [
    'none; nothing is backed up automatically',
    'When to back up, as a Quartz cron expression in UTC, for example `0 30 2 * * ?` for every day at 02:30. One replica makes the backup',
  ],
  INLAY_BACKUP_KEEP: [
    '`7`',
    'Number of complete backups to keep in `INLAY_BACKUP_TO`. After each scheduled backup, older ones are deleted, and unfinished ones after a day',
  ],
  INLAY_BACKUP_PASSPHRASE: [
    'none',
    'Passphrase that seals the encryption key in backups, at least 12 characters. Required for scheduled backups unless `INLAY_ENCRYPTION_KEY` is set. Keep a copy outside the deployment',
  ],
  AWS_ACCESS_KEY_ID: ['none', 'Access key ID for backups in `s3://`'],
  AWS_SECRET_ACCESS_KEY: ['none', 'Secret access key for backups in `s3://`'],
  AWS_SESSION_TOKEN: ['none', 'Session token, if the access key is temporary'],
  AWS_REGION: ['`us-east-1`', 'Region of the bucket for backups'],
  AWS_ENDPOINT_URL: ['AWS', 'URL of an S3-compatible store for backups, for example `https://minio.internal:9000`'],
  INLAY_CONNECTOR_MEMORY_MB: [
    '`1024`',
    'Memory limit in megabytes for one connector run on the bundled platform, including its child processes. A connector that exceeds it is stopped, and its job reports this',
  ],
  INLAY_CONNECTOR_OPEN_FILES: [
    '`1024`',
    'Maximum open files and connections per connector process on the bundled platform',
  ],
  LOG_LEVEL: ['`info`', 'Log level: `fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`'],
  OTEL_EXPORTER_OTLP_ENDPOINT: [
    'none; no spans are recorded',
    'URL of an OpenTelemetry collector that accepts OTLP over HTTP, for example `http://localhost:4318`. Spans are sent as JSON to `/v1/traces` below it',
  ],
  OTEL_EXPORTER_OTLP_HEADERS: [
    'none',
    'Request headers for the collector, for example `api-key=secret,tenant=7`; values can be percent-encoded',
  ],
  OTEL_EXPORTER_OTLP_TIMEOUT: ['`10000`', 'Timeout for requests to the collector in milliseconds'],
  OTEL_SERVICE_NAME: ['`inlay`', 'Service name in traces'],
  OTEL_RESOURCE_ATTRIBUTES: [
    'none',
    'Additional resource attributes in traces, for example `deployment.environment.name=production`',
  ],
  OTEL_TRACES_SAMPLER: [
    '`parentbased_always_on`',
    "Which traces are recorded: `always_on`, `always_off`, `traceidratio`, or one of these with the prefix `parentbased_`, which follows the caller's decision if there is one",
  ],
  OTEL_TRACES_SAMPLER_ARG: ['`1`', 'Fraction of traces to record with `traceidratio`, from 0 to 1'],
} as const;

export type Variable = keyof typeof variables;
