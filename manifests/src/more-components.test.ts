/* Authentication with tokens, bodies, decoders, rules for configurations, and streams that are found out. */
import { createVerify, generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, check, discover, manifestWith, read, startApi, stateOf } from '../test/declarative-api.ts';
import { componentDefinitions } from './registry.ts';

let api: Api;
let config: Record<string, unknown>;
beforeAll(async () => {
  api = await startApi();
  config = {
    base: api.address,
    auth: { kind: 'second' },
    shops: [{ name: 'north' }, { name: 'south' }],
    key: 'secret',
  };
});
afterAll(() => api.close());

const row = { json: { rows: [{ id: 1 }] } };
const withRequester = (name: string, requester: string, more = '') =>
  `  - {$ref: "#/definitions/stream", name: ${name}, $parameters: {name: ${name}}, retriever: {$ref: "#/definitions/retriever", requester: {$ref: "#/definitions/requester", ${requester}}${more}}}`;

describe('tokens', () => {
  it('are requested, kept while they are valid, and chosen by the configuration', async () => {
    const login = (more: string) =>
      `authenticator: {type: SessionTokenAuthenticator, login_requester: {type: HttpRequester, url_base: "{{ config['base'] }}", path: /login, http_method: POST}, session_token_path: [data, token], ${more}}`;
    const pages =
      ', paginator: {type: DefaultPaginator, page_token_option: {type: RequestOption, inject_into: request_parameter, field_name: at}, pagination_strategy: {type: PageIncrement, page_size: 1}}';
    const manifest = manifestWith(
      [
        withRequester(
          'session',
          login(
            'expiration_duration: PT1H, request_authentication: {type: ApiKey, inject_into: {type: RequestOption, inject_into: header, field_name: X-Session}}',
          ),
          pages,
        ),
        withRequester('carried', login('expiration_duration: PT1H, request_authentication: {type: Bearer}')),
        withRequester(
          'chosen',
          'authenticator: {type: SelectiveAuthenticator, authenticator_selection_path: [auth, kind], authenticators: {first: {type: NoAuth}, second: {type: BearerAuthenticator, api_token: two}}}',
        ),
        withRequester(
          'client',
          `authenticator: {type: OAuthAuthenticator, grant_type: client_credentials, client_id: i, client_secret: s, token_refresh_endpoint: "{{ config['base'] }}/token", scopes: [a, b]}`,
        ),
        withRequester(
          'again',
          `error_handler: {type: DefaultErrorHandler, response_filters: [{type: HttpResponseFilter, http_codes: [401], action: REFRESH_TOKEN_THEN_RETRY}]}, authenticator: {type: OAuthAuthenticator, client_id: i, client_secret: s, refresh_token: r, token_refresh_endpoint: "{{ config['base'] }}/token2"}`,
        ),
      ].join('\n'),
    );
    api.answer(({ path, headers }, count) => {
      if (path === '/login') return { json: { data: { token: `t${count}` } } };
      if (path.startsWith('/token')) return { json: { deep: { access_token: `a${count}` }, expires_in: 60 } };
      if (path === '/again' && headers.authorization === 'Bearer a0') return { status: 401 };
      if (path === '/session') return count === 0 ? row : { json: { rows: [] } };
      return row;
    });
    const names = ['session', 'carried', 'chosen', 'client', 'again'];
    const { statuses } = await read({
      manifest,
      config,
      streams: Object.fromEntries(names.map((name) => [name, 'full_refresh'])),
    });
    const asked = api.taken();
    const of = (path: string) => asked.filter((one) => one.path === path);
    expect(new Set(Object.values(statuses))).toEqual(new Set(['COMPLETE']));
    expect(of('/login')).toHaveLength(2);
    expect(new Set(of('/session').map(({ headers }) => headers['x-session'])).size).toBe(1);
    expect(of('/carried')[0]?.headers.authorization).toMatch(/^Bearer t\d$/);
    expect(of('/chosen')[0]?.headers.authorization).toBe('Bearer two');
    expect(of('/token')[0]?.body).toBe('grant_type=client_credentials&client_id=i&client_secret=s&scopes=a&scopes=b');
    expect(of('/again').map(({ headers }) => headers.authorization)).toEqual(['Bearer a0', 'Bearer a1']);
  });

  it('take turns by the calls that the API leaves to each, without a wait while one of them has some', async () => {
    const quota = (more: string) =>
      `{type: TokenQuota, remaining_path: [left, calls], reset_path: [left, reset], limit_path: [left, limit], remaining_header: X-Left, exhaustion_status_codes: [429], ${more}}`;
    const tokens = (status: string) =>
      `{type: RateLimitedMultipleTokenAuthenticator, tokens: "{{ config['tokens'] }}", auth_method: token, quota_status_source: {type: QuotaStatusSource, url: "{{ config['base'] }}/${status}", unavailable_status_codes: [404]}, budget_min_reserve: 0, budget_reserve_fraction: 0, max_wait_time: PT1H, quotas: [${quota('name: search, matchers: [{url_path_pattern: /search}]')}, ${quota('name: others')}]}`;
    const stream = (name: string, status: string) =>
      `  - {$ref: "#/definitions/stream", name: ${name}, $parameters: {name: ${name}}, retriever: {$ref: "#/definitions/retriever", requester: {$ref: "#/definitions/requester", path: "/${name}/{{ stream_partition.n }}", authenticator: ${tokens(status)}}, partition_router: {type: ListPartitionRouter, cursor_field: n, values: ["1", "2", "3", "4", "5"]}}}`;
    const reset = Date.parse('2024-06-15T12:00:30Z') / 1000;
    const answer = (left: (count: number) => object | undefined, isLimited = (_token: string) => false) =>
      api.answer(({ path, headers: { authorization: token = '' } }, count) => {
        const status = left(count);
        if (path === '/status') return status ? { json: { left: status } } : { status: 404 };
        return isLimited(token) ? { status: 429 } : { json: { rows: [{ id: 1, token }] } };
      });
    const readOne = async (name: string) => {
      const result = await read({
        manifest: manifestWith(stream(name, 'status')),
        config: { ...config, tokens: 'a, b' },
        streams: { [name]: 'full_refresh' },
      });
      return { ...result, used: result.records[name]?.map(({ token }) => token).sort() };
    };

    answer(() => ({ calls: 3, reset, limit: 100 }));
    const turns = await readOne('plain');
    expect([turns.failures, turns.used]).toEqual([{}, ['token a', 'token a', 'token a', 'token b', 'token b']]);
    expect(api.asked().filter(({ path }) => path === '/status')).toHaveLength(2);

    // The API says that the first token is spent, although it counted calls for it.
    answer(
      () => ({ calls: 50, reset, limit: 100 }),
      (token) => token === 'token a',
    );
    const spent = await readOne('plain');
    expect([spent.failures, spent.waits, new Set(spent.used)]).toEqual([{}, [], new Set(['token b'])]);

    // Nobody has calls left before the next reset; then there are some again.
    answer((count) => ({ calls: count < 2 ? 1 : 9, reset, limit: 100 }));
    const waited = await readOne('search');
    expect([waited.failures, waited.used?.length]).toEqual([{}, 5]);
    expect(waited.words).toContainEqual(expect.stringMatching(/\(search\).* 30 seconds/));

    answer(() => ({ calls: 0, reset: reset + 7200, limit: 100 }));
    expect((await readOne('late')).failures).toMatchObject({ late: { failureType: 'transient_error' } });
    answer(() => undefined);
    const uncounted = await readOne('plain');
    expect([uncounted.failures, uncounted.used]).toEqual([{}, Array.from({ length: 5 }, () => 'token a')]);
  });

  it('are signed with the key of the configuration', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const manifest = manifestWith(
      withRequester(
        'first',
        `authenticator: {type: JwtAuthenticator, secret_key: "{{ config['pem'] }}", algorithm: RS256, token_duration: 60, header_prefix: Bearer, jwt_payload: {iss: me}, additional_jwt_payload: {scope: all}}`,
      ),
    );
    api.answer(() => row);
    await read({ manifest, config: { ...config, pem }, streams: { first: 'full_refresh' } });
    const [prefix, token = ''] = (api.taken()[0]?.headers.authorization ?? '').split(' ');
    const [header = '', claims = '', signature = ''] = token.split('.');
    expect(prefix).toBe('Bearer');
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toEqual({
      iss: 'me',
      scope: 'all',
      iat: 1718452800,
      nbf: 1718452800,
      exp: 1718452860,
    });
    expect(createVerify('sha256').update(`${header}.${claims}`).verify(publicKey, signature, 'base64url')).toBe(true);
  });
});

describe('bodies and decoders', () => {
  it('write and read everything that is not plain JSON', async () => {
    const decoded = (name: string, decoder: string, path = '[]') =>
      withRequester(
        name,
        'authenticator: {type: NoAuth}',
        `, decoder: {${decoder}}, record_selector: {type: RecordSelector, extractor: {type: DpathExtractor, field_path: ${path}}}`,
      );
    const manifest = manifestWith(
      [
        withRequester(
          'graph',
          'http_method: POST, request_body: {type: RequestBodyGraphQL, value: {query: "{ a }", variables: {x: "{{ 1 + 1 }}"}}}',
        ),
        withRequester(
          'object',
          'http_method: POST, request_body: {type: RequestBodyJsonObject, value: {a: "{{ 1 + 1 }}"}}',
        ),
        withRequester(
          'form',
          'http_method: POST, request_body: {type: RequestBodyUrlEncodedForm, value: {a: "1", b: "x y"}}',
        ),
        withRequester('plain', 'http_method: POST, request_body: {type: RequestBodyPlainText, value: "a text"}'),
        decoded('lines', 'type: JsonlDecoder'),
        decoded('words', 'type: IterableDecoder'),
        decoded('table', 'type: CsvDecoder, delimiter: ";", set_values_to_none: ["-"]'),
        decoded('packed', 'type: GzipDecoder, decoder: {type: JsonlDecoder}'),
        decoded('tree', 'type: XmlDecoder', '[shop, item]'),
      ].join('\n'),
    );
    api.answer(({ path }) => {
      if (path === '/lines') return { text: '{"id": 1}\n\nno json\n{"id": 2}\n' };
      if (path === '/words') return { text: 'one\ntwo\n' };
      if (path === '/table') return { text: 'id;name\n1;"a;b"\n2;-\n' };
      if (path === '/packed') return { text: '{"id": 1}\n{"id": 2}', isGzipped: true };
      if (path === '/tree')
        return { text: '<?xml version="1.0"?><shop><item id="1">a &amp; b</item><item id="2"><n>x</n></item></shop>' };
      return row;
    });
    const names = ['graph', 'object', 'form', 'plain', 'lines', 'words', 'table', 'packed', 'tree'];
    const { records, failures } = await read({
      manifest,
      config,
      streams: Object.fromEntries(names.map((name) => [name, 'full_refresh'])),
    });
    expect(failures).toEqual({});
    const bodies = Object.fromEntries(api.taken().map(({ path, body }) => [path, body]));
    expect(bodies).toMatchObject({
      '/graph': '{"query":"{ a }","variables":{"x":2}}',
      '/object': '{"a":2}',
      '/form': 'a=1&b=x+y',
      '/plain': 'a text',
    });
    expect(records).toMatchObject({
      lines: [{ id: 1 }, { id: 2 }],
      words: [{ record: 'one' }, { record: 'two' }],
      table: [
        { id: '1', name: 'a;b' },
        { id: '2', name: null },
      ],
      packed: [{ id: 1 }, { id: 2 }],
      tree: [
        { '@id': '1', '#text': 'a & b' },
        { '@id': '2', n: 'x' },
      ],
    });
  });

  it('change the keys of records and make several records of one', async () => {
    const changed = (name: string, change: string, extractor = '{type: DpathExtractor, field_path: [rows]}') =>
      `  - {$ref: "#/definitions/stream", name: ${name}, transformations: [${change}], retriever: {$ref: "#/definitions/retriever", requester: {$ref: "#/definitions/requester", path: /x}, record_selector: {type: RecordSelector, extractor: ${extractor}}}}`;
    const manifest = manifestWith(
      [
        changed('lower', '{type: KeysToLower}'),
        changed('snake', '{type: KeysToSnakeCase}'),
        changed('replaced', '{type: KeysReplace, old: "Id", new: "Key"}'),
        changed('flat', '{type: FlattenFields}'),
        changed(
          'lifted',
          '{type: DpathFlattenFields, field_path: [Inner], delete_origin_value: true, key_transformation: {type: KeyTransformation, prefix: in_}}',
        ),
        changed(
          'expanded',
          '',
          '{type: DpathExtractor, field_path: [rows], record_expander: {type: RecordExpander, expand_records_from_field: [list], remain_original_record: true}}',
        ),
      ].join('\n'),
    );
    api.answer(() => ({ json: { rows: [{ shopId: 1, Inner: { aB: 2 }, list: [{ x: 1 }, { x: 2 }] }] } }));
    const names = ['lower', 'snake', 'replaced', 'flat', 'lifted', 'expanded'];
    const { records } = await read({
      manifest,
      config,
      streams: Object.fromEntries(names.map((name) => [name, 'full_refresh'])),
    });
    const list = [{ x: 1 }, { x: 2 }];
    expect(records).toEqual({
      lower: [{ shopid: 1, inner: { aB: 2 }, list }],
      snake: [{ shop_id: 1, inner: { a_b: 2 }, list }],
      replaced: [{ shopKey: 1, Inner: { aB: 2 }, list }],
      flat: [{ shopId: 1, 'Inner.aB': 2, 'list.0.x': 1, 'list.1.x': 2 }],
      lifted: [{ shopId: 1, in_aB: 2, list }],
      expanded: list.map((item) => ({ ...item, original_record: { shopId: 1, Inner: { aB: 2 }, list } })),
    });
  });
});

describe('configurations and streams that depend on them', () => {
  it('are brought up to date, checked, and decide which streams there are', async () => {
    const rules = `
  config_normalization_rules:
    config_migrations:
      - {type: ConfigMigration, transformations: [{type: ConfigAddFields, fields: [{path: [added], value: "{{ config['key'] }}"}]}, {type: ConfigRemapField, field_path: [auth, kind], map: {second: two}}]}
    transformations: [{type: ConfigRemoveFields, field_pointers: [[key]]}]
    validations: [{type: DpathValidator, field_path: [added], validation_strategy: {type: ValidateAdheresToSchema, base_schema: {type: string, minLength: 3}}}]`;
    const manifest = manifestWith(`
  - {$ref: "#/definitions/stream", name: first, $parameters: {name: first}}
  - {type: ConditionalStreams, condition: "{{ config['more'] }}", streams: [{$ref: "#/definitions/stream", name: more, $parameters: {name: more}}]}`).replace(
      '  connection_specification',
      `${rules.slice(1)}\n  connection_specification`,
    );
    api.answer(() => row);
    const { configs } = await read({ manifest, config, streams: { first: 'full_refresh' } });
    expect(configs).toEqual([{ ...config, added: 'secret', auth: { kind: 'two' } }]);
    expect(await check({ manifest, config: { ...config, key: 'x' } })).toContain('not valid');
    const names = async (more: boolean) =>
      (await discover({ manifest, config: { ...config, more } })).streams.map(({ name }) => name);
    expect(await names(false)).toEqual(['first']);
    expect(await names(true)).toEqual(['first', 'more']);
  });

  it('delegate by state, group partitions, count, and read states of older versions', async () => {
    const parent = '{$ref: "#/definitions/stream", name: shops, $parameters: {name: shops}}';
    const router = `{type: SubstreamPartitionRouter, parent_stream_configs: [{type: ParentStreamConfig, stream: ${parent}, parent_key: id, partition_field: shop}]}`;
    const day =
      'incremental_sync: {type: DatetimeBasedCursor, cursor_field: day, datetime_format: "%Y-%m-%d", start_datetime: "2024-06-01", start_time_option: {type: RequestOption, inject_into: request_parameter, field_name: from}}';
    const manifest = manifestWith(`
  - {type: StateDelegatingStream, name: both, full_refresh_stream: {$ref: "#/definitions/stream", name: both, $parameters: {name: whole}}, incremental_stream: {$ref: "#/definitions/stream", name: both, $parameters: {name: changes}, ${day}}}
  - {$ref: "#/definitions/stream", name: grouped, retriever: {$ref: "#/definitions/retriever", requester: {$ref: "#/definitions/requester", path: /grouped, request_parameters: {shops: "{{ stream_partition['shop'] | join('+') }}"}}, partition_router: {type: GroupingPartitionRouter, group_size: 2, underlying_partition_router: ${router}}}}
  - {$ref: "#/definitions/stream", name: counted, $parameters: {name: counted}, incremental_sync: {type: IncrementingCountCursor, cursor_field: id, start_value: 5, start_value_option: {type: RequestOption, inject_into: request_parameter, field_name: after}}}
  - {$ref: "#/definitions/stream", name: older, state_migrations: [{type: LegacyToPerPartitionStateMigration}], retriever: {$ref: "#/definitions/retriever", requester: {$ref: "#/definitions/requester", path: /older}, partition_router: ${router}}, ${day}}`);
    api.answer(({ path }) => {
      if (path === '/shops') return { json: { rows: [{ id: 1 }, { id: 2 }, { id: 3 }] } };
      return { json: { rows: [{ id: 9, day: '2024-06-05' }] } };
    });
    const streams = { both: 'incremental', grouped: 'full_refresh', counted: 'incremental' } as const;
    const first = await read({ manifest, config, streams });
    const asked = api.taken();
    expect(asked.map(({ path }) => path)).toContain('/whole');
    expect(
      asked
        .filter(({ path }) => path === '/grouped')
        .map(({ query }) => query.shops)
        .sort(),
    ).toEqual(['1+2', '3']);
    expect(asked.find(({ path }) => path === '/counted')?.query.after).toBe('5');
    expect(first.states.counted).toEqual({ id: 9 });
    const state = [
      ...stateOf('both', { day: '2024-06-04' }),
      ...stateOf('counted', { id: 9 }),
      ...stateOf('older', { 7: { day: '2024-06-03' } }),
    ];
    const second = await read({
      manifest,
      config,
      streams: { both: 'incremental', counted: 'incremental', older: 'incremental' },
      state,
    });
    const later = api.taken();
    expect(later.find(({ path }) => path === '/changes')?.query.from).toBe('2024-06-04');
    expect(later.find(({ path }) => path === '/counted')?.query.after).toBe('9');
    expect(second.states.older?.states).toContainEqual({ partition: { shop: '7' }, cursor: { day: '2024-06-03' } });
  });

  it('are found out by the configuration, by the API or by a list, with their schemas', async () => {
    const templated = (name: string, resolver: string) =>
      `  - {type: DynamicDeclarativeStream, name: ${name}, stream_template: {$ref: "#/definitions/stream", name: x, $parameters: {name: x}}, components_resolver: {${resolver}}}`;
    const mapping = (from: string) =>
      `components_mapping: [{type: ComponentMappingDefinition, field_path: [name], value: "${from}"}, {type: ComponentMappingDefinition, field_path: [retriever, requester, path], value: "/of/${from}"}]`;
    const manifest = `${manifestWith(`
  - {$ref: "#/definitions/stream", name: first, $parameters: {name: first}, schema_loader: {type: DynamicSchemaLoader, retriever: {$ref: "#/definitions/retriever", requester: {$ref: "#/definitions/requester", path: /fields}}, schema_type_identifier: {schema_pointer: [fields], key_pointer: [name], type_pointer: [kind], types_mapping: [{type: TypesMap, current_type: int, target_type: integer}]}}}`)}
dynamic_streams:
${templated('configured', `type: ConfigComponentsResolver, stream_config: {type: StreamConfig, configs_pointer: [shops]}, ${mapping("{{ components_values['name'] }}")}`)}
${templated('asked', `type: HttpComponentsResolver, retriever: {$ref: "#/definitions/retriever", requester: {$ref: "#/definitions/requester", path: /lists}}, ${mapping("{{ components_values['id'] }}")}`)}
${templated('listed', `type: ParametrizedComponentsResolver, stream_parameters: {type: StreamParametersDefinition, list_of_parameters_for_stream: [{name: one}]}, ${mapping("{{ stream_parameters['name'] }}")}`)}
`;
    api.answer(({ path }) => {
      if (path === '/fields')
        return {
          json: {
            rows: [
              {
                fields: [
                  { name: 'a', kind: 'int' },
                  { name: 'b', kind: 'string' },
                ],
              },
            ],
          },
        };
      if (path === '/lists') return { json: { rows: [{ id: 'l1' }] } };
      return row;
    });
    const { streams } = await discover({ manifest, config });
    expect(streams.map(({ name }) => name)).toEqual(['first', 'north', 'south', 'l1', 'one']);
    expect(streams[0]?.json_schema).toMatchObject({
      properties: { a: { type: ['null', 'integer'] }, b: { type: ['null', 'string'] } },
    });
    const { records } = await read({ manifest, config, streams: { south: 'full_refresh', l1: 'full_refresh' } });
    expect(records).toEqual({ south: [{ id: 1 }], l1: [{ id: 1 }] });
    expect(api.taken().map(({ path }) => path)).toEqual(expect.arrayContaining(['/of/south', '/of/l1']));
  });
});

describe('jobs, properties and pages that start over', () => {
  it('wait for a job and download what it made, asking again for one that failed', async () => {
    const requester = (path: string, method = 'GET') =>
      `{type: HttpRequester, url_base: "{{ config['base'] }}", path: "${path}", http_method: ${method}}`;
    const manifest = manifestWith(`
  - {$ref: "#/definitions/stream", name: first, retriever: {type: AsyncRetriever, record_selector: {type: RecordSelector, extractor: {type: DpathExtractor, field_path: []}}, status_mapping: {type: AsyncJobStatusMap, running: [wait], completed: [done], failed: [bad], timeout: [late]}, status_extractor: {type: DpathExtractor, field_path: [status]}, download_target_extractor: {type: DpathExtractor, field_path: [files]}, creation_requester: ${requester('/jobs', 'POST')}, polling_requester: ${requester("/jobs/{{ creation_response['id'] }}")}, download_requester: ${requester('{{ download_target }}')}, delete_requester: ${requester("/jobs/{{ creation_response['id'] }}", 'DELETE')}, download_decoder: {type: CsvDecoder}}}`);
    api.answer(({ path, method }, count) => {
      if (path === '/jobs') return { json: { id: `j${count}` } };
      if (path === '/jobs/j0') return { json: { status: 'bad' } };
      if (path === '/jobs/j1' && method === 'GET')
        return { json: count === 0 ? { status: 'wait' } : { status: 'done', files: ['/file/1', '/file/2'] } };
      if (path.startsWith('/file')) return { text: `id\n${path.slice(-1)}\n` };
      return { json: {} };
    });
    const { records, failures } = await read({ manifest, config, streams: { first: 'full_refresh' } });
    expect(failures).toEqual({});
    expect(records.first).toEqual([{ id: '1' }, { id: '2' }]);
    expect(api.taken().map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /jobs',
      'GET /jobs/j0',
      'POST /jobs',
      'GET /jobs/j1',
      'GET /jobs/j1',
      'GET /file/1',
      'GET /file/2',
      'DELETE /jobs/j1',
    ]);
  });

  it('ask for properties in several requests, and begin pages again when the API says so', async () => {
    const manifest = manifestWith(
      [
        withRequester(
          'wide',
          'request_parameters: {fields: {type: QueryProperties, property_list: [a, b, c], always_include_properties: [id], property_chunking: {type: PropertyChunking, property_limit_type: property_count, property_limit: 2, record_merge_strategy: {type: GroupByKeyMergeStrategy, key: id}}}}',
        ),
        withRequester(
          'reset',
          'error_handler: {type: DefaultErrorHandler, response_filters: [{type: HttpResponseFilter, http_codes: [410], action: RESET_PAGINATION}]}',
          ', pagination_reset: {type: PaginationReset, action: RESET}',
        ),
      ].join('\n'),
    );
    api.answer(({ path, query }, count) => {
      if (path === '/wide')
        return {
          json: {
            rows: [
              {
                id: 'x',
                ...Object.fromEntries(
                  String(query.fields)
                    .split(',')
                    .filter((name) => name !== 'id')
                    .map((name) => [name, 1]),
                ),
              },
            ],
          },
        };
      return count === 0 ? { status: 410 } : row;
    });
    const { records } = await read({ manifest, config, streams: { wide: 'full_refresh', reset: 'full_refresh' } });
    expect(records).toEqual({ wide: [{ id: 'x', a: 1, b: 1, c: 1 }], reset: [{ id: 1 }] });
    expect(
      api
        .taken()
        .filter(({ path }) => path === '/wide')
        .map(({ query }) => query.fields),
    ).toEqual(['id,a,b', 'id,c']);
  });
});

describe('states', () => {
  it('lose nothing when a sync is cut off at any point and continues from its last state', async () => {
    const manifest = manifestWith(`
  - {$ref: "#/definitions/stream", name: days, $parameters: {name: days}, incremental_sync: {type: DatetimeBasedCursor, cursor_field: day, datetime_format: "%Y-%m-%d", start_datetime: "2024-06-01", end_datetime: "2024-06-12", step: P2D, cursor_granularity: P1D, start_time_option: {type: RequestOption, inject_into: request_parameter, field_name: from}, end_time_option: {type: RequestOption, inject_into: request_parameter, field_name: to}}}`);
    const all = Array.from({ length: 12 }, (_, index) => ({
      id: index,
      day: `2024-06-${String(index + 1).padStart(2, '0')}`,
    }));
    api.answer(({ query }) => ({
      json: { rows: all.filter(({ day }) => day >= String(query.from) && day <= String(query.to)) },
    }));
    const whole = await read({ manifest, config, streams: { days: 'incremental' } });
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.log.length), async (cut) => {
        const before = whole.log.slice(0, cut);
        const last = before.flatMap((one) => ('state' in one ? [one.state] : [])).at(-1);
        const rest = await read({ manifest, config, streams: { days: 'incremental' }, state: last ? [last] : [] });
        const seen = [...before, ...rest.log].flatMap((one) => ('record' in one ? [one.record[1].id] : []));
        expect([...new Set(seen)].sort((one, other) => Number(one) - Number(other))).toEqual(all.map(({ id }) => id));
      }),
      { numRuns: 15 },
    );
  });

  it('are those of the language: every component says what it is for, and every option', () => {
    expect(componentDefinitions.length).toBeGreaterThanOrEqual(95);
    expect(new Set(componentDefinitions.map(({ name }) => name)).size).toBe(componentDefinitions.length);
    for (const { name, words, options } of componentDefinitions) {
      expect(words, name).toMatch(/\.$/);
      for (const [option, { words: about }] of Object.entries(options))
        expect(about, `${name}.${option}`).toMatch(/\.$/);
    }
  });
});
