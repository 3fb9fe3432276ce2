// Ledgerline, a fictional bookkeeping product with an API and OAuth, to try sign-ins locally: a consent page, codes with PKCE,
// access tokens that live a minute, refresh tokens, revocation, and invoices to read. All state except revocations is in the
// signed tokens. Not for production.
//
//   CLIENT_SECRET=… node examples/test-provider/provider.mjs

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

/** Accounts, without passwords. @type {Record<string, { email: string, company: string }>} */
const accounts = {
  1: { email: 'ada@kestrel.example', company: 'Kestrel Coffee' },
  2: { email: 'grace@riviere.example', company: 'Atelier Rivière' },
  3: { email: 'noor@falcon.example', company: 'Falcon Couriers' },
};
const scopesInWords = { 'invoices.read': 'Read your invoices', 'customers.read': 'Read your customers' };
const codeSeconds = 60;
const accessTokenSeconds = 60;
const perPage = 100;

/**
 * @param {{ port: number, clientId: string, clientSecret: string, now?: () => number }} settings
 */
export async function startTestProvider({ port, clientId, clientSecret, now = Date.now }) {
  const url = `http://localhost:${port}`;
  /** Revoked grants and used codes. @type {Set<string>} */
  const spent = new Set();
  /** Grants by account, since the start. @type {Map<string, Set<string>>} */
  const granted = new Map();

  /** @param {object} content */
  function sign(content) {
    const text = Buffer.from(JSON.stringify(content)).toString('base64url');
    return `${text}.${signatureOf(text)}`;
  }
  /** @param {string} text */
  const signatureOf = (text) => createHmac('sha256', clientSecret).update(text).digest('base64url');

  /** Verifies a token of this kind and returns its content, unless expired or revoked. @param {string} kind @param {string | null | undefined} token @returns {any} */
  function open(kind, token) {
    const [text = '', signature = ''] = (token ?? '').split('.');
    if (!isSame(signature, signatureOf(text))) return undefined;
    const content = JSON.parse(Buffer.from(text, 'base64url').toString());
    const isOver = content.until !== undefined && content.until <= now();
    return content.kind === kind && !isOver && !spent.has(content.grant) ? content : undefined;
  }

  /** The consent page. @param {URLSearchParams} query */
  function consentPage(query) {
    if (query.get('client_id') !== clientId || query.get('response_type') !== 'code' || !query.get('redirect_uri')) {
      return notice('Unknown app.');
    }
    const scopes = (query.get('scope') ?? '').split(' ').filter(Boolean);
    const hidden = [...query].map(
      ([name, value]) => `<input type="hidden" name="${inMarkup(name)}" value="${inMarkup(value)}">`,
    );
    const boxes = scopes.map(
      (scope) =>
        `<label><input type="checkbox" name="granted" value="${inMarkup(scope)}" checked> ${inMarkup(scopesInWords[scope] ?? scope)}</label>`,
    );
    const people = Object.entries(accounts).map(
      ([id, { email, company }]) =>
        `<button name="account" value="${id}">${inMarkup(email)}<small>${inMarkup(company)}</small></button>`,
    );
    return page(
      'Sign in to Ledgerline',
      `<p>An app wants to:</p><form method="post">${hidden.join('')}${boxes.join('')}
      <p>Continue as</p>${people.join('')}<button name="denied" value="1" class="plain">Cancel</button></form>`,
    );
  }

  /** Where to redirect after the customer's choice. @param {URLSearchParams} form */
  function decide(form) {
    const target = new URL(form.get('redirect_uri') ?? '');
    const answer = { state: form.get('state') ?? '', iss: url };
    if (form.has('denied')) return withParams(target, { ...answer, error: 'access_denied' });
    const code = sign({
      kind: 'code',
      grant: `${now()}-${Math.random()}`,
      account: form.get('account'),
      scope: form.getAll('granted').join(' '),
      challenge: form.get('code_challenge'),
      redirect: form.get('redirect_uri'),
      until: now() + codeSeconds * 1000,
    });
    return withParams(target, { ...answer, code });
  }

  /** @param {URLSearchParams} form @returns {[status: number, body: object]} */
  function token(form) {
    if (form.get('client_id') !== clientId || !isSame(form.get('client_secret') ?? '', clientSecret)) {
      return [401, { error: 'invalid_client' }];
    }
    if (form.get('grant_type') === 'authorization_code') {
      const code = open('code', form.get('code'));
      const verifier = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      if (!code || code.redirect !== form.get('redirect_uri') || (code.challenge && code.challenge !== verifier)) {
        return [400, { error: 'invalid_grant' }];
      }
      spent.add(code.grant);
      return [200, tokensFor({ grant: `${code.grant}-granted`, account: code.account, scope: code.scope })];
    }
    const refresh = open('refresh', form.get('refresh_token'));
    if (form.get('grant_type') !== 'refresh_token' || !refresh) return [400, { error: 'invalid_grant' }];
    return [200, tokensFor(refresh)];
  }

  /** @param {{ grant: string, account: string, scope: string }} granted */
  function tokensFor({ grant, account, scope }) {
    const until = now() + accessTokenSeconds * 1000;
    granted.set(account, (granted.get(account) ?? new Set()).add(grant));
    return {
      access_token: sign({ kind: 'access', grant, account, scope, until }),
      token_type: 'Bearer',
      expires_in: accessTokenSeconds,
      refresh_token: sign({ kind: 'refresh', grant, account, scope }),
      scope,
    };
  }

  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', url);
    const form = new URLSearchParams(request.method === 'POST' ? await bodyOf(request) : '');
    const route = `${request.method} ${pathname}`;
    if (route === 'GET /authorize') return sendPage(response, consentPage(searchParams));
    if (route === 'POST /authorize') return response.writeHead(303, { location: decide(form) }).end();
    if (route === 'POST /token') return sendJson(response, ...token(form));
    if (route === 'POST /revoke') {
      const ended = open('refresh', form.get('token')) ?? open('access', form.get('token'));
      if (ended) spent.add(ended.grant);
      return sendJson(response, 200, {});
    }
    const access = open('access', /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1]);
    if (!access) return sendJson(response, 401, { message: 'Sign in first.' });
    if (route === 'GET /me') return sendJson(response, 200, { id: access.account, ...accounts[access.account] });
    if (route === 'GET /invoices') {
      if (!access.scope.split(' ').includes('invoices.read'))
        return sendJson(response, 403, { message: 'Missing the scope invoices.read.' });
      return sendJson(response, 200, invoicesOf(access.account, Number(searchParams.get('page') ?? 1)));
    }
    return sendJson(response, 404, { message: 'Not found.' });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url,
    /** Revokes an account's grants, as if its owner had removed the app. Signing in again creates a new grant. @param {string} account */
    endGrants(account) {
      for (const grant of granted.get(account) ?? []) spent.add(grant);
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** 250 invoices of an account, in pages. @param {string} account @param {number} number */
function invoicesOf(account, number) {
  const all = Array.from({ length: 250 }, (_, index) => ({
    id: `${account}-${index + 1}`,
    customer: ['Corner Café', 'Station Kiosk', 'Bay Hotel'][index % 3],
    total: ((index * 37) % 900) + 12.5,
    issued_at: new Date(Date.UTC(2026, 0, 1, index)).toISOString(),
  }));
  return all.slice((number - 1) * perPage, number * perPage);
}

/** @param {string} one @param {string} other */
function isSame(one, other) {
  const [first, second] = [one, other].map((text) => createHash('sha256').update(text).digest());
  return timingSafeEqual(first, second);
}

/** @param {URL} url @param {Record<string, string>} params */
function withParams(url, params) {
  for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value);
  return url.href;
}

/** @param {import('node:http').IncomingMessage} request */
async function bodyOf(request) {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += chunk;
    if (text.length > 20_000) return '';
  }
  return text;
}

/** @param {string} text */
const inMarkup = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** @param {string} text */
const notice = (text) => page('Ledgerline', `<p>${inMarkup(text)}</p>`);

/** @param {string} title @param {string} content */
const page = (title, content) => `<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 22rem; margin: 3rem auto; padding: 0 1rem; color: #24303b; background: #f3f1ea }
h1 { font-size: 1.3rem } label { display: block; margin: .4rem 0 }
button { display: block; width: 100%; margin: .5rem 0; padding: .7rem 1rem; font: inherit; text-align: left; border: 1px solid #b9b2a0; border-radius: .5rem; background: #fff; cursor: pointer }
button:hover { border-color: #24303b } small { display: block; color: #6a6f73 } .plain { text-align: center; background: none }
</style><h1>${title}</h1>${content}</html>`;

/** @param {import('node:http').ServerResponse} response @param {string} content */
function sendPage(response, content) {
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' }).end(content);
}

/** @param {import('node:http').ServerResponse} response @param {number} status @param {object} body */
function sendJson(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { PORT = '8095', CLIENT_ID = 'demo', CLIENT_SECRET } = process.env;
  if (!CLIENT_SECRET) {
    console.error('Set CLIENT_SECRET to what the OAuth client in Inlay has. "npm run demo" sets up everything.');
    process.exit(1);
  }
  console.log((await startTestProvider({ port: Number(PORT), clientId: CLIENT_ID, clientSecret: CLIENT_SECRET })).url);
}
