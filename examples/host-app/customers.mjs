// More customers for the demo: some healthy, some failing, each for a different reason. Created once through the public API;
// existing customers are not changed.

import { setTimeout as delay } from 'node:timers/promises';
import { signInByLink } from './sign-in.mjs';

/**
 * @typedef {object} DemoCustomer
 * @property {string} name
 * @property {{ template: string, name: string, config: object }[]} sources
 * @property {'inactive'} [status] status of the workspace once its sources exist
 * @property {{ template: string, account: string }} [signsIn] signs in with the test provider; the account removes the app later
 */

/** @param {string} providerUrl @returns {DemoCustomer[]} */
const customers = (providerUrl) => {
  const shop = (/** @type {number} */ count) => ({ template: 'Online shop', name: 'Shop', config: { count } });
  const register = { template: 'Cash register', name: 'Till', config: {} };
  /** @param {string} base_url @param {string} token */
  const api = (base_url, token) => ({
    template: 'JSON API',
    name: 'Bookkeeping',
    config: {
      base_url,
      authentication: { type: 'bearer', token },
      streams: [{ name: 'invoices', path: '/invoices', primary_key: ['id'] }],
    },
  });
  return [
    { name: 'northwind-bikes', sources: [shop(2_000), register] },
    { name: 'blue-harbour-hotel', sources: [shop(500)] },
    { name: 'luna-pharmacy', sources: [register] },
    { name: 'green-valley-dairy', sources: [shop(1_000)] },
    // Wrong token: the customer has to enter another one.
    { name: 'pixel-print', sources: [api(providerUrl, 'expired-token'), shop(100)] },
    { name: 'atlas-freight', sources: [api(providerUrl, 'mistyped-token')] },
    // Unknown host: the address is wrong.
    { name: 'maple-books', sources: [api('http://books.maple.invalid', 'token')] },
    { name: 'orion-travel', sources: [api('http://api.orion.invalid', 'token')] },
    // Connection refused: may be transient, so syncs are retried.
    { name: 'copper-kitchen', sources: [api('http://localhost:9', 'token')] },
    // Suspended by the operator.
    { name: 'winter-sports-club', sources: [shop(300)], status: 'inactive' },
    // Nothing connected yet.
    { name: 'tiny-tailor', sources: [] },
    // Signed in, then removed the app at the provider: the customer has to sign in again.
    { name: 'falcon-couriers', sources: [], signsIn: { template: 'Ledgerline', account: '3' } },
  ];
};

/** The first sync of a source takes seconds. */
const patienceMs = 120_000;

/**
 * @param {{ inlayUrl: string, operatorToken: string, provider: { url: string, endGrants(account: string): void },
 *   signal?: AbortSignal }} options
 */
export async function ensureCustomers({ inlayUrl, operatorToken, provider, signal }) {
  /** @param {string} method @param {string} path @param {object} [body] @returns {Promise<any>} */
  async function call(method, path, body) {
    const timeout = AbortSignal.timeout(30_000);
    const response = await fetch(`${inlayUrl}/api/v1/${path}`, {
      method,
      headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    if (!response.ok) throw new Error(`Inlay answered ${response.status} to ${path}: ${await response.text()}`);
    return response.json();
  }

  const { data: templates } = await call('GET', 'integrations/templates/sources');
  /** @param {string} name @returns {string} */
  function templateId(name) {
    const template = templates.find((/** @type {{ name: string }} */ each) => each.name === name);
    if (!template) throw new Error(`There is no template ${name}.`);
    return template.id;
  }

  /** @param {string} workspaceId @param {{ template: string, account: string }} how */
  async function signInAndEnd(workspaceId, { template, account }) {
    const asked = { workspace_id: workspaceId, source_template_id: templateId(template) };
    const { url } = await call('POST', 'integrations/oauth/links', asked);
    await signInByLink(url, { account, ...(signal && { signal }) });
    const deadline = performance.now() + patienceMs;
    const good = `integrations/jobs?workspace_id=${workspaceId}&status=succeeded`;
    // The first sync starts automatically. The service notices the revoked grant when it renews the access token.
    while ((await call('GET', good)).data.length === 0) {
      if (performance.now() > deadline) throw new Error('The first sync after a sign-in has not ended.');
      await delay(1_000, undefined, { ...(signal && { signal }) });
    }
    provider.endGrants(account);
  }

  for (const { name, sources, status, signsIn } of customers(provider.url)) {
    const { data: known } = await call('GET', `workspaces?name_contains=${encodeURIComponent(name)}`);
    if (known.length > 0) continue;
    await call('POST', 'embedded/scoped-token', { workspace_name: name });
    const [{ id }] = (await call('GET', `workspaces?name_contains=${encodeURIComponent(name)}`)).data;
    for (const source of sources) {
      await call('POST', `integrations/sources?workspace_id=${id}`, {
        source_template_id: templateId(source.template),
        name: source.name,
        source_config: source.config,
      });
    }
    if (status) await call('PUT', `workspaces/${id}`, { status });
    if (signsIn) await signInAndEnd(id, signsIn);
  }
}
