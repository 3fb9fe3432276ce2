/* The part of a PostgreSQL connector's configuration that says how to connect; source and destination ask the same. */
import type { JsonSchema } from '@inlay/contract/catalog/connector-configuration';

export const connectionGroups = [
  { id: 'server', title: 'Server' },
  { id: 'login', title: 'Login' },
  { id: 'content', title: 'Content' },
];

export const requiredConnectionFields = ['host', 'database', 'username'];

/** Orders 0 to 5 are taken; what a connector adds comes after. */
export const connectionFields: Record<string, JsonSchema> = {
  host: {
    type: 'string',
    title: 'Host',
    description: 'Hostname or IP address of the server.',
    minLength: 1,
    maxLength: 255,
    pattern: '^[^\\s/]+$',
    pattern_descriptor: 'db.example.com',
    examples: ['db.example.com'],
    group: 'server',
    order: 0,
  },
  port: {
    type: 'integer',
    title: 'Port',
    minimum: 1,
    maximum: 65_535,
    default: 5432,
    examples: [5432],
    always_show: true,
    group: 'server',
    order: 1,
  },
  database: {
    type: 'string',
    title: 'Database',
    minLength: 1,
    maxLength: 63,
    examples: ['app'],
    group: 'server',
    order: 2,
  },
  username: { type: 'string', title: 'User', minLength: 1, maxLength: 63, group: 'login', order: 3 },
  password: { type: 'string', title: 'Password', airbyte_secret: true, always_show: true, group: 'login', order: 4 },
  ssl_mode: {
    type: 'object',
    title: 'Encryption',
    description: "Whether to encrypt the connection and verify the server's identity.",
    default: { mode: 'prefer' },
    group: 'server',
    order: 5,
    oneOf: [
      encryptionMode('disable', 'Never', 'Nothing is encrypted, not even the password. Use only on trusted networks.'),
      encryptionMode('prefer', 'If the server supports it', 'Encrypted if possible. The server is not verified.'),
      encryptionMode('require', 'Always', 'Always encrypted. The server is not verified.'),
      encryptionMode(
        'verify-full',
        'Always, and verify the server',
        'Protects against someone impersonating the server.',
        {
          ca_certificate: {
            type: 'string',
            title: 'CA certificate',
            description:
              "The CA certificate (PEM) that signed the server's certificate. Leave empty for a public certificate authority.",
            multiline: true,
            examples: ['-----BEGIN CERTIFICATE-----'],
            order: 1,
          },
        },
      ),
    ],
  },
};

function encryptionMode(mode: string, title: string, description: string, more: Record<string, JsonSchema> = {}) {
  return {
    title,
    description,
    required: ['mode'],
    properties: { mode: { type: 'string', const: mode, order: 0 }, ...more },
  };
}
