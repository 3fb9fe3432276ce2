/** Webhook endpoints as callers of the API see them. Who sends what, and when, is tested in server/src/log/webhooks. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addTenant, unknownId } from '../security/support.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { startReceiver, verified } from '../support/webhooks.ts';

const path = '/api/v1/webhook-endpoints';
const own = '/api/v1/embedded/webhook-endpoints';
const url = 'https://receiver.example/hook';
let test: TestApp;

beforeAll(async () => {
  test = await startTestApp('sqlite', { env: { INLAY_CUSTOMER_WEBHOOKS: 'true' } });
});
afterAll(() => test.stop());

async function create(body: object, options: { token?: string; path?: string } = {}) {
  const { path: to = path, ...rest } = options;
  const answer = await test.request('POST', to, { body: { url, ...body }, ...rest });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

it('an endpoint is made, read, changed and deleted; its secret is in one answer only', async () => {
  const made = await create({ types: ['sync.*'], headers: { 'X-Key': 'very secret' }, description: 'billing' });
  expect(made.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(made).toMatchObject({ enabled: true, ordered: false, signing: 'hmac', headers: { 'X-Key': '**********' } });
  const { secret, ...shown } = made;
  const read = await test.request('GET', `${path}/${made.id}`);
  expect(read.body).toEqual(shown);
  const list = await test.request('GET', path);
  expect(list.body.data).toContainEqual(shown);
  const patched = await test.request('PATCH', `${path}/${made.id}`, {
    body: { types: ['*'], rate_per_second: 5, ordered: true, enabled: false },
  });
  expect(patched.body).toMatchObject({
    types: ['*'],
    rate_per_second: 5,
    ordered: true,
    enabled: false,
    disabled_reason: 'requested',
    headers: { 'X-Key': '**********' },
  });
  const rotated = await test.request('POST', `${path}/${made.id}/rotate-secret`, { body: {} });
  expect(rotated.body.secret).not.toBe(secret);
  expect(rotated.body.keys).toHaveLength(2);
  const all = [read, list, patched, await test.request('GET', `${path}/${made.id}/deliveries`)];
  for (const { text } of all) expect(text).not.toMatch(/whsec_|whsk_|very secret/);
  expect((await test.request('DELETE', `${path}/${made.id}`)).body).toMatchObject({ id: made.id });
  expect((await test.request('GET', `${path}/${made.id}`)).status).toBe(404);
});

it('what cannot work is refused with its place', async () => {
  const faults = async (body: object) => {
    const answer = await test.request('POST', path, { body });
    expect(answer.status, answer.text).toBe(422);
    return answer.body.detail.map(({ loc }: { loc: string[] }) => loc.join('.'));
  };
  for (const bad of ['ftp://a.example', 'no address', 'https://u:p@a.example', 'https://a.example/#x']) {
    expect(await faults({ url: bad }), bad).toEqual(['body.url']);
  }
  expect(await faults({ url, types: ['sync.failed', 'Sync'] })).toEqual(['body.types.1']);
  expect(await faults({ url, types: [] })).toEqual(['body.types']);
  expect(await faults({ url, headers: { Host: 'x', 'webhook-id': 'x', good: 'a\nb' } })).toEqual([
    'body.headers.Host',
    'body.headers.webhook-id',
    'body.headers.good',
  ]);
  expect(await faults({ url, secret: 'whsec_c2hvcnQ=' })).toEqual(['body.secret']);
  expect(await faults({ url, secret: `whsec_${Buffer.alloc(32).toString('base64')}`, signing: 'ed25519' })).toEqual([
    'body.secret',
  ]);
  expect(await faults({ url, workspace_ids: ['x'] })).toEqual(['body.workspace_ids.0']);
});

it('headers of one address are not sent to another: they must be given again', async () => {
  const { id } = await create({ headers: { 'X-Key': 'very secret' } });
  const move = (body: object) => test.request('PATCH', `${path}/${id}`, { body });
  const other = 'https://elsewhere.example/hook';
  for (const headers of [{}, { headers: { 'X-Key': '**********' } }]) {
    const refused = await move({ url: other, ...headers });
    expect([refused.status, refused.body.detail[0]?.loc]).toEqual([422, ['body', 'headers', 'X-Key']]);
  }
  expect((await move({ url: 'https://receiver.example/other' })).status).toBe(200);
  expect((await move({ url: other, headers: { 'X-Key': 'another' } })).body.url).toBe(other);
  await test.request('DELETE', `${path}/${id}`);
});

it('an endpoint with Ed25519 has public keys at an open address, and no secret', async () => {
  const made = await create({ signing: 'ed25519' });
  expect(made.secret).toBeNull();
  const keys = await test.request('GET', `/.well-known/inlay/webhook-keys/${made.id}`, { token: null });
  expect(keys.body.public_keys).toEqual([made.keys[0].public_key]);
  expect(keys.body.keys).toEqual([expect.objectContaining({ kty: 'OKP', crv: 'Ed25519', x: expect.any(String) })]);
  expect(keys.text).not.toContain('whsk_');
  const missing = await test.request('GET', `/.well-known/inlay/webhook-keys/${unknownId}`, { token: null });
  expect(missing.status).toBe(404);
  await test.request('DELETE', `${path}/${made.id}`);
});

it('an event goes to the endpoints that want it, and again under its id when that is requested', async () => {
  const receiver = await startReceiver();
  const made = await create({ url: receiver.url, types: ['tag.*'] });
  const workspaceId = await test.workspaceId('acme');
  const narrow = await create({ url: receiver.url, types: ['workspace.*'], workspace_ids: [workspaceId] });
  await test.request('POST', '/api/v1/integrations/templates/tags', { body: { name: 'crm' } });
  await test.workspaceId('another');
  await test.app.workers.sequencer.pass();
  await test.app.workers.deliveries.pass();
  expect(receiver.received.map(({ type }) => type)).toEqual(['tag.created']);
  const [webhook] = receiver.received;
  if (!webhook) throw new Error('no webhook came');
  expect(verified(webhook, made.secret)).toMatchObject({ type: 'tag.created', data: { tag: { name: 'crm' } } });
  const event = await test.request('GET', `/api/v1/events/${webhook.id}`);
  expect(event.body).toMatchObject({ id: webhook.id, type: 'tag.created' });

  const again = await test.request('POST', `/api/v1/events/${webhook.id}/redeliver`, { body: {} });
  expect(again.body).toEqual({ webhook_id: webhook.id, webhook_endpoint_ids: [made.id] });
  await test.app.workers.deliveries.pass();
  expect(receiver.received.map(({ id }) => id)).toEqual([webhook.id, webhook.id]);
  expect((await test.request('POST', `/api/v1/events/${unknownId}/redeliver`, { body: {} })).status).toBe(404);

  const since = { since: '2020-01-01T00:00:00Z' };
  const recover = (body: object) => test.request('POST', `${path}/${made.id}/recover`, { body: { ...since, ...body } });
  expect((await recover({ dry_run: true })).body).toEqual({ count: 0, queued: 0 });
  expect((await recover({ dry_run: true, only_failed: false })).body).toEqual({ count: 1, queued: 0 });
  const tested = await test.request('POST', `${path}/${made.id}/test`);
  expect(tested.body).toMatchObject({ delivered: true, status_code: 204 });
  const page = await test.request('GET', `${path}/${made.id}/deliveries?limit=1`);
  expect(page.body).toMatchObject({
    data: [{ webhook_id: webhook.id, status: 'delivered', type: 'tag.created' }],
    next: null,
  });
  for (const { id } of [made, narrow]) await test.request('DELETE', `${path}/${id}`);
});

it('a customer has endpoints for its own workspace only, and reads what customers may', async () => {
  const receiver = await startReceiver();
  const token = await test.scopedToken('acme');
  const made = await create({ url: receiver.url, workspace_ids: null }, { token, path: own });
  expect(made.workspace_id).toBe(await test.workspaceId('acme'));
  const rival = await test.scopedToken('rival');
  for (const [method, tail] of [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/test'],
    ['POST', '/rotate-secret'],
  ]) {
    const options = method === 'GET' || method === 'DELETE' ? {} : { body: {} };
    const answer = await test.request(method ?? '', `${own}/${made.id}${tail}`, { token: rival, ...options });
    expect(answer.status, `${method} ${tail}`).toBe(404);
  }
  expect((await test.request('GET', own, { token: rival })).body).toEqual({ data: [] });
  const workspace = await test.workspaceId('acme');
  for (const status of ['inactive', 'active']) {
    await test.request('PUT', `/api/v1/workspaces/${workspace}`, { body: { status } });
  }
  await test.request('POST', '/api/v1/integrations/templates/tags', { body: { name: 'for operators' } });
  await test.app.workers.sequencer.pass();
  await test.app.workers.deliveries.pass();
  expect(receiver.received.map(({ type }) => type).sort()).toEqual(['workspace.activated', 'workspace.deactivated']);
  expect(receiver.received[0]?.data).toMatchObject({ workspace: { id: workspace, name: 'acme' } });

  for (let count = 1; count < 5; count++) await create({}, { token, path: own });
  const full = await test.request('POST', own, { token, body: { url } });
  expect([full.status, full.headers['x-inlay-error'], full.body.detail]).toEqual([
    409,
    'webhook_endpoint_limit',
    expect.stringContaining(' 5 '),
  ]);
  // The operator sees and ends them.
  const { data } = (await test.request('GET', path)).body;
  for (const { id } of data) expect((await test.request('DELETE', `${path}/${id}`)).status).toBe(200);
});

it('another organization sees none of them', async () => {
  const made = await create({});
  const other = await addTenant(test, 'other');
  expect((await other.request('GET', path)).body).toEqual({ data: [] });
  expect((await other.request('GET', `${path}/${made.id}`)).status).toBe(404);
  expect((await other.request('DELETE', `${path}/${made.id}`)).status).toBe(404);
  await test.request('DELETE', `${path}/${made.id}`);
});

it('customers get 403 where the operator does not offer webhooks', async () => {
  await test.restart({ env: { INLAY_CUSTOMER_WEBHOOKS: '' } });
  const token = await test.scopedToken('acme');
  const answer = await test.request('GET', own, { token });
  expect([answer.status, answer.headers['x-inlay-error']]).toEqual([403, 'webhooks_not_offered']);
});
