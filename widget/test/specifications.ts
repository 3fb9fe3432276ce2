/** Specifications in the manner of well-known connectors, and one for every convention there is. */
import type { JsonSchema } from '@inlay/contract/catalog/connector-configuration';

const sslMode = (
  mode: string,
  description: string,
  more: Record<string, JsonSchema> = {},
  required: string[] = [],
) => ({
  title: mode,
  additionalProperties: true,
  description,
  required: ['mode', ...required],
  properties: { mode: { type: 'string', const: mode, order: 0 }, ...more },
});

const certificate = (title: string, order: number): JsonSchema => ({
  type: 'string',
  title,
  airbyte_secret: true,
  multiline: true,
  order,
});

export const postgresLike: JsonSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Database source',
  type: 'object',
  required: ['host', 'port', 'database', 'username'],
  additionalProperties: true,
  groups: [
    { id: 'db' },
    { id: 'auth', title: 'Login' },
    { id: 'security', title: 'Security' },
    { id: 'advanced', title: 'Advanced' },
  ],
  properties: {
    host: { title: 'Host', description: 'Hostname of the database.', type: 'string', order: 0, group: 'db' },
    port: {
      title: 'Port',
      description: 'Port of the database.',
      type: 'integer',
      minimum: 0,
      maximum: 65_536,
      default: 5432,
      examples: ['5432'],
      order: 1,
      group: 'db',
    },
    database: { title: 'Database Name', description: 'Name of the database.', type: 'string', order: 2, group: 'db' },
    schemas: {
      title: 'Schemas',
      description: 'The list of schemas to sync from. Case sensitive.',
      type: 'array',
      items: { type: 'string' },
      minItems: 0,
      uniqueItems: true,
      order: 3,
      group: 'db',
    },
    username: { title: 'Username', type: 'string', order: 4, group: 'auth' },
    password: { title: 'Password', type: 'string', airbyte_secret: true, order: 5, group: 'auth', always_show: true },
    jdbc_url_params: {
      title: 'Connection parameters (Advanced)',
      description:
        'Additional properties, separated by <code>&</code>. See <a href="https://example.com/docs">the manual</a>.',
      type: 'string',
      order: 6,
      group: 'advanced',
      pattern_descriptor: 'key1=value1&key2=value2',
    },
    ssl_mode: {
      title: 'SSL Modes',
      description: 'How the connection is encrypted. Read about it <a href="https://example.com/ssl">in the docs</a>.',
      type: 'object',
      order: 8,
      group: 'security',
      default: { mode: 'require' },
      oneOf: [
        sslMode('disable', 'Disables encryption of communication.'),
        sslMode('allow', 'Enables encryption only when required by the source.'),
        sslMode('prefer', 'Allows an unencrypted connection only if the source does not support encryption.'),
        sslMode('require', 'Always require encryption.'),
        sslMode(
          'verify-ca',
          'Always require encryption and verify that the source has a valid certificate.',
          {
            ca_certificate: certificate('CA Certificate', 1),
            client_key_password: { type: 'string', title: 'Client key password', airbyte_secret: true, order: 4 },
          },
          ['ca_certificate'],
        ),
        sslMode(
          'verify-full',
          'The most secure mode.',
          {
            ca_certificate: certificate('CA Certificate', 1),
            client_certificate: certificate('Client Certificate', 2),
            client_key: certificate('Client Key', 3),
          },
          ['ca_certificate'],
        ),
      ],
    },
    tunnel_method: {
      type: 'object',
      title: 'SSH Tunnel Method',
      description: 'Whether to open a tunnel before connecting.',
      group: 'security',
      order: 9,
      oneOf: [
        {
          title: 'No Tunnel',
          required: ['tunnel_method'],
          properties: { tunnel_method: { type: 'string', const: 'NO_TUNNEL', order: 0 } },
        },
        {
          title: 'SSH Key Authentication',
          required: ['tunnel_method', 'tunnel_host', 'tunnel_port', 'tunnel_user', 'ssh_key'],
          properties: {
            tunnel_method: { type: 'string', const: 'SSH_KEY_AUTH', order: 0 },
            tunnel_host: { type: 'string', title: 'Jump Server Host', order: 1 },
            tunnel_port: {
              type: 'integer',
              title: 'Port of the jump server',
              minimum: 0,
              maximum: 65_536,
              default: 22,
              order: 2,
            },
            tunnel_user: { type: 'string', title: 'Login Username', order: 3 },
            ssh_key: { type: 'string', title: 'Private Key', airbyte_secret: true, multiline: true, order: 4 },
          },
        },
        {
          title: 'Password Authentication',
          required: ['tunnel_method', 'tunnel_host', 'tunnel_port', 'tunnel_user', 'tunnel_user_password'],
          properties: {
            tunnel_method: { type: 'string', const: 'SSH_PASSWORD_AUTH', order: 0 },
            tunnel_host: { type: 'string', title: 'Jump Server Host', order: 1 },
            tunnel_port: {
              type: 'integer',
              title: 'Port of the jump server',
              minimum: 0,
              maximum: 65_536,
              default: 22,
              order: 2,
            },
            tunnel_user: { type: 'string', title: 'Login Username', order: 3 },
            tunnel_user_password: { type: 'string', title: 'Login Password', airbyte_secret: true, order: 4 },
          },
        },
      ],
    },
  },
};

export const githubLike: JsonSchema = {
  title: 'Code host',
  type: 'object',
  required: ['credentials', 'repositories'],
  additionalProperties: true,
  properties: {
    credentials: {
      title: 'Authentication',
      description: 'Choose how to authenticate.',
      type: 'object',
      order: 0,
      group: 'auth',
      oneOf: [
        {
          type: 'object',
          title: 'OAuth',
          required: ['access_token'],
          properties: {
            option_title: { type: 'string', const: 'OAuth Credentials', order: 0 },
            access_token: { type: 'string', title: 'Access Token', airbyte_secret: true },
          },
        },
        {
          type: 'object',
          title: 'Personal Access Token',
          required: ['personal_access_token'],
          properties: {
            option_title: { type: 'string', const: 'PAT Credentials', order: 0 },
            personal_access_token: {
              type: 'string',
              title: 'Personal Access Tokens',
              description: 'Log in and <a href="https://example.com/tokens">generate a token</a>.',
              airbyte_secret: true,
            },
          },
        },
      ],
    },
    repositories: {
      type: 'array',
      title: 'Repositories',
      description: 'Space for <code>organization/repository</code>.',
      items: { type: 'string', pattern: '^[\\w.-]+/[\\w.*-]+$', pattern_descriptor: 'org/repo org/*' },
      minItems: 1,
      examples: ['acme/rocket', 'acme/*'],
      order: 1,
    },
    start_date: {
      type: 'string',
      title: 'Start date',
      description: 'Data from before is not read.',
      format: 'date-time',
      pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$',
      pattern_descriptor: 'YYYY-MM-DDTHH:mm:ssZ',
      examples: ['2021-03-01T00:00:00Z'],
      order: 2,
    },
    max_waiting_time: {
      type: 'integer',
      title: 'Max waiting time (in minutes)',
      default: 10,
      minimum: 1,
      maximum: 60,
      order: 4,
    },
  },
};

export const sheetsLike: JsonSchema = {
  title: 'Spreadsheet',
  type: 'object',
  required: ['spreadsheet_id', 'credentials'],
  properties: {
    spreadsheet_id: {
      type: 'string',
      title: 'Spreadsheet Link',
      description: "Enter the link. To copy it, click the 'Share' button in the top-right corner.",
      examples: ['https://docs.example.com/spreadsheets/d/1hLd9Qqti3UyLXZB2aFfUWDT7BG/edit'],
    },
    batch_size: { type: 'integer', title: 'Row Batch Size', default: 1_000_000 },
    names_conversion: {
      type: 'boolean',
      title: 'Convert column names',
      description: 'To those that databases take.',
      default: false,
    },
    credentials: {
      type: 'object',
      title: 'Authentication',
      description: 'How the sheet is read.',
      oneOf: [
        {
          title: 'Sign in (OAuth)',
          type: 'object',
          required: ['auth_type', 'client_id', 'client_secret', 'refresh_token'],
          properties: {
            // The older way to say `const`.
            auth_type: { type: 'string', enum: ['Client'] },
            client_id: { title: 'Client ID', type: 'string', airbyte_secret: true },
            client_secret: { title: 'Client Secret', type: 'string', airbyte_secret: true },
            refresh_token: { title: 'Refresh Token', type: 'string', airbyte_secret: true },
          },
        },
        {
          title: 'Service Account Key',
          type: 'object',
          required: ['auth_type', 'service_account_info'],
          properties: {
            auth_type: { type: 'string', enum: ['Service'] },
            service_account_info: {
              type: 'string',
              title: 'Service account information',
              airbyte_secret: true,
              multiline: true,
              examples: ['{ "type": "service_account", "project_id": YOUR_PROJECT_ID }'],
            },
          },
        },
      ],
    },
  },
};

export const stripeLike: JsonSchema = {
  title: 'Payments',
  type: 'object',
  required: ['client_secret', 'account_id'],
  properties: {
    account_id: { type: 'string', title: 'Account ID', pattern: '^acct_', pattern_descriptor: 'acct_…', order: 0 },
    client_secret: {
      type: 'string',
      title: 'Secret Key',
      airbyte_secret: true,
      pattern: '^(s|r)k_(live|test)_[a-zA-Z0-9]+$',
      order: 1,
    },
    start_date: {
      type: 'string',
      title: 'Replication start date',
      format: 'date-time',
      pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$',
      default: '2017-01-25T00:00:00Z',
      always_show: true,
      order: 2,
    },
    lookback_window_days: { type: 'integer', title: 'Lookback Window in days', minimum: 0, default: 0, order: 3 },
    num_workers: {
      type: 'integer',
      title: 'Number of concurrent workers',
      minimum: 1,
      maximum: 20,
      default: 10,
      order: 5,
    },
  },
};

export const everyConvention: JsonSchema = {
  title: 'Everything',
  type: 'object',
  required: ['name', 'secret', 'size', 'region', 'plan', 'streams', 'wanted', 'kind', 'since'],
  additionalProperties: true,
  groups: [
    { id: 'basics', title: 'Basics' },
    { id: 'lists', title: 'Lists' },
  ],
  properties: {
    kind: { type: 'string', const: 'everything' },
    internal: { type: 'string', default: 'kept', airbyte_hidden: true },
    name: { type: 'string', minLength: 2, maxLength: 10, group: 'basics', order: 0, examples: ['Rocket'] },
    mail: { type: 'string', format: 'email', title: 'E-mail', group: 'basics', order: 1, always_show: true },
    website: { type: 'string', format: 'uri', title: 'Website', group: 'basics', order: 2, always_show: true },
    secret: { type: 'string', title: 'Secret', airbyte_secret: true, group: 'basics', order: 3 },
    key: {
      type: 'string',
      title: 'Private key',
      airbyte_secret: true,
      multiline: true,
      group: 'basics',
      order: 4,
      always_show: true,
    },
    size: { type: 'integer', title: 'Size', minimum: 1, maximum: 100, group: 'basics', order: 5 },
    ratio: { type: 'number', title: 'Ratio', exclusiveMinimum: 0, group: 'basics', order: 6, always_show: true },
    region: { type: 'string', title: 'Region', enum: ['eu', 'us', '\t'], group: 'basics', order: 7 },
    active: {
      type: 'boolean',
      title: 'Active',
      description: 'Reads new rows every hour.',
      group: 'basics',
      order: 8,
      always_show: true,
    },
    since: { type: 'string', title: 'Since', format: 'date', group: 'basics', order: 9 },
    note: { type: 'string', title: 'Note', multiline: true, group: 'basics', order: 10 },
    plan: {
      title: 'Plan',
      type: 'object',
      order: 11,
      oneOf: [
        { title: 'Free', description: 'For trying out.', properties: { plan: { const: 'free' } } },
        {
          title: 'Paid',
          description: 'With an <a href="https://example.com/invoice">invoice</a>.',
          required: ['seats'],
          properties: {
            plan: { const: 'paid' },
            seats: { type: 'integer', title: 'Seats', minimum: 1 },
            code: { type: 'string', title: 'Voucher' },
          },
        },
      ],
    },
    tags: {
      type: 'array',
      title: 'Tags',
      items: { type: 'string', minLength: 2 },
      group: 'lists',
      order: 1,
      always_show: true,
    },
    numbers: {
      type: 'array',
      title: 'Numbers',
      items: { type: 'integer' },
      group: 'lists',
      order: 2,
      always_show: true,
    },
    wanted: {
      type: 'array',
      title: 'Wanted',
      items: { type: 'string', enum: ['orders', 'refunds', 'customers'] },
      minItems: 1,
      group: 'lists',
      order: 3,
    },
    streams: {
      type: 'array',
      title: 'Streams',
      description: 'What to read.',
      minItems: 1,
      group: 'lists',
      order: 4,
      items: {
        type: 'object',
        title: 'Stream',
        required: ['name', 'format'],
        properties: {
          name: { type: 'string', title: 'Name', order: 0 },
          format: {
            type: 'object',
            title: 'Format',
            order: 1,
            display_type: 'dropdown',
            oneOf: [
              {
                title: 'CSV',
                required: ['type'],
                properties: { type: { const: 'csv' }, delimiter: { type: 'string', title: 'Delimiter', default: ',' } },
              },
              { title: 'JSON', required: ['type'], properties: { type: { const: 'json' } } },
            ],
          },
        },
      },
    },
    free: { type: 'object', title: 'Free form', group: 'lists', order: 5 },
    proxy: {
      type: 'object',
      title: 'Proxy',
      group: 'lists',
      order: 6,
      required: ['host'],
      properties: {
        host: { type: 'string', title: 'Proxy host' },
        port: { type: 'integer', title: 'Proxy port', default: 8080 },
      },
    },
  },
};
