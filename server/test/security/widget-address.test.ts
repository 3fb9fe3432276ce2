/** The address in a widget token: changed in any way it opens nothing, and it never decides what the token may see. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { infoPath, readToken, unknownId, widgetToken } from './support.ts';

const origin = 'https://app.example';
let test: TestApp;
let widget: Awaited<ReturnType<typeof widgetToken>>;
let otherId: string;

beforeAll(async () => {
  test = await startTestApp('sqlite');
  otherId = await test.workspaceId('globex');
  widget = await widgetToken(test, {
    selected_source_template_tags: ['crm', 'eu & us'],
    selected_source_template_tags_mode: 'all',
    selected_connection_template_tags: ['daily'],
  });
});
afterAll(() => test.stop());

const open = (search: string) => test.request('GET', `/widget${search}`, { token: null });
const framedBy = (headers: Record<string, unknown>) =>
  /frame-ancestors ([^;]*)/.exec(String(headers['content-security-policy']))?.[1];

describe('A widget address', () => {
  it('as it was issued is served to the allowed origin alone', async () => {
    const { status, headers } = await open(widget.url.search);
    expect([status, framedBy(headers)]).toEqual([200, origin]);
    expect(headers['referrer-policy']).toBe('no-referrer');
    expect(headers['cache-control']).toBe('no-store');
    expect(String(headers['content-security-policy'])).not.toMatch(/unsafe-(inline|eval)|\*/);
    expect(headers['set-cookie']).toBeUndefined();
  });

  it('keeps the token out of what a server gets to see', () => {
    expect(widget.url.hash).toBe(`#${widget.inner}`);
    expect(widget.url.search).not.toContain(widget.inner.split('.')[2]);
    expect([...new Set(widget.url.searchParams.keys())]).toEqual([
      'workspaceId',
      'allowedOrigin',
      'selectedSourceTemplateTags',
      'selectedSourceTemplateTagsMode',
      'selectedConnectionTemplateTags',
      'selectedConnectionTemplateTagsMode',
      'sig',
    ]);
  });

  it('is refused, and may be framed by nobody, when any parameter was changed, added, removed or moved', async () => {
    const { search, searchParams } = widget.url;
    const pairs = search.slice(1).split('&');
    const join = (parts: string[]) => `?${parts.join('&')}`;
    const sig = searchParams.get('sig') ?? '';
    const changed = [
      ...pairs.map((_, index) => join(pairs.toSpliced(index, 1))),
      ...pairs.map((pair, index) => join(pairs.with(index, `${pair}x`))),
      ...pairs.map((pair, index) => join(pairs.with(index, `${pair.split('=')[0]}=`))),
      ...pairs.map((pair) => join([pair, ...pairs])),
      ...pairs.map((pair) => join([...pairs, pair])),
      join(pairs.toReversed()),
      join([...pairs.slice(1), pairs[0] ?? '']),
      search.replace(/workspaceId=[^&]+/, `workspaceId=${otherId}`),
      search.replace(/allowedOrigin=[^&]+/, 'allowedOrigin=https%3A%2F%2Fevil.example'),
      search.replace(/allowedOrigin=[^&]+/, 'allowedOrigin=*'),
      search.replace('TagsMode=all', 'TagsMode=any'),
      search.replace('%26', '&'),
      search.replace('%3A', '%3a'),
      search.replace('eu+%26+us', 'eu%20%26%20us'),
      `${search}&allowedOrigin=https%3A%2F%2Fevil.example`,
      `${search}&`,
      `?allowedOrigin=https%3A%2F%2Fevil.example&${search.slice(1)}`,
      search.replace(`sig=${sig}`, `sig=${sig.slice(0, -1)}${sig.endsWith('A') ? 'B' : 'A'}`),
      search.replace(`sig=${sig}`, `sig=unknown.${sig.split('.')[1]}`),
      search.replace(`sig=${sig}`, `sig=${'A'.repeat(60)}.${'A'.repeat(43)}`),
      search.replace(`sig=${sig}`, `sig=${widget.inner.split('.')[2]}`),
      search.replace('sig=', 'SIG='),
      '',
      '?',
      `?sig=${sig}`,
    ];
    expect(new Set(changed).has(search)).toBe(false);
    for (const query of new Set(changed)) {
      const { status, headers, text } = await open(query);
      expect([status, framedBy(headers)], query).toEqual([403, "'none'"]);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      for (const told of ['acme', 'globex', 'evil.example', String(searchParams.get('workspaceId'))]) {
        expect(text, query).not.toContain(told);
      }
    }
  });

  it('is read whole: what follows a second question mark counts as a change, too', async () => {
    for (const more of ['?', '?x', '?&selectedSourceTemplateTags=everything', '?&allowedOrigin=https://evil.example']) {
      const { status, headers } = await open(`${widget.url.search}${more}`);
      expect([status, framedBy(headers)], more).toEqual([403, "'none'"]);
    }
  });

  it('of one widget token does not take the signature of another', async () => {
    const other = await widgetToken(test, { allowed_origin: 'https://evil.example' });
    const mixed = widget.url.search.replace(/sig=.*/, `sig=${other.url.searchParams.get('sig')}`);
    expect((await open(mixed)).status).toBe(403);
    expect(framedBy((await open(other.url.search)).headers)).toBe('https://evil.example');
  });

  it('leads to a page of ours that runs scripts of ours only, and is the same for every workspace', async () => {
    const { text, headers } = await open(widget.url.search);
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; " +
        `img-src 'self' data: ${origin}; base-uri 'none'; form-action 'none'; frame-ancestors ${origin}`,
    );
    expect(headers['referrer-policy']).toBe('no-referrer');
    expect(text).not.toMatch(/<script(?! type="module" src="widget\/assets\/[\w-]+\.js"><\/script>)/);
    const name = `<script>alert("1")</script><img src=x onerror='alert(1)'>&amp;`;
    const { url } = await widgetToken(test, { workspace_name: name, theme: { font_family: 'Inter' }, locale: 'de' });
    expect((await open(url.search)).text).toBe(text);
  });

  it('carries theme and language, signed like the rest', async () => {
    const theme = { color_scheme: 'dark', primary_color: '#0f766e', radius: 4 };
    const { url } = await widgetToken(test, { theme, locale: 'ja' });
    expect(JSON.parse(url.searchParams.get('theme') ?? '')).toEqual(theme);
    expect(url.searchParams.get('locale')).toBe('ja');
    expect((await open(url.search)).status).toBe(200);
    expect((await open(url.search.replace('locale=ja', 'locale=de'))).status).toBe(403);
    expect((await open(url.search.replace('0f766e', 'ff0000'))).status).toBe(403);
  });

  it('is refused when it would be too long for a request, before anything is created', async () => {
    const tags = Array.from({ length: 100 }, (_, index) => `${index}`.padStart(20, 'ä'));
    const answer = await test.request('POST', '/api/v1/embedded/widget-token', {
      body: { workspace_name: 'never made', allowed_origin: origin, selected_source_template_tags: tags },
    });
    expect(answer).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'selected_source_template_tags'] }] },
    });
    const { body } = await test.request('GET', '/api/v1/workspaces?name_contains=never%20made');
    expect(body.data).toEqual([]);
  });
});

describe('Every other HTML page', () => {
  it('may be framed by nobody', async () => {
    const urls = test.app.routeTable.routes.filter(({ method, url }) => method === 'GET' && !url.includes(':'));
    let pages = 0;
    for (const { url } of urls) {
      for (const search of ['', widget.url.search]) {
        // What is for frames of the console is tested in console-views.test.ts.
        if ((url === '/widget' && search !== '') || url === '/widget/preview') continue;
        const { headers } = await test.request('GET', `${url}${search}`);
        if (!String(headers['content-type']).startsWith('text/html')) continue;
        pages += 1;
        expect(framedBy(headers), url).toBe("'none'");
      }
    }
    expect(pages, 'the reference and the refusal').toBeGreaterThanOrEqual(3);
  });
});

describe('The token inside a widget token', () => {
  it('works from its own page, from the widget itself and without a browser', async () => {
    for (const from of [origin, 'http://localhost:8080', undefined]) {
      const headers: Record<string, string> = from === undefined ? {} : { origin: from };
      const answer = await test.request('GET', infoPath, { token: widget.inner, headers });
      expect(answer.status).toBe(200);
      expect(answer.headers['access-control-allow-origin']).toBe(from === origin ? origin : undefined);
      expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
      expect(String(answer.headers.vary).toLowerCase()).toContain('origin');
    }
  });

  it('is answered 403 from any other origin, and CORS lets that origin read nothing', async () => {
    const origins = [
      'https://evil.example',
      'http://app.example',
      'https://app.example:8443',
      'https://sub.app.example',
    ];
    origins.push(
      'https://app.example.evil.example',
      'https://app.example/',
      'HTTPS://APP.EXAMPLE',
      'null',
      '*',
      '',
      'x',
    );
    origins.push('http://localhost:3000', `${origin}, https://evil.example`, `${origin}:443`);
    for (const from of origins) {
      const headers = { origin: from };
      const answer = await test.request('GET', infoPath, { token: widget.inner, headers });
      expect([answer.status, answer.text], from).toEqual([403, '{"detail":"Access denied to this resource"}']);
      const told = Object.keys(answer.headers).filter((name) => name.startsWith('access-control'));
      expect(told, from).toEqual([]);
    }
  });

  it('matches its origin as browsers write it: without the usual port', async () => {
    const { inner, url } = await widgetToken(test, { allowed_origin: 'https://app.example:443' });
    const headers = { origin };
    expect((await test.request('GET', infoPath, { token: inner, headers })).status).toBe(200);
    expect(framedBy((await open(url.search)).headers)).toBe(origin);
  });

  it('carries the filters signed: changing them in the address changes nothing', async () => {
    const { claims } = readToken(widget.inner);
    const filters = {
      selected_source_template_tags: ['crm', 'eu & us'],
      selected_source_template_tags_mode: 'all',
      selected_connection_template_tags: ['daily'],
      selected_connection_template_tags_mode: 'any',
    };
    expect(claims).toMatchObject({ allowed_origin: origin, template_filters: filters });
    const query = `?selectedSourceTemplateTags=everything&workspaceId=${otherId}&workspace_id=${unknownId}`;
    const { status, body } = await test.request('GET', `${infoPath}${query}`, { token: widget.inner });
    expect([status, body['workspace ID']]).toEqual([200, claims.sub]);
    expect((await open(widget.url.search.replace('=crm', '=everything'))).status).toBe(403);
  });
});
