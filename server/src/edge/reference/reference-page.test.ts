import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { endpointsOf, type OpenApiDocument } from './document.ts';

import { renderReference } from './reference-page.ts';
import { style } from './style.ts';

let test: TestApp;
/** Size limits: of all pages, and of the first. */
let page: string;
let overview: string;

beforeAll(async () => {
  test = await startTestApp('sqlite', { env: { INLAY_PUBLIC_URL: 'https://inlay.example.com' } });
  const load = async (url: string) => {
    const answer = await test.app.http.inject({ url });
    expect([answer.statusCode, answer.headers['content-type']], url).toEqual([200, 'text/html; charset=utf-8']);
    return answer.body;
  };
  overview = await load('/docs');
  const groups = [...overview.matchAll(/<li><a href="(docs\/[^"#]+)" data-page>/g)].map(([, address]) => address);
  expect(groups.length).toBeGreaterThan(5);
  page = overview;
  for (const address of groups) page += await load(`/${address}`);
});
afterAll(() => test.stop());

/** What a reader sees. */
const textOf = (markup: string) =>
  markup.replace(/<[^>]*>/g, '').replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code));

describe('The OpenAPI document', () => {
  const ask = (headers: Record<string, string> = {}) => test.app.http.inject({ url: '/openapi.json', headers });

  it('is made once, and sent only to those who lack it', async () => {
    const answer = await ask();
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-cache',
    });
    const etag = String(answer.headers.etag);
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    expect(JSON.parse(answer.body).openapi).toBe('3.1.0');
    expect((await ask()).rawPayload.equals(answer.rawPayload)).toBe(true);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const unchanged = await ask({ 'if-none-match': known });
      expect([known, unchanged.statusCode, unchanged.body, unchanged.headers.etag]).toEqual([known, 304, '', etag]);
    }
    expect((await ask({ 'if-none-match': '"other"' })).statusCode).toBe(200);
    const small = await ask({ 'accept-encoding': 'gzip' });
    expect(small.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding', etag });
    expect(gunzipSync(small.rawPayload).equals(answer.rawPayload)).toBe(true);
  });
});

describe('The API reference', () => {
  it('shows every route of the API', () => {
    const text = textOf(page);
    const routes = test.app.routeTable.routes.filter(
      ({ url, method }) => /^\/(api\/v1|\.well-known)\//.test(url) && method !== 'HEAD',
    );
    for (const { url, method } of routes) expect(text).toContain(`${method} ${url.replace(/:(\w+)/g, '{$1}')}\n`);
  });

  it('runs only its own script, has no style in it and loads nothing from elsewhere', () => {
    expect(page.replace(/<script type="module" src="(\.\.\/)?docs\/reference\.js"><\/script>/g, '')).not.toMatch(
      /<script|\sstyle=|\son\w+=|<style|<iframe|<object|<embed|javascript:/i,
    );
    const loaded = [...page.matchAll(/<(?:link|img|source|use)\b[^>]*\b(?:href|src|srcset)="([^"]*)"/g)];
    expect([...new Set(loaded.map(([, address]) => address?.replace('../', '')))]).toEqual([
      'docs/icon.svg',
      'docs/style.css',
    ]);
    expect(style).not.toMatch(/url\(|@import|@font-face/);
  });

  it('has a place for every link between its pages, and every id once on a page', async () => {
    const ids = new Map<string, string[]>();
    const pages = page.split('<!doctype html>').slice(1);
    for (const [index, one] of pages.entries()) {
      const own = [...one.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id ?? '');
      expect(new Set(own).size, `page ${index}`).toBe(own.length);
      for (const [, anchor] of one.matchAll(/href="#([^"]*)"/g)) expect(own).toContain(anchor);
      const current = /contents-group current"[^>]*>\s*<p class="title"><a href="([^"]*)"/.exec(one)?.[1] ?? '';
      ids.set(current.replace('../', ''), own);
    }
    for (const [, link] of overview.matchAll(/href="(docs[^"]*)" data-page/g)) {
      const [address = '', anchor] = (link ?? '').split('#');
      if (anchor !== undefined) expect(ids.get(address), link).toContain(anchor);
    }
    expect(ids.get('docs/tokens')).toContain('generate-scoped-token');
  });

  it('has no page for an unknown group', async () => {
    expect((await test.app.http.inject({ url: '/docs/nothing' })).statusCode).toBe(404);
  });

  it('gives a command that can be pasted', () => {
    expect(textOf(page)).toContain(
      [
        'curl -X POST https://inlay.example.com/api/v1/embedded/scoped-token \\',
        '  -H "Authorization: Bearer $INLAY_OPERATOR_TOKEN" \\',
        "  -H 'Content-Type: application/json' \\",
        `  -d '{"workspace_name": "acme-inc"}'`,
      ].join('\n'),
    );
  });

  it('documents the errors of HTTP itself', async () => {
    const headers = { authorization: `Bearer ${test.operatorToken}` };
    const url = '/api/v1/embedded/scoped-token';
    const json = { ...headers, 'content-type': 'application/json' };
    const answers = [
      await test.app.http.inject({ url: '/nowhere' }),
      await test.app.http.inject({ method: 'PUT', url }),
      await test.app.http.inject({ method: 'POST', url, headers: json, payload: `"${'x'.repeat(1_048_576)}"` }),
      await test.app.http.inject({
        method: 'POST',
        url,
        headers: { ...headers, 'content-type': 'text/plain' },
        payload: 'x',
      }),
    ];
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([404, 405, 413, 415]);
    for (const answer of answers) {
      const code = answer.headers['x-inlay-error'];
      expect(page).toContain(
        `${answer.statusCode}</span></th><td><code>${code}</code></td><td>${answer.json().detail}</td>`,
      );
    }
  });
});

describe('A page of any document', () => {
  const textOfPages = (document: OpenApiDocument) => {
    const { overview, groups } = renderReference(document);
    return [overview, ...groups.values()].map(({ text }) => text).join('');
  };
  const hostile = '<script>alert(1)</script> "and" `<b>code</b>`';
  const document: OpenApiDocument = {
    info: { title: hostile, version: '1' },
    tags: [{ name: 'Listed', description: hostile }],
    paths: {
      '/things/{thing}': {
        patch: {
          summary: hostile,
          description: hostile,
          tags: [hostile],
          parameters: [{ name: 'thing', in: 'path', required: true, description: hostile, example: hostile }],
          requestBody: {
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  properties: { [hostile]: { type: 'string', description: hostile, enum: [hostile] } },
                },
              },
            },
          },
          responses: {
            200: { description: hostile, content: { 'application/json': { example: { [hostile]: hostile } } } },
            418: { description: hostile },
          },
        },
      },
    },
  };

  it('shows what the document says as text, and code between backticks', () => {
    const text = textOfPages(document);
    expect(text).not.toMatch(/<script(?! type="module" src="(\.\.\/)?docs\/reference\.js")/);
    expect(text).not.toContain('<b>');
    expect(text).toContain('&#60;script&#62;alert(1)');
    expect(text).toContain('<code>&#60;b&#62;code&#60;/b&#62;</code>');
  });

  it('holds endpoints that say next to nothing about themselves', () => {
    const bare: OpenApiDocument = {
      info: { title: 'Bare', version: '1' },
      paths: { '/things': { get: { responses: {} }, delete: { responses: { 204: { description: 'Gone' } } } } },
    };
    const text = textOfPages(bare);
    expect(endpointsOf(bare).map(({ operationId }) => operationId)).toEqual(['getThings', 'deleteThings']);
    expect(textOf(text)).toContain('DELETE /things\n');
    expect(textOf(text)).toContain('Other');
  });
});
