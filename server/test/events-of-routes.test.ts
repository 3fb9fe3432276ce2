/**
 * Walks the route table: every route that changes something says so in the log, in the transaction of the change, and names
 * who did it, and what was before and after.
 */
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { booksManifest } from '../../manifests/test/books-manifest.ts';
import { catalogue, type EntryType } from '../src/log/events/catalogue.ts';
import type { PatchOperation } from '../src/log/events/json-patch.ts';
import { fill, widgetToken } from './security/support.ts';
import { type Answer, startTestApp, type TestApp } from './support/app.ts';
import { eventually } from './support/deployment.ts';
import { customer, localFiles, postgresSource, sampleData } from './support/pipelines.ts';
import {
  locationOf,
  makeClient,
  makeSignInTemplate,
  nextIn,
  openedByUs,
  proofIn,
  startProvider,
  visitorOf,
} from './support/providers.ts';

/** Routes that write and have no entry. Each has its reason. */
const exceptions: Record<string, string> = {
  'POST /api/v1/embedded/sources/check': 'a question; its answer is kept for a while, nothing else',
  'POST /api/v1/embedded/sources/:source_id/check': 'a question, as above',
  'POST /api/v1/integrations/sources/check': 'a question, as above',
  'POST /api/v1/integrations/sources/:source_id/check': 'a question, as above',
  'POST /api/v1/integrations/destinations/check': 'a question, as above',
  'POST /api/v1/integrations/sources/discover': 'a question; nothing is kept',
  'POST /api/v1/integrations/templates/connections/cron/describe': 'stores nothing',
  'POST /api/v1/integrations/templates/explain': 'stores nothing',
  'POST /api/v1/integrations/templates/sources/preview': 'stores nothing',
  'POST /api/v1/integrations/templates/connections/preview': 'stores nothing',
  'POST /api/v1/integrations/templates/sources/:source_template_id/plan': 'tells what a change would do',
  'POST /api/v1/integrations/templates/connections/:connection_template_id/plan': 'tells what a change would do',
  'POST /api/v1/webhook-endpoints/:webhook_endpoint_id/test': 'sends an event that nobody needs',
  'POST /api/v1/embedded/webhook-endpoints/:webhook_endpoint_id/test': 'sends an event that nobody needs',
  'POST /api/v1/webhook-endpoints/:webhook_endpoint_id/recover':
    'sends again what has its entry; deliveries tell of it',
  'POST /api/v1/embedded/webhook-endpoints/:webhook_endpoint_id/recover': 'sends again what has its entry, as above',
  'POST /api/v1/events/:event_id/redeliver': 'sends again what has its entry, as above',
  'POST /platform/v1/workers/join': 'the platform lists its workers; their enrolment has an entry',
  'POST /platform/v1/applications/token': 'issuing tokens is counted, not logged one by one',
};

/** Reads, and is an entry all the same. */
const exporting = 'GET /api/v1/audit-events/export';
/** Browsers open these pages with GET, and they change something. */
const pages = ['GET /oauth/start/:handle', 'GET /oauth/callback/:key'];

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp('sqlite', { env: { INLAY_CUSTOMER_WEBHOOKS: 'true' } });
});
afterAll(() => test.stop());

const [api, templates] = ['/api/v1', '/api/v1/integrations/templates'];

interface Entry {
  type: string;
  actor_kind: string;
  request_id: string | null;
  personal: string | null;
  patch: string | null;
}

/** What was before and after is in the entry, unless the catalog says why not. */
function expectPatch(route: string, { type, patch }: Entry): void {
  const { noPatchBecause } = catalogue[type as EntryType];
  if (noPatchBecause !== undefined) {
    expect(patch, `${route}: ${type}`).toBeNull();
    return;
  }
  const operations: PatchOperation[] = JSON.parse(patch ?? '[]');
  expect(operations, `${route}: ${type} has a patch`).not.toEqual([]);
  // What is new was not there before; of what is gone, nothing is left.
  const kinds = new Set(operations.map(({ op }) => op));
  if (/\.(created|adopted)$/.test(type)) expect([...kinds], `${route}: ${type}`).toEqual(['add']);
  if (/\.deleted$/.test(type)) expect([...kinds], `${route}: ${type}`).toEqual(['test', 'remove']);
}

it('A route that changes something writes an entry with its request, its actor, and before and after', async () => {
  const ids: Record<string, string> = {};
  const walked = new Set<string>();
  const secrets: string[] = [];
  let count = 0;

  /** Expects exactly these entries of a request. */
  async function expectEntries(route: string, id: string, types: string[], actor: string): Promise<void> {
    const own: Entry[] = (
      await test.app.store.db.selectFrom('log_pending').selectAll().orderBy('number').execute()
    ).filter(({ request_id }) => request_id === id);
    expect(
      own.map(({ type }) => type),
      route,
    ).toEqual(types);
    for (const entry of own) {
      expect(entry.actor_kind, route).toBe(actor);
      expect(JSON.parse(entry.personal ?? '{}'), route).toHaveProperty('address', '127.0.0.1');
      expectPatch(route, entry);
    }
    walked.add(route);
  }

  /** Calls a route, and expects exactly these entries of the request. */
  async function walk(route: string, types: string[], options: { body?: object; token?: string; query?: string } = {}) {
    const [method = '', url = ''] = route.split(' ');
    const id = `walk-${++count}`;
    const filled = fill(url, ids);
    const path = options.query ? `${filled}${filled.includes('?') ? '&' : '?'}${options.query}` : filled;
    const { body, token } = options;
    const answer = await test.request(method, path, {
      headers: { 'x-request-id': id },
      ...(body && { body }),
      ...(token && { token }),
    });
    expect(answer.status, `${route}: ${answer.text}`).toBeLessThan(300);
    await expectEntries(route, id, types, token === undefined ? 'operator_token' : 'scoped_token');
    return answer.body;
  }

  await walk(`POST ${api}/embedded/scoped-token`, ['workspace.created'], { body: { workspace_name: 'walked' } });
  await walk(`POST ${api}/embedded/widget-token`, ['workspace.created'], {
    body: { workspace_name: 'walked too', allowed_origin: 'https://app.example' },
  });
  const own = await customer(test, 'walked');
  ids.workspace_id = own.workspaceId;

  await walk(`POST ${templates}/tags`, ['tag.created'], { body: { name: 'crm' } });
  ids.tag_name = 'crm';
  await walk(`PUT ${templates}/tags/:tag_name`, ['tag.renamed'], { body: { name: 'sales' } });
  ids.tag_name = 'sales';
  const definitions = `${api}/integrations/definitions/sources`;
  const manifest = booksManifest({ url: 'https://api.example.com' });
  const added = await walk(`POST ${definitions}`, ['definition.created'], { body: { manifest } });
  ids.source_definition_id = added.id;
  const otherManifest = booksManifest({ url: 'https://api.example.org' });
  const definition = `${definitions}/:source_definition_id`;
  await walk(`PUT ${definition}`, ['definition.updated'], { body: { manifest: otherManifest } });
  await walk(`POST ${definition}/confirm`, ['definition.updated'], { body: { version: 2 } });
  await walk(`POST ${definition}/rollback`, ['definition.updated'], { body: { version: 1 } });
  await walk(`DELETE ${definition}`, ['definition.deleted']);
  const source = { actor_definition_id: sampleData, name: 'Sample', partial_default_config: { seed: 7 } };
  const made = await walk(`POST ${templates}/sources`, ['template.published'], { body: source });
  ids.source_template_id = made.id;
  // What of a configuration is secret is nowhere in the log, not when it comes and not when it goes.
  const password = 'walked password';
  secrets.push(password);
  const secretive = { actor_definition_id: postgresSource, name: 'Secretive', partial_default_config: { password } };
  ids.source_template_id = (await walk(`POST ${templates}/sources`, ['template.published'], { body: secretive })).id;
  await walk(`DELETE ${templates}/sources/:source_template_id`, ['template.deleted']);
  ids.source_template_id = made.id;
  const destination = {
    destination_name: 'Files',
    destination_definition_id: localFiles,
    destination_config: { path: 'exports' },
    sync_on_create: false,
    skip_check: true,
    customer_may_change: { schedule: { shortest_minutes: 15 } },
  };
  const other = await walk(`POST ${templates}/connections`, ['template.published'], { body: destination });
  ids.connection_template_id = other.id;
  for (const kind of ['sources/:source_template_id', 'connections/:connection_template_id']) {
    await walk(`POST ${templates}/${kind}/tags`, ['template.published'], { body: { tag: 'sales' } });
    await walk(`DELETE ${templates}/${kind}/tags/:tag_name`, ['template.published']);
  }
  await walk(`DELETE ${templates}/tags/:tag_name`, ['tag.deleted']);

  const whole = { source_template_id: ids.source_template_id, name: 'Shop', source_config: { count: 10 } };
  const scopes = [
    { path: `${api}/embedded`, token: own.token },
    { path: `${api}/integrations`, token: undefined },
  ].map(({ path, token }) => ({ path, as: token === undefined ? {} : { token } }));
  const connected = [];
  for (const { path, as } of scopes) {
    const { id } = await walk(`POST ${path}/sources`, ['source.created', 'connection.created'], { ...as, body: whole });
    await own.settled(id);
    const { data } = (await own.request('GET', '/connections')).body;
    connected.push({
      source_id: id,
      connection_id: data.find((one: { source_id: string }) => one.source_id === id).id,
    });
  }
  for (const [index, { path, as }] of scopes.entries()) {
    Object.assign(ids, connected[index]);
    await walk(`PUT ${path}/sources/:source_id`, ['source.updated'], { ...as, body: { name: 'Shop 2' } });
    await own.settled(String(ids.source_id));
    const body = { cron_expression: '0 0 * * * ?' };
    await walk(`PATCH ${path}/connections/:connection_id`, ['connection.updated'], { ...as, body });
    await own.settled(String(ids.source_id));
    await walk(`POST ${path}/connections/:connection_id/sync`, ['sync.started'], as);
    await walk(`POST ${path}/connections/:connection_id/cancel`, ['sync.cancelled'], as);
  }
  const cause = 'f'.repeat(32);
  const connections = test.app.store.db.updateTable('connections').set({ cause }).returning('id');
  await eventually('no news of jobs takes the cause away again', async () => {
    await connections.where('id', '=', String(ids.connection_id)).execute();
    await test.app.workers.jobWatch.pass();
    return (await connections.where('cause', '=', cause).execute()).length > 0;
  });
  const retries = `${api}/integrations/causes/retries`;
  const retry = await walk(`POST ${retries}`, ['cause.retry_started'], { body: { cause } });
  ids.cause_retry_id = retry.id;
  await walk(`POST ${retries}/:cause_retry_id/stop`, ['cause.retry_stopped']);
  await walk(`POST ${api}/integrations/connections/:connection_id/sync`, ['sync.started']);
  await walk(`POST ${api}/integrations/connections/:connection_id/cancel`, ['sync.cancelled']);
  await walk(`POST ${api}/integrations/connections/:connection_id/refresh`, ['connection.updated']);

  for (const [kind, change] of [
    ['source', { name: 'Sample 2' }],
    ['connection', { destination_name: 'Files 2', skip_check: true }],
  ] as const) {
    const path = `${templates}/${kind}s/:${kind}_template_id`;
    const types = ['template.published', 'template.rollout_started'];
    const changed = await walk(`PATCH ${path}`, types, { body: { ...change, apply: 'all' } });
    ids[`${kind}_rollout_id`] = changed.rollout_id;
    const rollout = `POST ${path}/rollouts/:${kind}_rollout_id`;
    await walk(`${rollout}/pause`, ['template.rollout_paused']);
    await walk(`${rollout}/resume`, ['template.rollout_resumed']);
    await walk(`${rollout}/stop`, ['template.rollout_stopped']);
    await walk(`POST ${path}/rollback`, ['template.published'], { body: { version: 1, apply: 'new_only' } });
  }
  await test.request('POST', `${templates}/connections`, { body: { ...destination, destination_name: 'More' } });
  await walk(`POST ${api}/workspaces/:workspace_id/templates/apply`, ['connection.created', 'connection.created'], {
    body: {},
  });

  await walk(`PUT ${api}/quotas`, ['quota.updated'], { body: { sources: 100 } });
  await walk(`DELETE ${api}/quotas`, ['quota.updated']);
  await walk(`PUT ${api}/workspaces/:workspace_id/quotas`, ['quota.updated'], { body: { sources: 3 } });
  await walk(`DELETE ${api}/workspaces/:workspace_id/quotas`, ['quota.updated']);

  for (const { path, as } of [
    { path: `${api}/webhook-endpoints`, as: {} },
    { path: `${api}/embedded/webhook-endpoints`, as: { token: own.token } },
  ]) {
    const endpoint = { url: 'https://receiver.example/', headers: { 'X-Key': 'walked secret' } };
    const hook = await walk(`POST ${path}`, ['webhook_endpoint.created'], { ...as, body: endpoint });
    ids.webhook_endpoint_id = hook.id;
    const one = `${path}/:webhook_endpoint_id`;
    await walk(`PATCH ${one}`, ['webhook_endpoint.updated'], { ...as, body: { types: ['sync.*'] } });
    const { secret } = await walk(`POST ${one}/rotate-secret`, ['webhook_endpoint.updated'], { ...as, body: {} });
    secrets.push(hook.secret, secret, 'walked secret');
    await walk(`DELETE ${one}`, ['webhook_endpoint.deleted'], as);
  }

  const clients = `${api}/integrations/oauth/clients`;
  const client = { name: 'walked', provider: 'hubspot', client_id: 'walked', client_secret: 'walked client secret' };
  ids.oauth_client_id = (await walk(`POST ${clients}`, ['oauth_client.created'], { body: client })).id;
  await walk(`PATCH ${clients}/:oauth_client_id`, ['oauth_client.updated'], { body: { name: 'again' } });
  const renewed = { client_secret: 'renewed client secret' };
  await walk(`POST ${clients}/:oauth_client_id/rotate-secret`, ['oauth_client.updated'], { body: renewed });
  await walk(`DELETE ${clients}/:oauth_client_id`, ['oauth_client.deleted']);
  secrets.push(client.client_secret, renewed.client_secret);

  // Pages have no token. Their entries name the token with which the sign-in was begun, or the link.
  const provider = await startProvider();
  onTestFinished(() => provider.close());
  const visitor = visitorOf(test);
  const visit = async (route: string, types: string[], actor: string, open: (id: object) => Promise<Answer>) => {
    const id = `walk-${++count}`;
    const answer = await open({ 'x-request-id': id });
    expect(answer.status, `${route}: ${answer.text}`).toBeLessThan(400);
    await expectEntries(route, id, types, actor);
    return answer;
  };
  const described = await makeClient(test, provider.endpoints);
  const signingIn = await makeSignInTemplate(test, described.id);
  const framed = await widgetToken(test, { workspace_name: 'signing in' });
  const flows = `${api}/embedded/oauth/flows`;
  const frame = { 'sec-fetch-dest': 'iframe' };
  const page = await test.request('GET', `/widget${framed.url.search}`, { token: null, headers: frame });
  const frame_proof = /inlay-frame-proof" content="([^"]+)"/.exec(page.text)?.[1];
  const begin = async (body: object) =>
    await walk(`POST ${flows}`, ['sign_in.created'], {
      token: framed.inner,
      body: { source_template_id: signingIn, ...body },
    });
  await walk(`POST ${api}/integrations/oauth/tests`, ['sign_in.created'], { body: { source_template_id: signingIn } });
  const begun = await begin({ frame_proof });
  const sent = await visit('GET /oauth/start/:handle', ['sign_in.started'], 'scoped_token', (id) =>
    visitor.get(begun.start_url, { ...openedByUs, ...id }),
  );
  const comeBack = async (asked: URLSearchParams, types: string[], actor: string) =>
    await visit('GET /oauth/callback/:key', types, actor, (id) => {
      const params = new URLSearchParams({ code: 'c', state: asked.get('state') ?? '' });
      return visitor.get(`${asked.get('redirect_uri')}?${params}`, { ...id });
    });
  const connectedTypes = ['sign_in.returned', 'credential.connected', 'sign_in.connected'];
  await comeBack(locationOf(sent).searchParams, connectedTypes, 'scoped_token');
  const { credential_id } = (await test.request('GET', `${flows}/${begun.id}`, { token: framed.inner })).body;
  const signed = { source_template_id: signingIn, credential_id };
  const signedIn = await test.request('POST', `${api}/embedded/sources`, { token: framed.inner, body: signed });
  expect(signedIn.status, signedIn.text).toBe(201);
  // Another account, confirmed in the widget; and yet another one, by a link.
  const agree = async (start_url: string, actor: string) => {
    const question = await visitor.get(start_url);
    const gone = await visit('POST /oauth/start/:handle', ['sign_in.started'], actor, (id) =>
      visitor.post(start_url, { proof: proofIn(question) }, { ...openedByUs, ...id }),
    );
    return nextIn(gone).searchParams;
  };
  const unconfirmed = ['sign_in.returned', 'sign_in.unconfirmed'];
  provider.account = () => ({ body: { id: 8 } });
  const again = await begin({ source_id: signedIn.body.id });
  await comeBack(await agree(again.start_url, 'scoped_token'), unconfirmed, 'scoped_token');
  ids.flow_id = again.id;
  await walk(`POST ${flows}/:flow_id/confirm`, ['credential.connected', 'sign_in.connected'], { token: framed.inner });
  provider.account = () => ({ body: { id: 9 } });
  const link = await walk(`POST ${api}/integrations/oauth/links`, ['sign_in_link.created'], {
    body: { workspace_id: await test.workspaceId('signing in'), source_id: signedIn.body.id },
  });
  const last = await comeBack(await agree(link.url, 'sign_in_link'), unconfirmed, 'sign_in_link');
  const confirming = await visitor.get(locationOf(last).href);
  await visit('POST /oauth/done/:flow_id', ['credential.connected', 'sign_in.connected'], 'sign_in_link', (id) =>
    visitor.post(locationOf(last).href, { proof: proofIn(confirming) }, { ...openedByUs, ...id }),
  );
  // An unused credential: a source would have an event of its own.
  const unused = await begin({});
  await comeBack(await agree(unused.start_url, 'scoped_token'), connectedTypes, 'scoped_token');
  const ofNobody = await test.request('GET', `${flows}/${unused.id}`, { token: framed.inner });
  ids.credential_id = ofNobody.body.credential_id;
  await walk(`DELETE ${api}/integrations/credentials/:credential_id`, ['credential.revoked']);
  secrets.push('the access token', 'the refresh token', 'the client secret', ...visitor.cookies.values());

  let cookie = '';
  async function walkConsole(route: string, types: string[], body?: object) {
    const [method = '', url = ''] = route.split(' ');
    const id = `walk-${++count}`;
    const page = { 'x-inlay-console': '1', 'sec-fetch-site': 'same-origin', host: 'localhost:8080', cookie };
    const headers = { ...page, 'x-request-id': id };
    const answer = await test.request(method, url, { token: null, headers, ...(body && { body }) });
    expect(answer.status, `${route}: ${answer.text}`).toBeLessThan(300);
    cookie = String(answer.headers['set-cookie']).split(';')[0] ?? '';
    secrets.push(cookie.slice('inlay_console='.length));
    await expectEntries(route, id, types, 'console_user');
  }
  const replaced = ['console_session.ended', 'console_session.created'];
  await walkConsole('POST /console/session', ['console_session.created'], { token: test.operatorToken });
  const code = new URL((await test.app.makeConsoleLink()).url).hash.slice('#code='.length);
  secrets.push(code);
  await walkConsole('POST /console/session/link', replaced, { code, replace: true });
  ids.console_session_id = (await test.request('GET', `${api}/console-sessions`)).body.data[0].id;
  await walk(`DELETE ${api}/console-sessions/:console_session_id`, ['console_session.ended']);
  await walkConsole('POST /console/session', ['console_session.created'], { token: test.operatorToken });
  await walkConsole('DELETE /console/session', ['console_session.ended']);
  // Signing out gives an empty cookie.
  secrets.pop();

  await walk(`POST ${api}/audit-events/erase`, ['audit.erased'], { body: { workspace_id: ids.workspace_id } });
  await walk(exporting, ['audit.exported']);

  ids.worker_id = (await walk(`POST ${api}/integrations/workers`, ['worker.enrolled'], { body: {} })).worker.id;
  await walk(`POST ${api}/integrations/workers/:worker_id/drain`, ['worker.drained'], { body: {} });
  await walk(`DELETE ${api}/integrations/workers/:worker_id`, ['worker.revoked']);
  const token = await walk(`POST ${api}/operator-tokens`, ['operator_token.created'], { body: { name: 'walked' } });
  ids.operator_token_id = token.id;
  const rotated = ['operator_token.revoked', 'operator_token.created'];
  await walk(`POST ${api}/operator-tokens/:operator_token_id/rotate`, rotated, { body: { overlap_seconds: 60 } });
  await walk(`DELETE ${api}/operator-tokens/:operator_token_id`, ['operator_token.revoked']);

  // Otherwise a worker that is setting a source up would finish what these requests begin.
  for (const { source_id } of connected) await own.settled(source_id);
  Object.assign(ids, connected[1]);
  await walk(`DELETE ${api}/integrations/connections/:connection_id`, ['connection.deleted']);
  for (const [index, { path, as }] of scopes.entries()) {
    Object.assign(ids, connected[index]);
    await own.settled(String(ids.source_id));
    const gone = ['connection.deleted', 'connection.deleted', 'source.deleted'].slice(index);
    await walk(`DELETE ${path}/sources/:source_id`, ['source.deletion_requested', ...gone], as);
  }
  await walk(`DELETE ${templates}/sources/:source_template_id`, ['template.deleted']);
  await walk(`DELETE ${templates}/connections/:connection_template_id`, ['template.deleted']);

  const view = await walk(`POST ${api}/workspaces/:workspace_id/view-token`, ['view_token.created'], { body: {} });
  secrets.push(view.token);
  await walk(`POST ${api}/embedded/tokens/revoke`, ['token.revoked'], { body: { token: own.token } });
  await walk(`POST ${api}/workspaces/:workspace_id/tokens/revoke`, ['token.revoked']);
  const update = { name: 'walked on', status: 'inactive' };
  const updated = ['workspace.rename_requested', 'workspace.renamed', 'workspace.deactivated'];
  await walk(`PUT ${api}/workspaces/:workspace_id`, updated, { body: update });
  await walk(`DELETE ${api}/workspaces/:workspace_id`, ['workspace.deletion_requested', 'workspace.deleted']);
  await test.platform('POST', '/workspaces', { name: 'found', organizationId: test.organizationId });
  await walk(`POST ${api}/workspaces/sync`, ['workspace.adopted']);

  const writing = test.app.routeTable.routes
    .filter(({ method, access }) => access !== 'platform' && !['GET', 'HEAD'].includes(method))
    .map(({ method, url }) => `${method} ${url}`)
    .concat(exporting, pages);
  expect([...walked, ...Object.keys(exceptions)].sort(), 'a new route that writes needs an entry, or a reason').toEqual(
    writing.sort(),
  );
  for (const reason of Object.values(exceptions)) expect(reason.length).toBeGreaterThan(10);

  // None of the entries holds a secret of the walk.
  const all = JSON.stringify(await test.app.store.db.selectFrom('log_pending').selectAll().execute());
  for (const secret of [...secrets, own.token, token.token, test.operatorToken]) expect(all).not.toContain(secret);
});
