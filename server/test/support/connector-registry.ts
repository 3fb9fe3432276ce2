/** A connector registry for tests: connectors with secrets, choices and nested objects, which the bundled ones lack. */
import type { JsonSchema } from '@inlay/contract/catalog/connector-configuration';

export const crmId = 'aaaaaaaa-0000-4000-8000-000000000001';
export const warehouseId = 'bbbbbbbb-0000-4000-8000-000000000001';

const crm: JsonSchema = {
  type: 'object',
  required: ['account', 'credentials'],
  properties: {
    account: { type: 'string', title: 'Account', order: 0 },
    start_date: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\d$', pattern_descriptor: 'YYYY-MM-DD' },
    credentials: {
      type: 'object',
      title: 'Authentication',
      oneOf: [
        {
          title: 'OAuth',
          required: ['method', 'client_secret', 'refresh_token'],
          properties: {
            method: { type: 'string', const: 'oauth' },
            client_secret: { type: 'string', airbyte_secret: true },
            refresh_token: { type: 'string', airbyte_secret: true },
          },
        },
        {
          title: 'Key',
          required: ['method', 'api_key'],
          properties: { method: { type: 'string', const: 'key' }, api_key: { type: 'string', airbyte_secret: true } },
        },
      ],
    },
  },
};

const warehouse: JsonSchema = {
  type: 'object',
  required: ['host', 'password'],
  properties: {
    host: { type: 'string' },
    port: { type: 'integer', minimum: 1, maximum: 65_535 },
    password: { type: 'string', airbyte_secret: true },
  },
};

export const registryDocument = {
  sources: [
    {
      sourceDefinitionId: crmId.toUpperCase(),
      name: 'CRM',
      dockerRepository: 'example/source-crm',
      dockerImageTag: '1.2.3',
      iconUrl: 'https://icons.example/crm.svg',
      documentationUrl: 'https://docs.example/crm',
      supportLevel: 'certified',
      suggestedStreams: { streams: ['contacts'] },
      spec: {
        documentationUrl: 'https://docs.example/crm',
        connectionSpecification: crm,
        advanced_auth: {
          auth_flow_type: 'oauth2.0',
          predicate_key: ['credentials', 'method'],
          predicate_value: 'oauth',
        },
      },
    },
  ],
  destinations: [
    {
      destinationDefinitionId: warehouseId,
      name: 'Warehouse',
      dockerRepository: 'example/destination-warehouse',
      dockerImageTag: '2.0.0',
      spec: { connectionSpecification: warehouse, supported_destination_sync_modes: ['append', 'overwrite'] },
    },
  ],
};

/** A service whose connectors are those of the registry. Its platform is never asked for anything. */
export function registryEnvironment(registry: string): Record<string, string> {
  return {
    INLAY_PLATFORM_URL: 'http://127.0.0.1:9/v1',
    INLAY_PLATFORM_CLIENT_ID: 'id',
    INLAY_PLATFORM_CLIENT_SECRET: 'secret',
    INLAY_CONNECTOR_REGISTRY: registry,
  };
}
