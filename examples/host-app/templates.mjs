// What Harbor's customers can connect on each plan, and where their data goes. Safe to run again: existing templates are kept,
// except for the address of the test provider.

const definitions = {
  sampleData: '5d3a1c52-6f0e-4b8e-9a61-2c7f4e0b9d14',
  file: '742c4fde-cd3a-4b95-9f9d-de63de14acb3',
  httpApi: '4dae2d0e-d1c3-49e9-91f2-23f8d5661568',
  postgres: '9e0b7c34-52a1-4d6f-b8e3-1f46a7d05c92',
  localFiles: 'c1f7b0a6-93d4-4e27-8b5c-70d2e6a3f815',
};

const everyFiveMinutes = '0 0/5 * * * ?';

/** @param {string} ordersFile a CSV file on Inlay's machine, in a folder Inlay may read */
const sourceTemplates = (ordersFile) => [
  {
    name: 'Online shop',
    actor_definition_id: definitions.sampleData,
    partial_default_config: { seed: 7 },
    tags: ['free', 'pro'],
  },
  {
    // Slow enough to watch.
    name: 'Loyalty program',
    actor_definition_id: definitions.sampleData,
    partial_default_config: { seed: 21, records_per_second: 400 },
    tags: ['free', 'pro'],
  },
  {
    name: 'Cash register',
    actor_definition_id: definitions.file,
    partial_default_config: {
      stream_name: 'orders',
      location: { type: 'path', path: ordersFile },
      format: { type: 'csv' },
      primary_key: ['order_id'],
    },
    tags: ['free', 'pro'],
  },
  {
    name: 'CSV or JSON file',
    actor_definition_id: definitions.file,
    partial_default_config: {},
    tags: ['free', 'pro'],
  },
  {
    name: 'PostgreSQL',
    actor_definition_id: definitions.postgres,
    partial_default_config: {},
    tags: ['pro'],
  },
  {
    name: 'JSON API',
    actor_definition_id: definitions.httpApi,
    partial_default_config: {},
    tags: ['pro'],
  },
];

const connectionTemplates = [
  {
    destination_name: 'Harbor',
    destination_definition_id: definitions.localFiles,
    destination_config: { path: 'exports' },
    namespace_format: '',
    cron_expression: everyFiveMinutes,
    sync_on_create: true,
  },
];

/**
 * The OAuth client for the test provider (examples/test-provider), and a template that signs in with it.
 * @param {{ url: string, clientId: string, clientSecret: string }} provider
 */
const signIn = ({ url, clientId, clientSecret }) => ({
  client: {
    name: 'Ledgerline',
    client_id: clientId,
    client_secret: clientSecret,
    endpoints: {
      authorization_url: `${url}/authorize`,
      token_url: `${url}/token`,
      revocation_url: `${url}/revoke`,
      account: { url: `${url}/me`, id: ['id'], label: ['email'] },
    },
  },
  template: {
    name: 'Ledgerline',
    actor_definition_id: definitions.httpApi,
    partial_default_config: {
      base_url: url,
      authentication: { type: 'bearer' },
      streams: [
        {
          name: 'invoices',
          path: '/invoices',
          primary_key: ['id'],
          pagination: { type: 'page' },
        },
      ],
    },
    tags: ['free', 'pro'],
  },
  oauth: { scopes: ['invoices.read'], fields: { access_token: ['authentication', 'token'] } },
});

/**
 * @param {{ inlayUrl: string, operatorToken: string, ordersFile: string,
 *   provider?: Parameters<typeof signIn>[0] }} options `provider`: where customers can sign in
 */
export async function ensureTemplates({ inlayUrl, operatorToken, ordersFile, provider }) {
  /** @param {string} path @param {object} [body] @param {string} [method] @returns {Promise<any>} */
  async function call(path, body, method = body ? 'POST' : 'GET') {
    const response = await fetch(`${inlayUrl}/api/v1/integrations/${path}`, {
      method,
      headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    });
    if (!response.ok) throw new Error(`Inlay answered ${response.status} to ${path}: ${await response.text()}`);
    return response.json();
  }

  const sources = (await call('templates/sources')).data;
  for (const template of sourceTemplates(ordersFile)) {
    if (!sources.some(({ name }) => name === template.name)) await call('templates/sources', template);
  }
  const connections = (await call('templates/connections')).data;
  for (const template of connectionTemplates) {
    const isThere = connections.some(({ destination_name }) => destination_name === template.destination_name);
    if (!isThere) await call('templates/connections', template);
  }
  if (!provider) return;
  const { client, template, oauth } = signIn(provider);
  const known = sources.find(({ name }) => name === template.name);
  if (!known) {
    const { id } = await call('oauth/clients', client);
    await call('templates/sources', { ...template, oauth: { oauth_client_id: id, ...oauth } });
    return;
  }
  const registered = (await call('oauth/clients')).data.find(({ name }) => name === client.name);
  if (!registered || registered.endpoints.token_url === client.endpoints.token_url) return;
  // The provider's address has changed. A secret is bound to its addresses, so send it again.
  await call(`oauth/clients/${registered.id}`, client, 'PATCH');
  const { partial_default_config } = template;
  await call(`templates/sources/${known.id}`, { partial_default_config, propagate: true }, 'PATCH');
}
