/** View tokens: an operator sees what a customer sees, changes nothing, and not for longer than the session lasts. */
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { addTenant, fill, infoPath, readToken, routesWith, widgetToken } from './support.ts';

let test: TestApp;
let workspaceId: string;
beforeAll(async () => {
  test = await startTestApp('sqlite', { env: { INLAY_CUSTOMER_WEBHOOKS: 'true' } });
  workspaceId = await test.workspaceId('acme');
});
afterAll(() => test.stop());

const own = { 'x-inlay-console': '1', 'sec-fetch-site': 'same-origin', host: 'localhost:8080' };
const path = () => `/api/v1/workspaces/${workspaceId}/view-token`;

async function view(): Promise<{ token: string; widget_url: string; expires_at: string }> {
  const answer = await test.request('POST', path(), { body: {} });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

it('reads every route of the customer, and writes on none', async () => {
  const { token } = await view();
  expect(readToken(token).claims).toMatchObject({ aud: 'inlay-view', sub: workspaceId });
  let writes = 0;
  for (const { method, url } of routesWith(test, 'scoped')) {
    const answer = await test.request(method, fill(url, {}), { token });
    const reads = method === 'GET' || method === 'HEAD';
    if (!reads) writes++;
    if (reads) expect([401, 403], `${method} ${url}`).not.toContain(answer.status);
    else expect(answer.status, `${method} ${url}`).toBe(403);
  }
  expect(writes).toBeGreaterThan(5);
  const info = await test.request('GET', infoPath, { token });
  expect(info.body['workspace ID']).toBe(workspaceId);
  for (const { method, url } of routesWith(test, 'operator')) {
    expect((await test.request(method, fill(url, {}), { token })).status, `${method} ${url}`).toBe(401);
  }
});

it('works for a page without an origin, and for no other page than ours; other tokens do not', async () => {
  const { token } = await view();
  const from = (origin: string, as = token) => test.request('GET', infoPath, { token: as, headers: { origin } });
  const framed = await from('null');
  expect([framed.status, framed.headers['access-control-allow-origin']]).toEqual([200, 'null']);
  expect((await from('http://localhost:8080')).status).toBe(200);
  expect((await from('https://evil.example')).status).toBe(403);
  const { inner } = await widgetToken(test, {});
  expect((await from('null', inner)).status).toBe(403);
  // A browser asks first. The answer is the same for everyone; the request itself is refused.
  const asked = { origin: 'null', 'access-control-request-method': 'POST' };
  const preflight = await test.request('OPTIONS', '/api/v1/embedded/sources', { token: null, headers: asked });
  expect(preflight.headers['access-control-allow-credentials']).toBeUndefined();
  const written = await test.request('POST', '/api/v1/embedded/sources', {
    token,
    headers: { origin: 'null' },
    body: {},
  });
  expect(written.status).toBe(403);
});

it('is known by its page alone: a page for customers has an origin, and is framed by theirs', async () => {
  const address = new URL((await view()).widget_url);
  const { url } = await widgetToken(test, {});
  const policyOf = async ({ pathname, search }: URL) => {
    const { headers } = await test.request('GET', pathname + search, { token: null });
    // Only files are for pages without an origin. The page itself is read by nobody's script.
    expect(headers['access-control-allow-origin']).toBeUndefined();
    expect(headers['referrer-policy']).toBe('no-referrer');
    return String(headers['content-security-policy']).split('; ');
  };
  const sandbox = 'sandbox allow-scripts allow-forms';
  expect(await policyOf(address)).toEqual(
    expect.arrayContaining([sandbox, "form-action 'none'", 'frame-ancestors http://localhost:8080']),
  );
  const own = await policyOf(url);
  expect(own).toContain('frame-ancestors https://app.example');
  expect(own.join()).not.toContain('sandbox');
  const shell = await test.request('GET', '/console', { token: null });
  expect(String(shell.headers['content-security-policy'])).toMatch(
    /frame-src 'self' http:\/\/localhost:8080;.*frame-ancestors 'none'/,
  );
  expect(shell.headers['access-control-allow-origin']).toBeUndefined();
});

it('leads to a page that has no origin, and whose files load there', async () => {
  const { widget_url } = await view();
  const { pathname, search } = new URL(widget_url);
  const headers = { 'sec-fetch-dest': 'iframe' };
  const page = await test.request('GET', `${pathname}${search}`, { token: null, headers });
  const policy = String(page.headers['content-security-policy']);
  expect(page.status).toBe(200);
  expect(policy).toContain('sandbox allow-scripts allow-forms;');
  expect(policy).not.toContain('allow-same-origin');
  expect(policy).toContain('frame-ancestors http://localhost:8080');
  expect(page.text).not.toContain('inlay-frame-proof');
  const script = /src="(widget\/assets\/[^"]+)"/.exec(page.text)?.[1];
  const file = await test.request('GET', `/${script}`, { token: null });
  expect([file.status, file.headers['access-control-allow-origin']]).toEqual([200, '*']);
  const changed = search.replace('&view=true', '');
  expect((await test.request('GET', `${pathname}${changed}`, { token: null })).status).toBe(403);
});

it('is not needed by the page for templates that are not saved, which has no data and is framed by the console alone', async () => {
  const page = await test.request('GET', '/widget/preview', { token: null, headers: { 'sec-fetch-dest': 'iframe' } });
  expect(page.status).toBe(200);
  const policy = String(page.headers['content-security-policy']).split('; ');
  expect(policy).toEqual(
    expect.arrayContaining(['sandbox allow-scripts allow-forms', 'frame-ancestors http://localhost:8080']),
  );
  expect(page.text).toContain('<div id="inlay" data-preview></div>');
  expect(page.text).not.toContain('inlay-frame-proof');
  const script = /src="(assets\/[^"]+)"/.exec(page.text)?.[1];
  expect((await test.request('GET', `/widget/${script}`, { token: null })).status).toBe(200);
  // No address makes a preview of a widget with a token.
  const { url } = await widgetToken(test, {});
  const own = await test.request('GET', `${url.pathname}${url.search}`, { token: null });
  expect(own.text).not.toContain('data-preview');
  const without = await startTestApp('sqlite', { env: { INLAY_CONSOLE: 'off' } });
  onTestFinished(() => without.stop());
  expect((await without.request('GET', '/widget/preview', { token: null })).status).toBe(404);
});

it('ends with the session that asked for it', async () => {
  const begun = await test.request('POST', '/console/session', {
    token: null,
    headers: own,
    body: { token: test.operatorToken },
  });
  const cookie = String(begun.headers['set-cookie']).split(';')[0] ?? '';
  const made = await test.request('POST', `/console${path()}`, { token: null, headers: { ...own, cookie }, body: {} });
  expect(made.status, made.text).toBe(200);
  const { token } = made.body;
  expect((await test.request('GET', infoPath, { token })).status).toBe(200);
  await test.request('DELETE', '/console/session', { token: null, headers: { ...own, cookie } });
  expect((await test.request('GET', infoPath, { token })).status).toBe(401);
});

it('ends with the operator token that asked for it, and after 15 minutes', async () => {
  const { id, token: asking } = await test.app.operatorTokens.create(test.organizationId, { name: 'looks' });
  const { body } = await test.request('POST', path(), { token: asking, body: {} });
  expect((await test.request('GET', infoPath, { token: body.token })).status).toBe(200);
  const { iat, exp } = readToken(body.token).claims as { iat: number; exp: number };
  expect(exp - iat).toBe(900);
  await test.app.operatorTokens.revoke(test.organizationId, id);
  expect((await test.request('GET', infoPath, { token: body.token })).status).toBe(401);
});

it('is given for workspaces of the own organization, to those who may write, and is in the audit trail', async () => {
  const other = await addTenant(test, 'other');
  expect((await other.request('POST', path(), { body: {} })).status).toBe(404);
  const reader = await test.app.operatorTokens.create(test.organizationId, { name: 'reads', permission: 'read' });
  expect((await test.request('POST', path(), { token: reader.token, body: {} })).status).toBe(403);
  const { token } = await view();
  await test.app.workers.sequencer.pass();
  const { body } = await test.request('GET', '/api/v1/audit-events?types=view_token.created');
  expect(body.data.map((entry: { data: { token_id: string } }) => entry.data.token_id)).toContain(
    readToken(token).claims.jti,
  );
});
