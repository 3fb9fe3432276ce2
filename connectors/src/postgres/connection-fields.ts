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
    description: 'The name or address of the server.',
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
    description: 'Whether the connection is encrypted, and whether the server has to prove who it is.',
    default: { mode: 'prefer' },
    group: 'server',
    order: 5,
    oneOf: [
      encryptionMode('disable', 'Never', 'Nothing is encrypted, the password included. For trusted networks only.'),
      encryptionMode('prefer', 'If the server offers it', 'Encrypted where possible; the server is not verified.'),
      encryptionMode('require', 'Always', 'Encrypted, or no connection; the server is not verified.'),
      encryptionMode('verify-full', 'Always, and verify the server', 'Safe against someone posing as the server.', {
        ca_certificate: {
          type: 'string',
          title: 'CA certificate',
          description:
            "The certificate (PEM) that the server's own is signed with. Empty: one of the well-known authorities.",
          multiline: true,
          examples: ['-----BEGIN CERTIFICATE-----'],
          order: 1,
        },
      }),
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
