/* The core of the language, by reading an API on this machine. Each test reads many streams at once. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, check, discover, manifestWith, read, startApi, stateOf } from '../test/declarative-api.ts';
import { readManifest, readSpecification } from './manifest/read-manifest.ts';
import { forAuthors } from './program.ts';
import { declarativeSource } from './source.ts';

let api: Api;
let config: Record<string, unknown>;
beforeAll(async () => {
  api = await startApi();
  config = { base: api.address, key: 'k-1', user: 'u', password: 'p' };
});
afterAll(() => api.close());

const ids = (records: Record<string, unknown>[] | undefined) => records?.map(({ id }) => id);
const rows = (...numbers: number[]) => ({ json: { rows: numbers.map((id) => ({ id })) } });

describe('a manifest', () => {
  it('is YAML 1.1 as Python reads it, with references, parameters and types that its places imply', () => {
    const { streams, specification, problems } = readManifest(`
version: "6.0.0"
type: DeclarativeSource
check: {stream_names: [a]}
definitions:
  odd/key: odd
  schema: &schema {type: object, properties: {y: {type: string}}}
  base:
    $parameters: {name: from_parameters, path: /from_parameters}
    retriever:
      requester: {url_base: "http://x", request_parameters: {a: "1"}}
      record_selector: {extractor: {field_path: ["a"]}}
    schema_loader: {type: InlineSchemaLoader, schema: {<<: *schema, required: [010, 12:30, no, 1e5, 0x10]}}
streams:
  - {$ref: "#/definitions/base"}
  - {$ref: "#/definitions/base", $parameters: {name: other}, retriever: {$ref: "#/definitions/base/retriever", requester: {url_base: "#/definitions/odd/key", request_parameters: {}}}}
spec: {connection_specification: {type: object, properties: {}}, documentation_url: "http://d"}
`);
    expect(problems).toEqual([]);
    expect(streams.map(({ name }) => name)).toEqual(['from_parameters', 'other']);
    expect(specification.documentationUrl).toBe('http://d');
    expect(streams[0]?.component).toMatchObject({
      retriever: {
        type: 'SimpleRetriever',
        requester: { type: 'HttpRequester', path: '/from_parameters' },
        record_selector: { type: 'RecordSelector', extractor: { type: 'DpathExtractor' } },
      },
      schema_loader: { schema: { properties: { y: {} }, required: [8, 750, false, '1e5', 16] } },
    });
    expect(streams[1]?.component).toMatchObject({ retriever: { requester: { url_base: 'odd' } } });
  });

  it('needs no types where only one component fits, as in call budgets', async () => {
    const manifest = manifestWith(
      '  - {$ref: "#/definitions/stream", name: first, $parameters: {name: first}, primary_key: id}',
      `concurrency_level: {default_concurrency: 3}
api_budget:
  type: HTTPAPIBudget
  policies:
    - {type: MovingWindowCallRatePolicy, rates: [{limit: 10, interval: PT1S}], matchers: [{url_path_pattern: ^/first, weight: 2}]}
    - {type: FixedWindowCallRatePolicy, period: PT1S, call_limit: 5, matchers: []}`,
    );
    expect(readManifest(manifest).problems).toEqual([]);
    api.answer(() => ({ json: { rows: [{ id: 1 }] } }));
    expect((await read({ manifest, config, streams: { first: 'full_refresh' } })).records.first).toEqual([{ id: 1 }]);
  });

  it('names what cannot run by its path and leaves out only the streams that it touches', async () => {
    const manifest = manifestWith(`
  - {$ref: "#/definitions/stream", name: first, class_name: stray}
  - {$ref: "#/definitions/stream", name: coded, retriever: {$ref: "#/definitions/retriever", requester: {$ref: "#/definitions/requester", authenticator: {type: CustomAuthenticator, class_name: source_x.components.Auth}}}}
  - {$ref: "#/definitions/stream", name: unknown, retriever: {$ref: "#/definitions/retriever", paginator: {type: NoSuchPaginator}}}
  - {$ref: "#/definitions/stream", name: odd, retriever: {$ref: "#/definitions/retriever", colour: red}}`);
    const { problems } = readManifest(manifest);
    expect(problems.map(({ level, path, message }) => `${level} ${path}: ${message}`)).toEqual([
      'error streams[1].retriever.requester.authenticator: CustomAuthenticator "source_x.components.Auth" requires code',
      'error streams[2].retriever.paginator: Unknown component NoSuchPaginator',
      'warning streams[3].retriever.colour: SimpleRetriever has no option colour',
    ]);
    const { streams } = await discover({ manifest, config });
    expect(streams.map(({ name }) => name)).toEqual(['first', 'odd']);
    const onlyCoded = manifest.replace(/ {2}- .*name: (first|unknown|odd).*\n?/g, '');
    await expect(discover({ manifest: onlyCoded, config })).rejects.toThrow('requires code');
  });

  it('refuses references that lead nowhere, to themselves or to something endless', () => {
    const start = 'version: 1.0.0\ntype: DeclarativeSource\ncheck: {}\nstreams: ["#/definitions/a"]\ndefinitions:\n';
    expect(() => readManifest(`${start}  b: {}`)).toThrow('does not exist');
    expect(() => readManifest(`${start}  a: {x: "#/definitions/a"}`)).toThrow('is circular');
    const levels = Array.from(
      { length: 30 },
      (_, level) => `  a${level}: ["#/definitions/a${level + 1}", "#/definitions/a${level + 1}"]`,
    );
    expect(() => readManifest(`${start}  a: "#/definitions/a0"\n${levels.join('\n')}\n  a30: 1`)).toThrow('too large');
    expect(() => readManifest('[1, 2]')).toThrow('must be an object');
  });

  it('gives its specification without reading the rest, and the same with it', () => {
    const text = manifestWith('  - {$ref: "#/definitions/stream", name: first}');
    expect(readSpecification(text)).toEqual(readManifest(text).specification);
    // Nor is the rest read for its author, until a command needs it.
    const broken = text.replace('streams:', 'streams: ["#/nowhere"]\nothers:');
    expect(readSpecification(broken)).toEqual(readManifest(text).specification);
    expect(() => forAuthors(declarativeSource(broken), broken)).not.toThrow();
    const referring = text
      .replace('{type: string}', '{$ref: "#/definitions/t"}')
      .replace('definitions:', 'definitions:\n  t: {type: integer}');
    expect(readSpecification(referring).connectionSpecification).toMatchObject({
      properties: { base: { type: 'integer' } },
    });
  });
});

describe('requests', () => {
  it('carry parameters, headers, bodies and credentials where the manifest puts them', async () => {
    api.answer(() => rows(1));
    const stream = (name: string, requester: string, more = '') =>
      `  - {$ref: "#/definitions/stream", name: ${name}, $parameters: {name: ${name}}, retriever: {$ref: "#/definitions/retriever", requester: {$ref: "#/definitions/requester", ${requester}}${more}}}`;
    const manifest = manifestWith(
      [
        stream(
          'key',
          `authenticator: {type: ApiKeyAuthenticator, api_token: "{{ config['key'] }}", inject_into: {type: RequestOption, inject_into: request_parameter, field_name: token}}`,
        ),
        stream(
          'old_key',
          `authenticator: {type: ApiKeyAuthenticator, api_token: "{{ config['key'] }}", header: X-Key}`,
        ),
        stream('bearer', `authenticator: {type: BearerAuthenticator, api_token: "{{ config['key'] }}"}`),
        stream(
          'basic',
          `authenticator: {type: BasicHttpAuthenticator, username: "{{ config['user'] }}", password: "{{ config['password'] }}"}`,
        ),
        stream('none', 'authenticator: {type: NoAuth}'),
        stream('json', `http_method: POST, request_body_json: {a: {b: "{{ 1 + 1 }}"}, gone: "{{ config['x'] }}"}`),
        stream('form', `http_method: POST, request_body_data: {a: "12", list: "{{ ['x', 'y'] }}"}`),
        stream(
          'text',
          `http_method: PUT, request_body_data: "plain {{ config['key'] }}", request_headers: {Content-Type: text/plain}`,
        ),
        stream('moved', `path: "a//b/../{{ config['key'] }}?q=1", request_parameters: {q: "1", r: "2 3"}`),
        stream('whole', `url: "{{ config['base'] }}/whole/url", url_base: "", path: ""`),
        stream(
          'clash',
          'request_parameters: {page: "1"}',
          ', paginator: {type: DefaultPaginator, page_token_option: {type: RequestOption, inject_into: request_parameter, field_name: page}, pagination_strategy: {type: PageIncrement, inject_on_first_request: true}}',
        ),
      ].join('\n'),
    );
    const names = ['key', 'old_key', 'bearer', 'basic', 'none', 'json', 'form', 'text', 'moved', 'whole', 'clash'];
    const { failures, statuses } = await read({
      manifest,
      config,
      streams: Object.fromEntries(names.map((name) => [name, 'full_refresh'])),
    });
    const asked = new Map(api.taken().map((one) => [one.path, one]));
    expect(asked.get('/key')?.query).toEqual({ token: 'k-1' });
    expect(asked.get('/old_key')?.headers['x-key']).toBe('k-1');
    expect(asked.get('/bearer')?.headers.authorization).toBe('Bearer k-1');
    expect(asked.get('/basic')?.headers.authorization).toBe('Basic dTpw');
    expect(asked.get('/none')?.headers.authorization).toBeUndefined();
    expect(asked.get('/json')).toMatchObject({
      method: 'POST',
      body: '{"a":{"b":2}}',
      headers: { 'content-type': 'application/json' },
    });
    expect(asked.get('/form')).toMatchObject({
      body: 'a=12&list=x&list=y',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(asked.get('/text')).toMatchObject({
      method: 'PUT',
      body: 'plain k-1',
      headers: { 'content-type': 'text/plain' },
    });
    expect(asked.get('/a/k-1')?.url).toBe('/a/k-1?q=1&r=2+3');
    expect(asked.has('/whole/url')).toBe(true);
    expect(failures.clash?.message).toContain('page of the same');
    expect(statuses).toMatchObject({ key: 'COMPLETE', clash: 'INCOMPLETE' });
  });

  it('continue to the next page in every way there is, and stop where it ends', async () => {
    const pages =
      'type: DefaultPaginator, page_token_option: {type: RequestOption, inject_into: request_parameter, field_name: at}';
    const stream = (name: string, paginator: string) =>
      `  - {$ref: "#/definitions/stream", name: ${name}, $parameters: {name: ${name}}, retriever: {$ref: "#/definitions/retriever", paginator: {${paginator}}}}`;
    const manifest = manifestWith(
      [
        stream(
          'number',
          `${pages}, page_size_option: {type: RequestOption, inject_into: header, field_name: Size}, pagination_strategy: {type: PageIncrement, page_size: 2, start_from_page: 1}`,
        ),
        stream(
          'offset',
          `${pages}, pagination_strategy: {type: OffsetIncrement, page_size: "{{ 2 }}", inject_on_first_request: true}`,
        ),
        stream(
          'last',
          `${pages}, pagination_strategy: {type: CursorPagination, cursor_value: "{{ last_record['id'] }}", stop_condition: "{{ last_page_size < 2 }}"}`,
        ),
        stream(
          'link',
          `type: DefaultPaginator, page_token_option: {type: RequestPath}, pagination_strategy: {type: CursorPagination, cursor_value: "{{ headers.link.next.url }}", stop_condition: "{{ 'next' not in headers['link'] }}"}`,
        ),
        stream(
          'body',
          'type: DefaultPaginator, page_token_option: {type: RequestOption, inject_into: body_json, field_path: [page, token]}, pagination_strategy: {type: CursorPagination, cursor_value: "{{ response[\'next\'] }}"}',
        ),
        stream('once', 'type: NoPagination'),
      ].join('\n'),
    );
    api.answer(({ path, query, body, url }, count) => {
      if (path === '/link') {
        return count === 0
          ? {
              ...rows(1),
              headers: { Link: `<${api.address}/link?at=2&x=y>; rel="next", <${api.address}/z>; rel="last"` },
            }
          : rows(2);
      }
      if (path === '/body') return { json: { rows: [{ id: count + 1 }], next: count < 1 ? 't' : null } };
      const start = count * 2;
      if (url === '' || body === 'never') return undefined;
      return count < 2 && query ? rows(start + 1, start + 2) : rows(start + 1);
    });
    const names = ['number', 'offset', 'last', 'link', 'body', 'once'];
    const { records } = await read({
      manifest,
      config,
      streams: Object.fromEntries(names.map((name) => [name, 'full_refresh'])),
    });
    const asked = api.taken();
    const tokens = (path: string) => asked.filter((one) => one.path === path).map(({ query }) => query.at);
    expect(tokens('/number')).toEqual([undefined, '2', '3']);
    expect(asked.find(({ path }) => path === '/number')?.headers.size).toBe('2');
    expect(tokens('/offset')).toEqual(['0', '2', '4']);
    expect(tokens('/last')).toEqual([undefined, '2', '4']);
    expect(asked.filter(({ path }) => path === '/link').map(({ url }) => url)).toEqual(['/link', '/link?at=2&x=y']);
    expect(asked.filter(({ path }) => path === '/body').map(({ body }) => body)).toEqual([
      '',
      '{"page":{"token":"t"}}',
    ]);
    expect(Object.fromEntries(Object.entries(records).map(([name, found]) => [name, ids(found)]))).toEqual({
      number: [1, 2, 3, 4, 5],
      offset: [1, 2, 3, 4, 5],
      last: [1, 2, 3, 4, 5],
      link: [1, 2],
      body: [1, 2],
      once: [1, 2],
    });
  });

  it('are tried again, given up, ignored or failed by the rules of the manifest', async () => {
    const stream = (name: string, handler: string) =>
      `  - {$ref: "#/definitions/stream", name: ${name}, $parameters: {name: ${name}}, retriever: {$ref: "#/definitions/retriever", requester: {$ref: "#/definitions/requester", error_handler: {${handler}}}}}`;
    const filter = (rule: string) =>
      `type: DefaultErrorHandler, response_filters: [{type: HttpResponseFilter, ${rule}}]`;
    const cases: [string, string, ReplyOf, Partial<Expected>][] = [
      ['plain', 'type: DefaultErrorHandler', { status: 500, times: 2 }, { waits: [1, 2] }],
      [
        'constant',
        'type: DefaultErrorHandler, backoff_strategies: [{type: ConstantBackoffStrategy, backoff_time_in_seconds: 3}]',
        { status: 500, times: 1 },
        { waits: [4] },
      ],
      [
        'doubled',
        'type: DefaultErrorHandler, backoff_strategies: [{type: ExponentialBackoffStrategy, factor: 3}]',
        { status: 503, times: 2 },
        { waits: [7, 13] },
      ],
      [
        'told',
        'type: DefaultErrorHandler, backoff_strategies: [{type: WaitTimeFromHeader, header: Wait, regex: "[0-9]+"}]',
        { status: 429, times: 1, headers: { Wait: '5s' } },
        { waits: [6], limited: true },
      ],
      [
        'too_long',
        'type: DefaultErrorHandler, backoff_strategies: [{type: WaitTimeFromHeader, header: Wait, max_waiting_time_in_seconds: 5}]',
        { status: 429, times: 1, headers: { Wait: '5' } },
        { failure: 'transient_error', limited: true },
      ],
      [
        'until',
        'type: DefaultErrorHandler, backoff_strategies: [{type: WaitUntilTimeFromHeader, header: Reset, min_wait: 2}]',
        { status: 500, times: 1, headers: { Reset: '1718452810' } },
        { waits: [11] },
      ],
      [
        'few',
        'type: DefaultErrorHandler, max_retries: 1',
        { status: 500, times: 9 },
        { waits: [1], failure: 'transient_error' },
      ],
      ['ignored', filter('http_codes: [404], action: IGNORE'), { status: 404, times: 9 }, { ids: [] }],
      [
        'refused',
        filter(
          'http_codes: [404], action: FAIL, failure_type: config_error, error_message: "No {{ response[\'what\'] }}"',
        ),
        { status: 404, times: 9, json: { what: 'shop' } },
        { failure: 'config_error', message: 'No shop' },
      ],
      [
        'contained',
        filter('error_message_contains: gone, action: IGNORE'),
        { status: 400, times: 9, json: { errors: [{ message: 'it is gone' }] } },
        { ids: [] },
      ],
      [
        'predicted',
        filter('predicate: "{{ response.get(\'ok\') == false }}", action: RETRY'),
        { status: 200, times: 1, json: { ok: false } },
        { waits: [1] },
      ],
      [
        'both',
        `type: CompositeErrorHandler, error_handlers: [{${filter('http_codes: [418], action: RETRY')}}, {${filter('http_codes: [403], action: IGNORE')}}]`,
        { status: 403, times: 9 },
        { ids: [] },
      ],
      ['forbidden', 'type: DefaultErrorHandler', { status: 403, times: 9 }, { failure: 'config_error' }],
    ];
    for (const [name, handler, reply, expected] of cases) {
      api.answer((_asked, count) => (count < reply.times ? { json: {}, ...reply } : rows(1)));
      const result = await read({
        manifest: manifestWith(stream(name, handler)),
        config,
        streams: { [name]: 'full_refresh' },
      });
      expect({
        name,
        ids: ids(result.records[name]),
        waits: result.waits,
        failure: result.failures[name]?.failureType,
        limited: result.limited.length > 0,
      }).toEqual({
        name,
        ids: expected.ids ?? (expected.failure ? [] : [1]),
        waits: expected.waits ?? [],
        failure: expected.failure,
        limited: expected.limited ?? false,
      });
      if (expected.message) expect(result.failures[name]?.message).toBe(expected.message);
    }
  });
});

interface ReplyOf {
  status: number;
  times: number;
  headers?: Record<string, string>;
  json?: unknown;
}
interface Expected {
  ids: number[];
  waits: number[];
  failure: string;
  message: string;
  limited: boolean;
}

describe('records', () => {
  it('are found, filtered, changed and cast as the manifest says', async () => {
    api.answer(() => ({
      json: {
        data: {
          a: [
            { id: 1, n: '5', tags: ['x', 'y'], o: { s: '', t: 1 } },
            { id: 2, n: 7, big: 0 },
          ],
          b: [{ id: 3, n: 'x' }],
        },
      },
    }));
    const stream = (name: string, selector: string, more = '') =>
      `  - {$ref: "#/definitions/stream", name: ${name}, ${more}retriever: {$ref: "#/definitions/retriever", requester: {$ref: "#/definitions/requester", path: /x}, record_selector: {type: RecordSelector, ${selector}}}}`;
    const at = (path: string) => `extractor: {type: DpathExtractor, field_path: ${path}}`;
    const manifest = manifestWith(
      [
        stream('all', at('[data, "*", "*"]')),
        stream(
          'filtered',
          `${at('[data, a]')}, record_filter: {type: RecordFilter, condition: "{{ record['id'] > 1 }}"}`,
        ),
        stream(
          'changed',
          `${at('[data, a]')}, transform_before_filtering: true, record_filter: {type: RecordFilter, condition: "{{ record['twice'] == 2 }}"}`,
          `transformations: [{type: AddFields, fields: [{path: [twice], value: "{{ record['id'] * 2 }}"}, {path: [deep, er], value: "{{ record['id'] }}", value_type: string}]}, {type: RemoveFields, field_pointers: [[tags, "0"], [n]]}, {type: RemoveFields, condition: "{{ property == '' }}", field_pointers: [["**"]]}], `,
        ),
        stream(
          'cast',
          `${at('[data, a]')}, schema_normalization: Default`,
          'schema_loader: {type: InlineSchemaLoader, schema: {type: object, properties: {id: {type: string}, n: {type: [integer, "null"]}, big: {type: boolean}, o: {type: object, properties: {t: {type: string}}}}}}, ',
        ),
        stream('lists', at('[data, "*"]')),
        stream('nothing', at('[no, such]')),
      ].join('\n'),
    );
    const names = ['all', 'filtered', 'changed', 'cast', 'lists', 'nothing'];
    const { records, failures } = await read({
      manifest,
      config,
      streams: Object.fromEntries(names.map((name) => [name, 'full_refresh'])),
    });
    expect(ids(records.all)).toEqual([1, 2, 3]);
    expect(ids(records.filtered)).toEqual([2]);
    expect(records.changed).toEqual([{ id: 1, tags: [null, 'y'], o: { t: 1 }, twice: 2, deep: { er: '1' } }]);
    expect(records.cast).toEqual([
      { id: '1', n: 5, tags: ['x', 'y'], o: { s: '', t: '1' } },
      { id: '2', n: 7, big: false },
    ]);
    expect(failures.lists?.failureType).toBe('system_error');
    expect(records.nothing).toEqual([]);
  });

  it('keep every digit of a number that no template touches', async () => {
    api.answer(() => ({ text: '{"rows": [{"id": 12345678901234567890, "f": 0.10000000000000000001}]}' }));
    const { records } = await read({
      manifest: manifestWith('  - {$ref: "#/definitions/stream", name: first, $parameters: {name: first}}'),
      config,
      streams: { first: 'full_refresh' },
    });
    expect(String(records.first?.[0]?.id)).toBe('12345678901234567890');
  });

  it('that have a number written with a point have it so in texts, keys, casts and requests, too', async () => {
    const text = '{"rows": [{"id": 5.0, "price": 12.00, "zero": 0.0, "at": 1717200000.0, "list": [2.0, 3, 2.5]}]}';
    api.answer(({ path, query }) => (path === '/child' ? { json: { rows: [{ asked: query.part }] } } : { text }));
    const fields = {
      text: "v{{ record['price'] }}",
      sum: "{{ record['price'] + 1 }} in all",
      listed: "{{ record['list'] | join('/') }}",
      json: "x{{ record['list'] | tojson }}",
      seconds: "{{ timestamp(record['at']) }}",
      none: "{{ 'some' if record['zero'] else 'none' }}",
    };
    const added = Object.entries(fields).map(([name, value]) => `{path: [${name}], value: ${JSON.stringify(value)}}`);
    const manifest = manifestWith(
      [
        `{$ref: "#/definitions/stream", name: first, $parameters: {name: first}, transformations: [{type: AddFields, fields: [${added.join(', ')}]}]}`,
        '{$ref: "#/definitions/stream", name: cast, $parameters: {name: cast}, retriever: {$ref: "#/definitions/retriever", record_selector: {$ref: "#/definitions/rows", schema_normalization: Default}}, schema_loader: {type: InlineSchemaLoader, schema: {properties: {id: {type: integer}, price: {type: string}, zero: {type: boolean}}}}, incremental_sync: {type: DatetimeBasedCursor, cursor_field: at, datetime_format: "%s", start_datetime: "1717100000"}}',
        '{$ref: "#/definitions/stream", name: child, $parameters: {name: child}, retriever: {$ref: "#/definitions/retriever", partition_router: {type: SubstreamPartitionRouter, parent_stream_configs: [{type: ParentStreamConfig, stream: {$ref: "#/definitions/stream", name: first, $parameters: {name: first}}, parent_key: id, partition_field: part, request_option: {type: RequestOption, inject_into: request_parameter, field_name: part}}]}}, incremental_sync: {type: DatetimeBasedCursor, cursor_field: at, datetime_format: "%s", start_datetime: "1717100000"}}',
      ]
        .map((one) => `  - ${one}`)
        .join('\n'),
    );
    const { records, states } = await read({
      manifest,
      config,
      streams: { first: 'full_refresh', cast: 'incremental', child: 'incremental' },
      // A state from before numbering started at 5.
      state: stateOf('child', {
        states: [{ partition: { part: 5, parent_slice: {} }, cursor: { at: '1717150000' } }],
      }),
    });
    expect(records.first).toEqual([
      {
        id: 5,
        price: 12,
        zero: 0,
        at: 1717200000,
        list: [2, 3, 2.5],
        text: 'v12.0',
        sum: '13.0 in all',
        listed: '2.0/3/2.5',
        json: 'x[2.0, 3, 2.5]',
        seconds: 1717200000,
        none: 'none',
      },
    ]);
    expect(records.cast).toMatchObject([{ id: 5, price: '12.0', zero: false }]);
    expect(states.cast).toEqual({ at: '1717200000' });
    expect(records.child).toEqual([{ asked: '5.0' }]);
    expect(states.child?.states).toHaveLength(1);
  });
});

describe('partitions and cursors', () => {
  const cursor =
    'incremental_sync: {type: DatetimeBasedCursor, cursor_field: day, datetime_format: "%Y-%m-%d", start_datetime: "2024-06-01", start_time_option: {type: RequestOption, inject_into: request_parameter, field_name: from}, end_time_option: {type: RequestOption, inject_into: request_parameter, field_name: to}';

  it('cut a stream into days, continue from a state and give every record once or more', async () => {
    const manifest = manifestWith(
      `  - {$ref: "#/definitions/stream", name: days, $parameters: {name: days}, ${cursor}, end_datetime: "2024-06-05", step: P2D, cursor_granularity: P1D, lookback_window: P1D}}`,
    );
    api.answer(({ query }) => ({ json: { rows: [{ id: 1, day: query.from }] } }));
    const first = await read({ manifest, config, streams: { days: 'incremental' } });
    const slices = () =>
      api
        .taken()
        .map(({ query }) => `${query.from} ${query.to}`)
        .sort();
    expect(slices()).toEqual(['2024-06-01 2024-06-02', '2024-06-03 2024-06-05']);
    expect(first.states.days).toEqual({ day: '2024-06-03' });
    await read({
      manifest,
      config,
      streams: { days: 'incremental' },
      state: stateOf('days', { day: '2024-06-04', kept: 1 }),
    });
    expect(slices()).toEqual(['2024-06-03 2024-06-05']);
    await read({ manifest, config, streams: { days: 'full_refresh' } });
    expect(slices()).toHaveLength(2);
  });

  it('leave the state before a slice that failed', async () => {
    const manifest = manifestWith(
      `  - {$ref: "#/definitions/stream", name: days, $parameters: {name: days}, ${cursor}, end_datetime: "2024-06-04", step: P1D, cursor_granularity: P1D}}`,
    );
    api.answer(({ query }) =>
      query.from === '2024-06-02' ? { status: 404 } : { json: { rows: [{ id: 1, day: query.from }] } },
    );
    const { states, statuses, records } = await read({ manifest, config, streams: { days: 'incremental' } });
    expect(states.days).toEqual({ day: '2024-06-01' });
    expect(statuses.days).toBe('INCOMPLETE');
    expect(records.days).toHaveLength(2);
  });

  it('drop old records here, and end a feed with the first one', async () => {
    const stream = (name: string, more: string) =>
      `  - {$ref: "#/definitions/stream", name: ${name}, $parameters: {name: ${name}}, retriever: {$ref: "#/definitions/retriever", paginator: {type: DefaultPaginator, page_token_option: {type: RequestOption, inject_into: request_parameter, field_name: at}, pagination_strategy: {type: PageIncrement, page_size: 1}}}, incremental_sync: {type: DatetimeBasedCursor, cursor_field: day, datetime_format: "%Y-%m-%d", start_datetime: "2024-06-01", ${more}}}`;
    const manifest = manifestWith(
      [
        stream('local', 'is_client_side_incremental: true'),
        stream('feed', 'is_data_feed: true'),
        stream('both', 'is_data_feed: true, is_client_side_incremental: true, end_datetime: "2024-06-10"'),
      ].join('\n'),
    );
    const days = ['2024-06-10', '2024-06-05', '2024-06-01', '2024-05-01'];
    api.answer((_asked, count) => ({ json: { rows: days[count] ? [{ id: count, day: days[count] }] : [] } }));
    const names = ['local', 'feed', 'both'];
    const { records, states } = await read({
      manifest,
      config,
      streams: Object.fromEntries(names.map((name) => [name, 'incremental' as const])),
      state: names.flatMap((name) => stateOf(name, { day: '2024-06-05' })),
    });
    expect(ids(records.local)).toEqual([0, 1]);
    expect(ids(records.feed)).toEqual([0, 1]);
    // A feed may end before now, and saying twice that old records are to be dropped changes nothing.
    expect(ids(records.both)).toEqual([0, 1]);
    expect(states.local).toEqual({ day: '2024-06-10' });
    const pages = (name: string) => api.asked().filter(({ path }) => path === `/${name}`).length;
    expect(names.map(pages)).toEqual([5, 3, 3]);
  });

  it('follow parents and lists, keep a state for each partition and read states of all forms', async () => {
    const parent = `{$ref: "#/definitions/stream", name: shops, $parameters: {name: shops}, incremental_sync: {type: DatetimeBasedCursor, cursor_field: at, datetime_format: "%Y-%m-%d", start_datetime: "2024-06-01", start_time_option: {type: RequestOption, inject_into: request_parameter, field_name: since}}}`;
    const manifest = manifestWith(`
  - {$ref: "#/definitions/stream", name: sales, retriever: {$ref: "#/definitions/retriever", requester: {$ref: "#/definitions/requester", path: "/sales/{{ stream_partition.shop }}/{{ stream_slice.extra_fields['name'] }}"}, partition_router: {type: SubstreamPartitionRouter, parent_stream_configs: [{type: ParentStreamConfig, stream: ${parent}, parent_key: id, partition_field: shop, incremental_dependency: true, extra_fields: [[name]], request_option: {type: RequestOption, inject_into: header, field_name: Shop}}]}}, ${cursor}}}
  - {$ref: "#/definitions/stream", name: grid, retriever: {$ref: "#/definitions/retriever", requester: {$ref: "#/definitions/requester", path: "/grid/{{ stream_partition.x }}{{ stream_partition.y }}"}, partition_router: [{type: ListPartitionRouter, cursor_field: x, values: [a, b]}, {type: ListPartitionRouter, cursor_field: y, values: "{{ ['c', 'd'] }}"}]}}`);
    api.answer(({ path }) => {
      if (path === '/shops')
        return {
          json: {
            rows: [
              { id: 'S1', name: 'one', at: '2024-06-02' },
              { name: 'no key', at: '2024-06-03' },
              { id: 'S2', name: 'two', at: '2024-06-04' },
            ],
          },
        };
      return { json: { rows: path.includes('S1') ? [{ id: 1, day: '2024-06-09' }] : [] } };
    });
    const first = await read({ manifest, config, streams: { sales: 'incremental', grid: 'full_refresh' } });
    const asked = api.taken();
    expect(asked.map(({ path }) => path).sort()).toEqual([
      '/grid/ac',
      '/grid/ad',
      '/grid/bc',
      '/grid/bd',
      '/sales/S1/one',
      '/sales/S2/two',
      '/shops',
    ]);
    expect(asked.find(({ path }) => path === '/sales/S1/one')?.headers.shop).toBe('S1');
    expect(first.states.sales).toEqual({
      use_global_cursor: false,
      states: [
        { partition: { shop: 'S1', parent_slice: {} }, cursor: { day: '2024-06-09' } },
        { partition: { shop: 'S2', parent_slice: {} }, cursor: { day: '2024-06-01' } },
      ],
      state: { day: '2024-06-09' },
      lookback_window: 0,
      parent_state: { shops: { at: '2024-06-04' } },
    });
    const since = async (state: Record<string, unknown>) => {
      await read({ manifest, config, streams: { sales: 'incremental' }, state: stateOf('sales', state) });
      const again = api.taken();
      return [
        again.find(({ path }) => path === '/shops')?.query.since,
        ...['S1/one', 'S2/two'].map((shop) => again.find(({ path }) => path === `/sales/${shop}`)?.query.from),
      ];
    };
    expect(await since(first.states.sales ?? {})).toEqual(['2024-06-04', '2024-06-09', '2024-06-01']);
    expect(await since({ day: '2024-06-07' })).toEqual(['2024-06-07', '2024-06-07', '2024-06-07']);
    expect(await since({ use_global_cursor: true, state: { day: '2024-06-08' }, lookback_window: 86400 })).toEqual([
      '2024-06-08',
      '2024-06-07',
      '2024-06-07',
    ]);
  });
});

describe('check and discover', () => {
  it('report whether a stream can be read, and what the streams are', async () => {
    const manifest = manifestWith(`
  - {$ref: "#/definitions/stream", name: first, $parameters: {name: first}, primary_key: [[a, b], c], incremental_sync: {type: DatetimeBasedCursor, cursor_field: day, datetime_format: "%Y-%m-%d", start_datetime: "2024-06-01"}}`);
    api.answer(() => rows());
    expect(await check({ manifest, config })).toBeUndefined();
    api.answer(() => ({ status: 401 }));
    expect(await check({ manifest, config })).toContain('first is not available');
    expect((await discover({ manifest, config })).streams).toEqual([
      {
        name: 'first',
        json_schema: { type: 'object', properties: { id: { type: 'integer' } } },
        supported_sync_modes: ['full_refresh', 'incremental'],
        is_resumable: true,
        source_defined_cursor: true,
        default_cursor_field: ['day'],
        source_defined_primary_key: [['a', 'b'], ['c']],
      },
    ]);
  });
});
