/* Options of the language that are rarely used, each by what it changes in requests and records. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Api, check, discover, manifestWith, type Reply, read, startApi } from '../test/declarative-api.ts';
import { readManifest } from './manifest/read-manifest.ts';
import { schemaCheck } from './run/json-schema.ts';

let api: Api;
let config: Record<string, unknown>;
beforeAll(async () => {
  api = await startApi();
  config = { base: api.address, none: '', retries: 1 };
});
afterAll(() => api.close());

const row = { json: { rows: [{ id: 1 }] } };
const full = (...names: string[]) => Object.fromEntries(names.map((name) => [name, 'full_refresh' as const]));
const lines = (...streams: string[]) => streams.map((one) => `  - ${one}`).join('\n');
const stream = (name: string, more = '') =>
  `{$ref: "#/definitions/stream", name: ${name}, $parameters: {name: ${name}}${more === '' ? '' : `, ${more}`}}`;
/** A stream with further options of its requester, its retriever and itself. */
const asking = (name: string, requester: string, retriever = '', more = '') =>
  stream(
    name,
    `retriever: {$ref: "#/definitions/retriever", requester: {$ref: "#/definitions/requester"${requester === '' ? '' : `, ${requester}`}}${retriever}}${more}`,
  );
const handler = (...parts: string[]) => `error_handler: {type: DefaultErrorHandler, ${parts.join(', ')}}`;
const onStatus = (status: number, action: string) =>
  `response_filters: [{type: HttpResponseFilter, http_codes: [${status}], action: ${action}}]`;
const parameter = (name: string) => `{type: RequestOption, inject_into: request_parameter, field_name: ${name}}`;
const askedAt = (path: string) => api.asked().filter((one) => one.path === path);
const problemsOf = (manifest: string) =>
  readManifest(manifest).problems.map(({ path, message }) => `${path}: ${message}`);

describe('waits', () => {
  it('may depend on the answer, be longer by chance, and have a limit that the configuration gives', async () => {
    const waiting = (name: string, strategy: string, ...more: string[]) =>
      asking(name, handler(onStatus(503, 'RETRY'), `backoff_strategies: [${strategy}]`, ...more));
    const constant = (value: string, more = '') =>
      `{type: ConstantBackoffStrategy, backoff_time_in_seconds: ${value}${more}}`;
    const manifest = manifestWith(
      lines(
        waiting('told', constant('"{{ response.wait_ms / 1000 + attempt_count }}"')),
        waiting('header', constant(`"{{ headers['X-Wait'] }}"`)),
        // Neither has a time: the waits are those without a strategy.
        waiting('missing', `${constant('"{{ response.no.such }}"')}, ${constant('"soon"')}`, `max_retries: 1`),
        waiting('chance', constant('10', ', jitter_range_in_seconds: 4'), 'max_retries: 3'),
        waiting(
          'growing',
          '{type: ExponentialBackoffStrategy, factor: 4, jitter_range_in_seconds: 1}',
          'max_retries: 3',
        ),
        waiting('until', '{type: WaitUntilTimeFromHeader, header: X-Until, max_waiting_time_in_seconds: "{{ 60 }}"}'),
        waiting('never', '{type: WaitTimeFromHeader, header: X-Wait, max_waiting_time_in_seconds: "{{ 0 }}"}'),
        waiting('unset', constant('1'), `max_retries: "{{ config['none'] }}"`),
      ),
    );
    const now = Date.parse('2024-06-15T12:00:00Z') / 1000;
    const busy: Reply = {
      status: 503,
      json: { wait_ms: 2500 },
      headers: { 'X-Wait': '7', 'X-Until': String(now + 60) },
    };
    const waitsOf = async (name: string, failures: number) => {
      api.answer((_asked, count) => (count < failures ? busy : row));
      const { waits, failures: failed } = await read({ manifest, config, streams: full(name) });
      return { waits, failure: failed[name]?.failureType };
    };
    // Waits of a strategy are a second longer.
    expect(await waitsOf('told', 2)).toEqual({ waits: [4.5, 5.5], failure: undefined });
    expect(await waitsOf('header', 1)).toEqual({ waits: [8], failure: undefined });
    expect(await waitsOf('missing', 1)).toEqual({ waits: [1], failure: undefined });
    const random = vi.spyOn(Math, 'random').mockReturnValueOnce(0).mockReturnValueOnce(0.5).mockReturnValueOnce(0.25);
    expect(await waitsOf('chance', 3)).toEqual({ waits: [11, 15, 13], failure: undefined });
    random.mockReturnValueOnce(0.5).mockReturnValueOnce(1);
    expect(await waitsOf('growing', 2)).toEqual({ waits: [10, 19], failure: undefined });
    random.mockRestore();
    expect(await waitsOf('until', 1)).toEqual({ waits: [], failure: 'transient_error' });
    expect(await waitsOf('never', 1)).toEqual({ waits: [], failure: 'transient_error' });
    expect((await waitsOf('unset', 9)).waits).toHaveLength(5);
  });
});

describe('pages that are too large for the API', () => {
  const pages = (strategy: string, more = '') =>
    `, paginator: {type: DefaultPaginator, page_size_option: ${parameter('size')}, page_token_option: ${parameter('at')}, pagination_strategy: ${strategy}}${more}`;
  const smaller = (more = '') => `, page_size_reduction: {type: PageSizeReduction${more}}`;
  const reducing = handler(onStatus(502, 'REDUCE_PAGE_SIZE'));

  it('are requested again in smaller ones, which stay small or grow back', async () => {
    const offset = '{type: OffsetIncrement, page_size: 8}';
    const cursor = '{type: CursorPagination, page_size: 8, cursor_value: "{{ response.next }}"}';
    const manifest = manifestWith(
      lines(
        asking('stays', reducing, pages(offset, smaller())),
        asking('grows', reducing, pages(cursor, smaller(', reset_policy: AFTER_SUCCESSFUL_PAGE, reduction_factor: 4'))),
        asking('never', reducing, pages(offset, smaller(', minimum_page_size: 3, failure_message: "Pick less."'))),
        asking('stuck', reducing, pages(offset, smaller(', max_attempts: 2, backoff_seconds: 3'))),
        asking('floor', reducing, pages(offset, smaller(', minimum_page_size: 4, retries_at_minimum_page_size: 1'))),
        asking('nothing', reducing),
      ),
    );
    const all = Array.from({ length: 5 }, (_, id) => ({ id }));
    api.answer(({ path, query }) => {
      const size = Number(query.size);
      if (['/never', '/stuck', '/floor', '/nothing'].includes(path) || size > 2) return { status: 502 };
      const at = Number(query.at ?? 0);
      const next = at + size < all.length ? at + size : null;
      return { json: { rows: all.slice(at, at + size), next } };
    });
    const names = ['stays', 'grows', 'never', 'stuck', 'floor', 'nothing'];
    const one = async (name: string) => read({ manifest, config, streams: full(name) });
    const asked = (name: string) => askedAt(`/${name}`).map(({ query }) => `${query.at ?? 0}+${query.size}`);
    const stays = await one('stays');
    expect(stays.records.stays).toEqual(all);
    expect(stays.waits).toEqual([0.5, 1]);
    expect(asked('stays')).toEqual(['0+8', '0+4', '0+2', '2+2', '4+2']);
    expect((await one('grows')).records.grows).toEqual(all);
    expect(asked('grows')).toEqual(['0+8', '0+2', '2+8', '2+2', '4+8', '4+2']);
    const failed = new Map<string, [string | undefined, string | undefined, string[]]>();
    for (const name of names.slice(2)) {
      const { failures } = await one(name);
      failed.set(name, [failures[name]?.failureType, failures[name]?.message, asked(name)]);
    }
    expect(failed.get('never')).toEqual([
      'transient_error',
      expect.stringMatching(/Pick less\.$/),
      ['0+8', '0+4', '0+3'],
    ]);
    expect(failed.get('stuck')).toEqual(['transient_error', expect.any(String), ['0+8', '0+4', '0+2']]);
    expect(failed.get('floor')).toEqual(['transient_error', expect.any(String), ['0+8', '0+4', '0+4']]);
    expect(failed.get('nothing')).toEqual(['config_error', expect.stringContaining('page_size'), ['0+undefined']]);
  });

  it('need a size that the paginator sends, and pages that are not counted', () => {
    const wrong = (retriever: string) => problemsOf(manifestWith(lines(asking('first', reducing, retriever))));
    const words = 'requires a page_size_option and either CursorPagination or OffsetIncrement';
    expect(wrong(smaller())).toEqual([expect.stringContaining(words)]);
    expect(wrong(pages('{type: PageIncrement, page_size: 8}', smaller()))).toEqual([expect.stringContaining(words)]);
    expect(wrong(pages('{type: OffsetIncrement, page_size: 8}', smaller(', reduction_factor: 1')))).toEqual([
      expect.stringContaining('reduction_factor'),
    ]);
  });
});

describe('pages', () => {
  it('that reach the limit of a reset start over, also where the API says that there are no more', async () => {
    const manifest = manifestWith(
      lines(
        asking(
          'split',
          '',
          `, pagination_reset: {type: PaginationReset, action: SPLIT_USING_CURSOR, limits: {type: PaginationResetLimits, number_of_records: 2}}`,
          `, incremental_sync: {type: DatetimeBasedCursor, cursor_field: day, datetime_format: "%Y-%m-%d", start_datetime: "2024-06-01", start_time_option: ${parameter('from')}}`,
        ),
      ),
    );
    const all = ['2024-06-02', '2024-06-03', '2024-06-04'].map((day) => ({ day }));
    // Never more than two, without a word about the others.
    api.answer(({ query }) => ({ json: { rows: all.filter(({ day }) => day >= String(query.from)).slice(0, 2) } }));
    const { records, failures } = await read({ manifest, config, streams: { split: 'incremental' } });
    expect(new Set(records.split?.map(({ day }) => day))).toEqual(new Set(all.map(({ day }) => day)));
    expect(askedAt('/split').map(({ query }) => query.from)).toEqual(['2024-06-01', '2024-06-03', '2024-06-04']);
    expect(failures).toEqual({});
  });

  it('of properties in chunks continue behind a chunk that the manifest ignores', async () => {
    const properties =
      '{type: QueryProperties, property_list: [a, b, c], always_include_properties: [id], property_chunking: {type: PropertyChunking, property_limit_type: property_count, property_limit: 1}}';
    const manifest = manifestWith(
      lines(asking('wide', `request_parameters: {fields: ${properties}}, ${handler(onStatus(403, 'IGNORE'))}`)),
    );
    api.answer(({ query }) => {
      const [, name = ''] = String(query.fields).split(',');
      return name === 'b' ? { status: 403 } : { json: { rows: [{ id: 'x', [name]: 1 }] } };
    });
    expect((await read({ manifest, config, streams: full('wide') })).records.wide).toEqual([{ id: 'x', a: 1, c: 1 }]);
  });

  it('of names of properties are requested without what belongs to the records of the stream', async () => {
    const names = `{type: PropertiesFromEndpoint, property_field_path: [name], retriever: {$ref: "#/definitions/retriever", requester: {$ref: "#/definitions/requester", path: /names}}}`;
    const manifest = manifestWith(
      lines(
        asking(
          'wide',
          `request_parameters: {fields: {type: QueryProperties, property_list: ${names}}}`,
          '',
          `, transformations: [{type: RemoveFields, field_pointers: [[name]]}], incremental_sync: {type: DatetimeBasedCursor, cursor_field: day, datetime_format: "%Y-%m-%d", start_datetime: "2024-06-01", is_client_side_incremental: true, start_time_option: ${parameter('from')}}`,
        ),
      ),
    );
    api.answer(({ path }) =>
      path === '/names' ? { json: { rows: [{ name: 'a', day: '2001-01-01' }, { name: 'b' }] } } : row,
    );
    await read({ manifest, config, streams: { wide: 'incremental' } });
    expect(askedAt('/names').map(({ query }) => query)).toEqual([{}]);
    expect(askedAt('/wide').map(({ query }) => query)).toEqual([{ fields: 'a,b', from: '2024-06-01' }]);
  });
});

describe('records of a list inside a record', () => {
  const expanding = (name: string, expander: string) =>
    asking(
      name,
      'path: /orders',
      `, record_selector: {type: RecordSelector, extractor: {type: DpathExtractor, field_path: [rows], record_expander: {type: RecordExpander, expand_records_from_field: [lines, data], ${expander}}}}`,
    );

  it('take fields of the surrounding record, or the whole record', async () => {
    const manifest = manifestWith(
      lines(
        expanding(
          'copied',
          'parent_fields: [{parent_path: [who, name], record_path: [by, name]}, {parent_path: [nobody], record_path: [nobody]}]',
        ),
        expanding('older', 'parent_fields_to_copy: [{source_field_path: [id], target_field: order}]'),
        expanding('merged', 'merge_parent: true'),
        expanding('kept', 'remain_original_record: true'),
        expanding('plain', 'on_no_records: skip'),
      ),
    );
    const order = { id: 7, who: { name: 'Ann' }, lines: { data: [{ id: 1 }, 'text'], more: false } };
    api.answer(() => ({ json: { rows: [order] } }));
    const names = ['copied', 'older', 'merged', 'kept'];
    const { records } = await read({ manifest, config, streams: full(...names) });
    expect(records).toEqual({
      copied: [{ id: 1 }, { value: 'text' }].map((item) => ({ ...item, by: { name: 'Ann' }, nobody: null })),
      older: [
        { id: 1, order: 7 },
        { value: 'text', order: 7 },
      ],
      merged: [
        { id: 1, who: { name: 'Ann' }, lines: { more: false } },
        { id: 7, who: { name: 'Ann' }, lines: { more: false }, value: 'text' },
      ],
      kept: [{ id: 1 }, { value: 'text' }].map((item) => ({ ...item, original_record: order })),
    });
  });

  it('are requested where the list is truncated', async () => {
    const rest = `{$ref: "#/definitions/retriever", requester: {$ref: "#/definitions/requester", path: "/orders/{{ stream_slice['parent_record']['id'] }}/lines"}}`;
    const manifest = manifestWith(
      lines(
        expanding(
          'whole',
          `truncation_indicator_path: [lines, more], truncated_list_retriever: ${rest}, merge_parent: true`,
        ),
        expanding('cut', 'truncation_indicator_path: [lines, more]'),
      ),
    );
    const order = (id: number, more: boolean) => ({ id, lines: { data: [{ line: `${id}.1` }], more } });
    api.answer(({ path }) => {
      if (path === '/orders') return { json: { rows: [order(1, true), order(2, false), order(3, true)] } };
      return { json: { rows: path === '/orders/1/lines' ? [{ line: '1.1' }, { line: '1.2' }] : [] } };
    });
    const { records, words } = await read({ manifest, config, streams: full('whole', 'cut') });
    // The third order has no list of its own: the items in the order count.
    expect(records.whole?.map(({ id, line }) => `${id}: ${line}`)).toEqual(['1: 1.1', '1: 1.2', '2: 2.1', '3: 3.1']);
    expect(records.cut?.map(({ line }) => line)).toEqual(['1.1', '2.1', '3.1']);
    expect(words.filter((word) => word.includes('is truncated'))).toHaveLength(1);
    expect(problemsOf(manifestWith(lines(expanding('first', `truncated_list_retriever: ${rest}`))))).toEqual([
      expect.stringContaining('truncation_indicator_path'),
    ]);
  });
});

describe('jobs', () => {
  const job = (name: string, more: string) =>
    stream(
      name,
      `retriever: {type: AsyncRetriever, creation_requester: {$ref: "#/definitions/requester", path: /${name}/new, http_method: POST}, polling_requester: {$ref: "#/definitions/requester", path: /${name}/status}, download_requester: {$ref: "#/definitions/requester", path: /${name}/rows}, status_extractor: {type: DpathExtractor, field_path: [status]}, download_extractor: {type: DpathExtractor, field_path: [rows]}, record_selector: {type: RecordSelector, extractor: {type: DpathExtractor, field_path: []}}, status_mapping: {running: [busy], completed: [done], failed: [bad], timeout: [late], skipped: [empty]}${more}}`,
    );

  it('end without records where there are none, and continue though they cannot be aborted', async () => {
    const abort = ', abort_requester: {$ref: "#/definitions/requester", path: /late/abort, http_method: POST}';
    const manifest = manifestWith(
      lines(
        job('empty', ''),
        job('late', `${abort}, failed_retry_wait_time_in_seconds: 900`),
        job('bad', ', failed_retry_wait_time_in_seconds: 900'),
      ),
    );
    api.answer(({ path }, count) => {
      if (path.endsWith('/new')) return { json: { id: 1 } };
      if (path === '/late/abort') return { status: 404 };
      if (path === '/empty/status') return { json: { status: 'empty' } };
      if (path === '/late/status') return { json: { status: count === 0 ? 'late' : 'done' } };
      if (path === '/bad/status') return { json: { status: count === 0 ? 'bad' : 'done' } };
      return row;
    });
    const { records, statuses } = await read({ manifest, config, streams: full('empty', 'late', 'bad') });
    expect(records).toEqual({ empty: [], late: [{ id: 1 }], bad: [{ id: 1 }] });
    expect(statuses).toEqual({ empty: 'COMPLETE', late: 'COMPLETE', bad: 'COMPLETE' });
    expect(askedAt('/empty/new')).toHaveLength(1);
    expect(askedAt('/late/abort')).toHaveLength(1);
  });
});

describe('a check', () => {
  it('may use other values of the configuration than a sync', async () => {
    const manifest = (overrides: string, authenticator = '') =>
      manifestWith(
        lines(asking('first', `request_parameters: {size: "{{ config['size'] }}"}${authenticator}`)),
      ).replace('stream_names: [first]', `stream_names: [first], config_overrides: ${overrides}`);
    api.answer(() => row);
    const given = { ...config, size: '100' };
    expect(await check({ manifest: manifest('{size: "1"}'), config: given })).toBeUndefined();
    await read({ manifest: manifest('{size: "1"}'), config: given, streams: full('first') });
    expect(api.taken().map(({ query }) => query.size)).toEqual(['1', '100']);
    expect(problemsOf(manifest('{__airbyte_x: 1}'))).toEqual([expect.stringContaining('__airbyte')]);
    const rotating =
      ', authenticator: {type: OAuthAuthenticator, token_refresh_endpoint: "https://x", client_id: a, client_secret: b, refresh_token_updater: {}}';
    expect(problemsOf(manifest('{size: "1"}', rotating))).toEqual([expect.stringContaining('refresh_token_updater')]);
  });
});

it('weights of calls and fields of unions may be templates', () => {
  const union =
    '{type: UnionPartitionRouter, partition_field: "{{ parameters[\'field\'] }}", partition_routers: [{type: ListPartitionRouter, cursor_field: part, values: ["1"]}, {type: ListPartitionRouter, cursor_field: part, values: ["2"]}]}';
  const budget =
    'api_budget: {type: HTTPAPIBudget, policies: [{type: MovingWindowCallRatePolicy, rates: [{limit: 5, interval: PT1S}], matchers: [{weight: "{{ config[\'retries\'] }}"}]}]}';
  const manifest = manifestWith(
    lines(
      stream(
        'parts',
        `retriever: {$ref: "#/definitions/retriever", $parameters: {name: parts, field: part}, requester: {$ref: "#/definitions/requester", path: "/{{ stream_partition.part }}"}, partition_router: ${union}}`,
      ),
    ),
    budget,
  );
  expect(problemsOf(manifest)).toEqual([]);
  api.answer(() => row);
  return read({ manifest, config, streams: full('parts') }).then(() =>
    expect(api.asked().map(({ path }) => path)).toEqual(['/1', '/2']),
  );
});

it('a signed token has the claims that are given, also where they are empty', async () => {
  const manifest = manifestWith(
    lines(
      asking(
        'first',
        `authenticator: {type: JwtAuthenticator, secret_key: "0123456789abcdef0123456789abcdef", algorithm: HS256, jwt_payload: {iss: "{{ config['none'] }}", sub: me}, additional_jwt_payload: {none: "{{ config['missing'] }}", n: 5, "{{ config['claim'] }}": "{{ '7' }}"}, additional_jwt_headers: {x: "{{ config['missing'] }}"}}`,
      ),
    ),
  );
  api.answer(() => row);
  await read({ manifest, config: { ...config, claim: 'own' }, streams: full('first') });
  const [header = '', claims = ''] = (api.taken()[0]?.headers.authorization ?? '').split('.');
  const decoded = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
  expect(decoded(header)).toEqual({ alg: 'HS256', typ: 'JWT', x: null });
  const now = Date.parse('2024-06-15T12:00:00Z') / 1000;
  expect(decoded(claims)).toEqual({
    iss: '',
    sub: 'me',
    none: null,
    n: 5,
    own: 7,
    iat: now,
    nbf: now,
    exp: now + 1200,
  });
});

it('an OAuth refresh is a form whatever its headers say, and needs a token in the answer', async () => {
  const oauth = (name: string, more: string) =>
    asking(
      name,
      `authenticator: {type: OAuthAuthenticator, token_refresh_endpoint: "{{ config['base'] }}/token/${name}", client_id: a, client_secret: b, refresh_token: c${more}}`,
    );
  const manifest = manifestWith(
    lines(oauth('json', ', refresh_request_headers: {Content-Type: application/json}'), oauth('empty', '')),
  );
  api.answer(({ path }) => {
    if (path === '/token/empty') return { json: { access_token: '' } };
    return path.startsWith('/token') ? { json: { access_token: 't' } } : row;
  });
  const { failures } = await read({ manifest, config, streams: full('json', 'empty') });
  const [asked] = askedAt('/token/json');
  expect(asked?.headers['content-type']).toBe('application/json');
  expect(asked?.body).toBe('grant_type=refresh_token&client_id=a&client_secret=b&refresh_token=c');
  expect(failures).toEqual({ empty: expect.objectContaining({ message: expect.stringContaining('no access token') }) });
});

it('templates that no value fits keep their text, as after any type error', async () => {
  const manifest = manifestWith(
    lines(
      stream(
        'first',
        `transformations: [{type: AddFields, fields: [{path: [a], value: "{{ record['name'] | round(0, 'floor') }}"}, {path: [b], value: "{{ sanitize_url(record['missing']) }}"}]}]`,
      ),
    ),
  );
  api.answer(() => ({ json: { rows: [{ name: 'x' }] } }));
  const { records } = await read({ manifest, config, streams: full('first') });
  expect(records.first).toEqual([
    { name: 'x', a: "{{ record['name'] | round(0, 'floor') }}", b: "{{ sanitize_url(record['missing']) }}" },
  ]);
});

it('a schema may name any dialect, as the specifications of manifests do', () => {
  for (const dialect of ['https://json-schema.org/draft-07/schema#', 'http://json-schema.org/draft-04/schema#']) {
    const faultOf = schemaCheck({ $schema: dialect, type: 'object', required: ['x'] });
    expect(faultOf({ x: 1 })).toBeUndefined();
    expect(faultOf({})).toContain("'x'");
  }
});

it('patterns of a schema are those of Python; one that cannot be read refuses nothing', () => {
  const fits = (pattern: string, value: string) => schemaCheck({ type: 'string', pattern })(value) === undefined;
  expect(fits('(?i)^https://', 'HTTPS://x')).toBe(true);
  expect(fits('(?i)^https://', 'ftp://x')).toBe(false);
  expect(fits('\\A(?P<year>\\d{4})\\Z', '2024')).toBe(true);
  expect(fits('\\A(?P<year>\\d{4})\\Z', '24')).toBe(false);
  expect(fits('a(?>b)c', 'anything')).toBe(true);
});

it('dates have limits, types have types inside, and any value of a configuration is checked', async () => {
  const dates = `incremental_sync: {type: DatetimeBasedCursor, cursor_field: day, datetime_format: "%Y-%m-%d", start_time_option: ${parameter('from')}, end_time_option: ${parameter('to')}, start_datetime: {type: MinMaxDatetime, datetime: "2020-01-01", min_datetime: "2024-06-01"}, end_datetime: {type: MinMaxDatetime, datetime: "{{ today_utc() }}", max_datetime: "2024-06-10"}}`;
  const typed = `schema_loader: {type: DynamicSchemaLoader, retriever: {$ref: "#/definitions/retriever", decoder: {type: JsonDecoder}, requester: {$ref: "#/definitions/requester", path: /fields, authenticator: {type: NoAuth}}}, schema_type_identifier: {type: SchemaTypeIdentifier, schema_pointer: [fields], key_pointer: [name], type_pointer: [kind], types_mapping: [{current_type: tags, target_type: {type: ComplexFieldType, field_type: array, items: string}}]}}`;
  const rules = `
  config_normalization_rules: {type: ConfigNormalizationRules, validations: [{type: PredicateValidator, value: "{{ config['size'] }}", validation_strategy: {type: ValidateAdheresToSchema, base_schema: {type: integer, maximum: 5}}}]}`;
  const manifest = manifestWith(
    lines(
      stream('first', dates),
      stream('typed', typed),
      stream('filed', 'schema_loader: {type: JsonFileSchemaLoader}'),
    ),
  ).replace('documentation_url: https://docs.example', `documentation_url: https://docs.example${rules}`);
  api.answer(({ path }) =>
    path === '/fields' ? { json: { rows: [{ fields: [{ name: 'labels', kind: 'tags' }] }] } } : row,
  );
  const given = { ...config, size: 5 };
  await read({ manifest, config: given, streams: { first: 'incremental' } });
  expect(api.taken().map(({ query }) => query)).toEqual([{ from: '2024-06-01', to: '2024-06-10' }]);
  const schemas = (await discover({ manifest, config: given })).streams.map(({ json_schema }) => json_schema);
  expect(schemas[1]?.properties).toEqual({
    labels: { type: ['null', 'array'], items: { type: ['null', 'string'] } },
  });
  expect(schemas[2]).toEqual({});
  expect(await check({ manifest, config: { ...config, size: 6 } })).toContain('must be <= 5');
});
