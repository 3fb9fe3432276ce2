/** Parameters and fields that a schema does not have are accepted and named; with strict handling they are refused. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';

const workspaces = '/api/v1/workspaces';
const widgetToken = '/api/v1/embedded/widget-token';
const strict = { prefer: 'handling=strict' };

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp('sqlite');
});
afterAll(() => app.stop());

const widgetRequest = { workspace_name: 'acme', allowed_origin: 'https://app.example.com' };

describe('Unknown parameters and fields', () => {
  it('are accepted and named in X-Inlay-Unknown', async () => {
    const list = await app.request('GET', `${workspaces}?name=acme&limit=1`);
    expect([list.status, list.headers['x-inlay-unknown']]).toEqual([200, 'query.name']);
    const body = { ...widgetRequest, colour: 1, theme: { radius: 8, colour: 'red' } };
    const token = await app.request('POST', `${widgetToken}?x=1`, { body });
    expect([token.status, token.headers['x-inlay-unknown']]).toEqual([200, 'query.x, body.colour, body.theme.colour']);
    expect(token.headers['preference-applied']).toBeUndefined();
  });

  it('are not reported when there are none', async () => {
    const answer = await app.request('POST', widgetToken, { body: { ...widgetRequest, theme: { radius: 8 } } });
    expect(answer.status).toBe(200);
    expect(answer.headers).not.toHaveProperty('x-inlay-unknown');
  });

  it('are named beside the faults of the request, too', async () => {
    const answer = await app.request('POST', widgetToken, { body: { workspace: 'acme' } });
    expect([answer.status, answer.headers['x-inlay-unknown']]).toEqual([422, 'body.workspace']);
    expect(answer.body.detail.map(({ loc }: { loc: string[] }) => loc.join('.'))).not.toContain('body.workspace');
  });

  it('are looked for in lists and named objects, but not inside a configuration', async () => {
    const templates = '/api/v1/integrations/templates/sources';
    const definitions = await app.request('GET', '/api/v1/integrations/definitions/sources');
    const { sourceDefinitionId } = definitions.body.definitions.find(
      ({ name }: { name: string }) => name === 'Sample Data',
    );
    const answer = await app.request('POST', templates, {
      headers: strict,
      body: {
        actor_definition_id: sourceDefinitionId,
        partial_default_config: { seed: 7 },
        customization: { stream_customizations: { users: { cursor: ['id'] } }, mode: 'all' },
      },
    });
    expect(answer.status).toBe(422);
    expect(answer.body.detail).toEqual(
      [
        ['body', 'customization', 'stream_customizations', 'users', 'cursor'],
        ['body', 'customization', 'mode'],
      ].map((loc) => ({ loc, msg: 'extra fields not permitted', type: 'value_error.extra' })),
    );
  });

  it('are safe in a header, and the header stays short', async () => {
    const hostile = 'a\r\nSet-Cookie: x=1, "ü".\ud800';
    const one = await app.request('POST', widgetToken, { body: { ...widgetRequest, [hostile]: 1 } });
    expect(one.status).toBe(200);
    expect(one.headers['x-inlay-unknown']).toMatch(/^body\.a%0D%0ASet-Cookie%3A%20x%3D1%2C%20%22%C3%BC%22%2E[%\w]+$/);
    expect(one.headers).not.toHaveProperty('set-cookie');
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field_${index}`, 1]));
    const long = await app.request('POST', widgetToken, {
      body: { ...widgetRequest, ...many, ['é'.repeat(9_000)]: 1 },
    });
    expect(long.status).toBe(200);
    expect(String(long.headers['x-inlay-unknown'])).toMatch(/^body\.field_0, .*, \.\.\.$/);
    expect(String(long.headers['x-inlay-unknown']).length).toBeLessThan(600);
  });

  it.each(['handling=strict', 'respond-async, handling=strict', 'Handling="STRICT"; x=1', 'handling = strict'])(
    'are refused with Prefer: %s',
    async (prefer) => {
      const body = { ...widgetRequest, theme: { colour: 'red' } };
      const answer = await app.request('POST', `${widgetToken}?name=x`, { body, headers: { prefer } });
      expect([answer.status, answer.body]).toEqual([
        422,
        {
          detail: [
            { loc: ['query', 'name'], msg: 'extra fields not permitted', type: 'value_error.extra' },
            { loc: ['body', 'theme', 'colour'], msg: 'extra fields not permitted', type: 'value_error.extra' },
          ],
        },
      ]);
      expect(answer.headers['preference-applied']).toBe('handling=strict');
      expect(answer.headers['x-inlay-error']).toBe('invalid_request');
    },
  );

  it.each(['handling=lenient', 'handling=lenient, handling=strict', 'return=minimal', 'handling', 'strict'])(
    'are accepted with Prefer: %s',
    async (prefer) => {
      const answer = await app.request('GET', `${workspaces}?name=x`, { headers: { prefer } });
      expect([answer.status, answer.headers['x-inlay-unknown']]).toEqual([200, 'query.name']);
    },
  );

  it('do not hinder a strict request that has none', async () => {
    const answer = await app.request('GET', `${workspaces}?limit=1`, { headers: strict });
    expect([answer.status, answer.headers['preference-applied']]).toEqual([200, 'handling=strict']);
  });

  it('may be asked about from a browser', async () => {
    const { headers } = await app.request('OPTIONS', '/api/v1/embedded/sources', { token: null });
    expect(headers['access-control-allow-headers']).toContain('prefer');
  });
});

it('A text that is no colour is refused', async () => {
  const body = { ...widgetRequest, theme: { primary_color: 'redd' } };
  const answer = await app.request('POST', widgetToken, { body });
  expect([answer.status, answer.body.detail]).toEqual([
    422,
    [
      {
        loc: ['body', 'theme', 'primary_color'],
        msg: 'use a CSS colour such as #4f46e5, rgb(79 70 229) or teal',
        type: 'value_error.color',
      },
    ],
  ]);
});
