/** Every variable of the environment, with its default and its meaning, in the words of docs/reference/configuration.md. */
export const variables = {
  PORT: ['`8080`', 'Port to listen on'],
  HOST: ['`127.0.0.1`', 'Address to listen on; `0.0.0.0` or `::` for all'],
  INLAY_PUBLIC_URL: [
    '`http://localhost:$PORT`',
    'Address under which others reach the service: the base of `next`, `widgetUrl` and the issuer of tokens. Never taken from a request. Changing it ends the tokens issued so far',
  ],
  INLAY_DATA_DIR: ['`./data`', 'SQLite files and generated keys, readable by their owner only'],
  INLAY_DATABASE_URL: ['SQLite in the data directory', '`postgres://…` to run on PostgreSQL 14 or later'],
  INLAY_ORGANIZATION_ID: ['generated on the first start', 'Id (UUID) of the first organization'],
  INLAY_OPERATOR_TOKEN: [
    'generated on the first start and printed once',
    'First operator token: 32 or more visible ASCII characters, 8 or more of them different',
  ],
  INLAY_VENDOR: ['`inlay`', "Vendor segment of the scoped token's claim `io.<vendor>.auth.workspace_scope`"],
  INLAY_SCOPED_TOKEN_TTL_SECONDS: [
    'no expiry',
    'Lifetime of scoped and widget tokens, and the longest that a request may ask for with `expires_in_seconds`',
  ],
  INLAY_PLATFORM_URL: [
    'the bundled platform',
    "Base of a hosted platform's public API, for example `https://api.airbyte.com/v1`, or of an Inlay platform that runs alone (`inlay platform`), for example `http://platform.internal:8080/platform/v1`",
  ],
  INLAY_SERVICE_URL: [
    'none: sources whose customers signed in wait',
    'Only for `inlay platform`: where it reaches the service, for example `http://inlay.internal:8080`. Any replica, or an address in front of all of them. It asks there for the access tokens of customers who signed in, with the credentials of `INLAY_PLATFORM_CLIENT_ID` and `INLAY_PLATFORM_CLIENT_SECRET`',
  ],
  INLAY_PLATFORM_CLIENT_ID: ['generated for the bundled platform', 'Client id of the application on the platform'],
  INLAY_PLATFORM_CLIENT_SECRET: [
    'generated for the bundled platform',
    'Client secret of that application. For the bundled platform: 32 or more characters, 8 or more of them different',
  ],
  INLAY_PLATFORM_ORGANIZATION_ID: ["the organization's id", 'Id of the first organization on the platform'],
  INLAY_PLATFORM_SETTLE_SECONDS: [
    '`30`; `0` for the bundled platform',
    'How long the platform may still apply a request after its answer was lost. No second create is sent within that time',
  ],
  INLAY_CONNECTOR_REGISTRY: [
    'the hosted platform itself if it describes its connectors, else `https://connectors.airbyte.com/files/registries/v0/cloud_registry.json`',
    "URL or file of the registry that describes a hosted platform's connectors. Kept in the data directory and asked again every hour. Not used with the bundled platform",
  ],
  INLAY_ENCRYPTION_KEY: [
    'generated into the data directory',
    '32 bytes in base64 or hex; encrypts stored secrets such as signing keys and connector passwords. The same for every replica. While the key is being replaced: the new key, a comma, the old key (docs/reference/storage.md says how)',
  ],
  INLAY_RATE_LIMIT_PER_MINUTE: ['`1200`', 'Requests per scoped token and minute, per process; `0` is off'],
  INLAY_WORKSPACE_RATE_LIMIT_PER_MINUTE: [
    'five times `INLAY_RATE_LIMIT_PER_MINUTE`',
    'Requests per minute of all scoped tokens of one workspace together, per process; `0` is off',
  ],
  INLAY_OPERATOR_RATE_LIMIT_PER_MINUTE: ['`0`', 'Requests per operator token and minute, per process; `0` is off'],
  INLAY_TRUSTED_PROXIES: ['none', 'Addresses or networks, separated by commas, whose forwarding headers count'],
  INLAY_MAX_CONNECTIONS_PER_ADDRESS: [
    '`1000`',
    'Connections that one client address may have open at a time, per process; `0` is off. Trusted proxies are not counted. All addresses together may have 5,000',
  ],
  INLAY_METRICS_TOKEN: [
    'none: everybody who reaches `/metrics` may read it',
    'Token that `/metrics` asks for: 32 or more visible ASCII characters, 8 or more of them different',
  ],
  INLAY_METRICS_PORT: [
    'the port of the service',
    'A separate port for `/metrics`. The port of the service then has no `/metrics`',
  ],
  INLAY_METRICS_HOST: ['`127.0.0.1`', 'Address that `INLAY_METRICS_PORT` is on; `0.0.0.0` or `::` for all'],
  INLAY_ALLOW_PRIVATE_NETWORKS: [
    '`true` with the bundled platform when both `HOST` and `INLAY_PUBLIC_URL` are on loopback, else `false`',
    'Whether connectors may reach private addresses. They never reach the service itself. `inlay doctor` says what they may reach',
  ],
  INLAY_WEBHOOK_ALLOW_PRIVATE_NETWORKS: [
    'what `INLAY_ALLOW_PRIVATE_NETWORKS` is',
    'Whether webhooks may be sent to private addresses, and by plain `http`. They never reach the service itself',
  ],
  INLAY_WEBHOOK_TIMEOUT_SECONDS: ['`15`', 'How long a receiver of a webhook may take to answer, at most 30'],
  INLAY_WEBHOOK_HISTORY_DAYS: ['`14`', 'How many days the answers of receivers are kept'],
  INLAY_CUSTOMER_WEBHOOKS: [
    '`false`',
    'Whether customers may have webhook endpoints for their own workspace, with a scoped token',
  ],
  INLAY_CONSOLE: ['`on`', 'Whether there is a console at `/console`: `on` or `off`'],
  INLAY_CONSOLE_CUSTOMER_URL: [
    'none',
    'Page of a customer in your own system, to which the console then links, as in `https://admin.example.com/customers/{name}`. `{name}` and `{id}` stand for the name and the id of the workspace. `https`, or `http` on this machine; for the first organization only',
  ],
  INLAY_CONSOLE_OIDC_ISSUER: [
    'none',
    'Issuer of your own provider (OpenID Connect), with which people sign in to the console; see [the guide](../guides/console.md#with-your-own-provider)',
  ],
  INLAY_CONSOLE_OIDC_CLIENT_ID: ['none', 'Client id of the service at that provider'],
  INLAY_CONSOLE_OIDC_CLIENT_SECRET: ['none: a public client', 'Client secret of the service at that provider'],
  INLAY_CONSOLE_OIDC_SCOPES: ['`openid email profile`', 'What the provider is asked for, with spaces between'],
  INLAY_CONSOLE_OIDC_RULES: [
    'none',
    'Who gets in: a JSON list of rules with `claim`, `value`, `permission` (`read`, `operator` or `full`) and, if there are several, `organization`. The first rule that fits counts',
  ],
  INLAY_READABLE_DIRS: [
    'none',
    'Folders of this machine, separated by commas, that the file source of the bundled platform may read',
  ],
  INLAY_MAX_CONCURRENT_SYNCS: [
    '`4`',
    'How many syncs the bundled platform runs at a time. A quarter, at least one, is kept for workspaces that have none running',
  ],
  INLAY_MAX_CONCURRENT_SYNCS_PER_WORKSPACE: ['`2`', 'How many syncs of one workspace run at a time'],
  INLAY_MAX_CONCURRENT_CHECKS: [
    '`4`',
    'How many checks of sources run at a time, per process, and how many sources the bundled platform asks for their streams at a time. A quarter, at least one, is kept for workspaces that have none running',
  ],
  INLAY_MAX_CONCURRENT_CHECKS_PER_WORKSPACE: ['`2`', 'How many checks of one workspace run at a time'],
  INLAY_MAX_WAITING_PER_WORKSPACE: [
    '`50`',
    'How many checks, and how many syncs that were asked for, may wait in one workspace; more are refused with 429. Scheduled syncs are never refused',
  ],
  INLAY_CHECK_TIMEOUT_SECONDS: [
    '`60`',
    'How long a check may take on the bundled platform once it has started, at most 240',
  ],
  INLAY_SYNC_TIMEOUT_SECONDS: [
    '`86400`, a day',
    'How long one attempt of a sync may take on the bundled platform. What the destination has confirmed until then is kept',
  ],
  INLAY_JOB_TIMEOUT_SECONDS: [
    '`86400`, a day, or `INLAY_SYNC_TIMEOUT_SECONDS` if that is longer',
    'How long a job of the bundled platform may run, all attempts together. A job that reaches the limit fails, names the limit, and is not retried',
  ],
  INLAY_SYNC_TURN_SECONDS: [
    '`600`',
    'How long a sync keeps its slot on the bundled platform while every slot is taken and a workspace with none running waits. The longest-running sync then returns to the queue and continues later from its last state; its next turn is twice as long',
  ],
  INLAY_JOB_HISTORY_DAYS: ['`90`', 'How many days the service keeps a job after its end'],
  INLAY_JOB_LOG_DAYS: [
    '`30` on PostgreSQL, else `0`',
    "How many days the service's own database keeps the log of a job after its end, compressed, at most 10 MB of a job; never longer than the job. `0`: logs are only where the bundled platform runs, in its data directory, for the last 100 jobs of a connection",
  ],
  INLAY_EVENT_DAYS: [
    '`90`',
    'How many days events can be read. A reader of `/api/v1/events` that is away for longer gets 410 and begins anew',
  ],
  INLAY_AUDIT_DAYS: [
    '`365`',
    'How many days the audit trail keeps its entries; never shorter than `INLAY_EVENT_DAYS`. Only a beginning is deleted, up to a signed checkpoint',
  ],
  INLAY_CONNECTOR_MEMORY_MB: [
    '`1024`',
    'Megabytes of memory that one run of a connector of the bundled platform may use, with all that it starts. A connector that needs more is stopped, and its job says so',
  ],
  INLAY_CONNECTOR_OPEN_FILES: [
    '`1024`',
    'Files and connections that one process of a connector of the bundled platform may have open',
  ],
  LOG_LEVEL: ['`info`', '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`'],
  OTEL_EXPORTER_OTLP_ENDPOINT: [
    'none: no spans are recorded',
    'Address of a collector of OpenTelemetry that takes OTLP over HTTP, for example `http://localhost:4318`. Spans go to `/v1/traces` below it, as JSON',
  ],
  OTEL_EXPORTER_OTLP_HEADERS: [
    'none',
    'Headers for the collector, as in `api-key=secret,tenant=7`; values may be percent-encoded',
  ],
  OTEL_EXPORTER_OTLP_TIMEOUT: ['`10000`', 'Milliseconds that the collector may take to answer'],
  OTEL_SERVICE_NAME: ['`inlay`', 'Name of the service in traces'],
  OTEL_RESOURCE_ATTRIBUTES: [
    'none',
    'More attributes of the service in traces, as in `deployment.environment.name=production`',
  ],
  OTEL_TRACES_SAMPLER: [
    '`parentbased_always_on`',
    'Which traces are recorded: `always_on`, `always_off`, `traceidratio`, or `parentbased_` and one of these, which follows the decision of the caller where there is one',
  ],
  OTEL_TRACES_SAMPLER_ARG: ['`1`', 'The share of traces for `traceidratio`, from 0 to 1'],
} as const;

export type Variable = keyof typeof variables;
