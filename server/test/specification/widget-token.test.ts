/** Endpoint 3: the widget token's request fields and defaults, its claims, and the address it leads to. */
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { describeOnOneDatabase } from '../support/databases.ts';

const origin = 'https://app.example';
const originFault = {
  loc: ['body', 'allowed_origin'],
  msg: 'use http:// or https://, a lower-case host, and a port if needed, such as https://app.example.com',
  type: 'value_error.origin',
};
const modeFault = (field: string) => ({
  loc: ['body', field],
  msg: "value is not a valid enumeration member; permitted: 'any', 'all'",
  type: 'type_error.enum',
});

describeOnOneDatabase('Widget token', (kind) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp(kind);
  });
  afterAll(() => app.stop());

  const ask = (body: object) => app.request('POST', '/api/v1/embedded/widget-token', { body });
  async function issue(more: object = {}) {
    const { status, body, text } = await ask({ workspace_name: 'widget', allowed_origin: origin, ...more });
    expect(status, text).toBe(200);
    const { token, widgetUrl } = JSON.parse(Buffer.from(body.token, 'base64').toString('utf8'));
    return { token: String(token), widgetUrl: String(widgetUrl), claims: decodeJwt(token) };
  }

  describe('Endpoint 3: POST /api/v1/embedded/widget-token', () => {
    it('answers 200 in JSON that no cache may keep', async () => {
      const { status, headers } = await ask({ workspace_name: 'answer', allowed_origin: origin });
      expect(status).toBe(200);
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
      expect(headers['cache-control']).toBe('no-store');
    });

    it('workspace_name and allowed_origin: required; one answer reports both as missing', async () => {
      const { status, body } = await ask({});
      expect(status).toBe(422);
      expect(body).toEqual({
        detail: ['workspace_name', 'allowed_origin'].map((field) => ({
          loc: ['body', field],
          msg: 'field required',
          type: 'value_error.missing',
        })),
      });
    });

    it('workspace_name: the workspace to create or use', async () => {
      const { claims } = await issue({ workspace_name: 'used by both' });
      expect(claims.sub).toBe(await app.workspaceId('used by both'));
    });

    it('allowed_origin: carried in the signed claims', async () => {
      const { claims } = await issue({ allowed_origin: 'http://localhost:3000' });
      expect(claims.allowed_origin).toBe('http://localhost:3000');
    });

    it('region_id: used when the workspace is created', async () => {
      const region_id = 'b9e48d61-f082-4a14-a8d0-799a907938cb';
      const { claims } = await issue({ workspace_name: 'widget in the EU', region_id });
      expect((await app.platform('GET', `/workspaces/${claims.sub}`)).body.dataResidency).toBe('eu');
      const { status, body } = await ask({ workspace_name: 'x', allowed_origin: origin, region_id: 'eu' });
      expect(status).toBe(422);
      expect(body.detail).toEqual([
        { loc: ['body', 'region_id'], msg: 'value is not a valid uuid', type: 'type_error.uuid' },
      ]);
    });

    it('the four filter fields: default to no tags and the mode any', async () => {
      expect((await issue()).claims.template_filters).toEqual({
        selected_source_template_tags: [],
        selected_source_template_tags_mode: 'any',
        selected_connection_template_tags: [],
        selected_connection_template_tags_mode: 'any',
      });
    });

    it.each(['source', 'connection'])(
      'selected_%s_template_tags: carried in the signed claims, in order',
      async (of) => {
        const tags = ['crm', 'a tag with spaces', 'ä&=#?', 'crm'];
        const { claims } = await issue({ [`selected_${of}_template_tags`]: tags });
        expect(claims.template_filters).toMatchObject({ [`selected_${of}_template_tags`]: tags });
      },
    );

    it.each([
      ['source', 'any'],
      ['source', 'all'],
      ['connection', 'any'],
      ['connection', 'all'],
    ])('selected_%s_template_tags_mode: %s is carried in the signed claims', async (of, mode) => {
      const { claims } = await issue({ [`selected_${of}_template_tags_mode`]: mode });
      expect(claims.template_filters).toMatchObject({ [`selected_${of}_template_tags_mode`]: mode });
    });

    it.each(['source', 'connection'])('selected_%s_template_tags_mode: anything else gives 422', async (of) => {
      const field = `selected_${of}_template_tags_mode`;
      for (const mode of ['none', 'ANY', '']) {
        const { status, body } = await ask({ workspace_name: 'x', allowed_origin: origin, [field]: mode });
        expect(status).toBe(422);
        expect(body).toEqual({ detail: [modeFault(field)] });
      }
    });

    it.each(['source', 'connection'])('selected_%s_template_tags: an array of strings, or 422', async (of) => {
      const field = `selected_${of}_template_tags`;
      const faultOf = async (value: unknown) =>
        (await ask({ workspace_name: 'x', allowed_origin: origin, [field]: value })).body.detail;
      expect(await faultOf('crm')).toEqual([
        { loc: ['body', field], msg: 'value is not a valid list', type: 'type_error.list' },
      ]);
      expect(await faultOf(['crm', 7, null])).toEqual([
        { loc: ['body', field, '1'], msg: 'str type expected', type: 'type_error.str' },
        { loc: ['body', field, '2'], msg: 'none is not an allowed value', type: 'type_error.none.not_allowed' },
      ]);
      expect(await faultOf(['', 'a\u0000b'])).toEqual([
        { loc: ['body', field, '0'], msg: 'a tag must not be blank', type: 'value_error.tag' },
        { loc: ['body', field, '1'], msg: 'a tag must not contain control characters', type: 'value_error.tag' },
      ]);
    });

    it.each(['source', 'connection'])(
      'selected_%s_template_tags: too many bytes in all give 422 there, and no workspace is made',
      async (of) => {
        const field = `selected_${of}_template_tags`;
        const tags = Array.from({ length: 40 }, (_, index) => `${index}`.padEnd(200, 'x'));
        const workspace_name = `too many ${of} tags`;
        const { status, body } = await ask({ workspace_name, allowed_origin: origin, [field]: tags });
        expect(status).toBe(422);
        const search = encodeURIComponent(workspace_name);
        expect((await app.request('GET', `/api/v1/workspaces?name_contains=${search}`)).body.data).toEqual([]);
        expect(body.detail).toEqual([
          { loc: ['body', field], msg: expect.any(String), type: expect.stringMatching(/^value_error/) },
        ]);
      },
    );

    it('the token is a scoped token with exactly two claims more', async () => {
      const { token, claims } = await issue();
      const plain = decodeJwt(await app.scopedToken('widget'));
      expect(Object.keys(claims).toSorted()).toEqual(
        [...Object.keys(plain), 'allowed_origin', 'template_filters'].toSorted(),
      );
      const { status, body } = await app.request('GET', '/api/v1/embedded/scoped-token/info', { token });
      expect(status).toBe(200);
      expect(body['workspace ID']).toBe(plain.sub);
    });
  });

  describe('allowed_origin', () => {
    it.each([
      ['scheme plus host', 'https://app.example'],
      ['scheme plus host, http', 'http://app.example'],
      ['scheme plus host plus explicit port', 'https://app.example:8443'],
      ['the port that the scheme has anyway', 'https://app.example:443'],
      ['http:// origin on localhost with port (development)', 'http://localhost:3000'],
      ['an IPv4 address', 'http://127.0.0.1:3000'],
      ['an IPv6 address', 'http://[::1]:3000'],
      ['punycode', 'https://xn--bcher-kva.example'],
    ])('valid: %s', async (_form, allowed_origin) => {
      expect((await issue({ allowed_origin })).claims.allowed_origin).toBe(allowed_origin);
    });

    it.each([
      ['trailing slash', 'https://app.example/'],
      ['missing scheme', 'app.example'],
      ['missing scheme, with slashes', '//app.example'],
      ['wildcard host', 'https://*.app.example'],
      ['wildcard alone', '*'],
      ['path', 'https://app.example/path'],
      ['query', 'https://app.example?a=b'],
      ['fragment', 'https://app.example#a'],
      ['user info', 'https://user@app.example'],
      ['null', 'null'],
      ['upper case host', 'https://App.example'],
      ['upper case scheme', 'HTTPS://app.example'],
      ['non-ASCII host', 'https://bücher.example'],
      ['another scheme', 'ftp://app.example'],
      ['a port that is none', 'https://app.example:99999'],
      ['an empty port', 'https://app.example:'],
      ['white space', ' https://app.example'],
      ['a list', 'https://a.example https://b.example'],
      ['a header in it', 'https://app.example;report-uri'],
      ['nothing', ''],
    ])('invalid: %s', async (_form, allowed_origin) => {
      const { status, body } = await ask({ workspace_name: 'bad origin', allowed_origin });
      expect(status).toBe(422);
      expect(body).toEqual({ detail: [originFault] });
    });

    it('an invalid one creates nothing', async () => {
      await ask({ workspace_name: 'bad origin', allowed_origin: '*' });
      expect((await app.request('GET', '/api/v1/workspaces?name_contains=bad%20origin')).body.data).toEqual([]);
    });
  });

  describe('widgetUrl', () => {
    const filters = {
      selected_source_template_tags: ['crm', 'e&u'],
      selected_source_template_tags_mode: 'all',
      selected_connection_template_tags: ['daily'],
    };
    const page = (url: string) => app.request('GET', url.replace(/#.*$/, ''), { token: null });
    const ancestors = (headers: { [name: string]: unknown }) =>
      /frame-ancestors ([^;]*)/.exec(String(headers['content-security-policy']))?.[1];

    it('carries the workspace, the origin and the filters, and the token only in its fragment', async () => {
      const { token, widgetUrl, claims } = await issue(filters);
      const url = new URL(widgetUrl);
      expect(`${url.origin}${url.pathname}`).toBe('http://localhost:8080/widget');
      expect([...url.searchParams].filter(([name]) => name !== 'sig')).toEqual([
        ['workspaceId', claims.sub],
        ['allowedOrigin', origin],
        ['selectedSourceTemplateTags', 'crm'],
        ['selectedSourceTemplateTags', 'e&u'],
        ['selectedSourceTemplateTagsMode', 'all'],
        ['selectedConnectionTemplateTags', 'daily'],
        ['selectedConnectionTemplateTagsMode', 'any'],
      ]);
      expect(url.searchParams.getAll('sig')).toHaveLength(1);
      expect(url.hash).toContain(token);
      expect(url.search).not.toContain(token);
    });

    it('leads to a page that only the allowed origin may frame', async () => {
      const { status, headers } = await page((await issue(filters)).widgetUrl);
      expect(status).toBe(200);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      expect(ancestors(headers)).toBe(origin);
      expect(headers['referrer-policy']).toBe('no-referrer');
      const withPort = await page((await issue({ allowed_origin: 'https://app.example:443' })).widgetUrl);
      expect(ancestors(withPort.headers)).toBe('https://app.example');
    });

    it('is refused, and framed by nobody, when any parameter was changed', async () => {
      const { widgetUrl } = await issue(filters);
      const [address = ''] = widgetUrl.split('#');
      const changed = [
        ...[...new URL(address).searchParams.keys()].map((name) => {
          const url = new URL(address);
          url.searchParams.set(name, 'https://evil.example');
          return url.href;
        }),
        address.replace(/&sig=.*$/, ''),
        `${address}&allowedOrigin=https%3A%2F%2Fevil.example`,
        address.replace('/widget?', '/widget?allowedOrigin=https%3A%2F%2Fevil.example&'),
        'http://localhost:8080/widget',
      ];
      for (const url of changed) {
        const { status, headers } = await page(url);
        expect(status, url).toBe(403);
        expect(ancestors(headers), url).toBe("'none'");
      }
    });
  });
});
