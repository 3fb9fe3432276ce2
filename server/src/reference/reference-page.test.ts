import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../test/support/app.ts';
import { endpointsOf, type OpenApiDocument } from './document.ts';

import { renderReference } from './reference-page.ts';
import { style } from './style.ts';

let test: TestApp;
let page: string;

beforeAll(async () => {
  test = await startTestApp('sqlite', { env: { INLAY_PUBLIC_URL: 'https://inlay.example.com' } });
  const answer = await test.app.http.inject({ url: '/docs' });
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  page = answer.body;
});
afterAll(() => test.stop());

/** What a reader sees. */
const textOf = (markup: string) =>
  markup.replace(/<[^>]*>/g, '').replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code));

describe('The API reference', () => {
  it('shows every route of the API', () => {
    const text = textOf(page);
    const routes = test.app.routeTable.routes.filter(
      ({ url, method }) => /^\/(api\/v1|\.well-known)\//.test(url) && method !== 'HEAD',
    );
    for (const { url, method } of routes) expect(text).toContain(`${method} ${url.replace(/:(\w+)/g, '{$1}')}\n`);
  });

  it('runs no script, has no style of its own in it and loads nothing from elsewhere', () => {
    expect(page).not.toMatch(/<script|\sstyle=|\son\w+=|<style|<iframe|<object|<embed|javascript:/i);
    const loaded = [...page.matchAll(/<(?:link|img|source|use)\b[^>]*\b(?:href|src|srcset)="([^"]*)"/g)];
    expect(loaded.map(([, address]) => address)).toEqual(['docs/style.css']);
    expect(style).not.toMatch(/url\(|@import|@font-face/);
  });

  it('has a place for every link within it, and every id once', () => {
    const ids = [...page.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, anchor] of page.matchAll(/href="#([^"]*)"/g)) expect(ids).toContain(anchor);
    expect(ids).toContain('generate-scoped-token');
  });

  it('gives a command that can be pasted', () => {
    expect(textOf(page)).toContain(
      [
        'curl -X POST https://inlay.example.com/api/v1/embedded/scoped-token \\',
        '  -H "Authorization: Bearer $OPERATOR_TOKEN" \\',
        "  -H 'Content-Type: application/json' \\",
        `  -d '{"workspace_name": "acme-inc"}'`,
      ].join('\n'),
    );
  });

  it('tells the refusals of HTTP itself as they are', async () => {
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
    const { text } = renderReference(document);
    expect(text).not.toContain('<script');
    expect(text).not.toContain('<b>');
    expect(text).toContain('&#60;script&#62;alert(1)');
    expect(text).toContain('<code>&#60;b&#62;code&#60;/b&#62;</code>');
  });

  it('holds endpoints that say next to nothing about themselves', () => {
    const bare: OpenApiDocument = {
      info: { title: 'Bare', version: '1' },
      paths: { '/things': { get: { responses: {} }, delete: { responses: { 204: { description: 'Gone' } } } } },
    };
    const { text } = renderReference(bare);
    expect(endpointsOf(bare).map(({ operationId }) => operationId)).toEqual(['getThings', 'deleteThings']);
    expect(textOf(text)).toContain('DELETE /things\n');
    expect(textOf(text)).toContain('Other');
  });
});
