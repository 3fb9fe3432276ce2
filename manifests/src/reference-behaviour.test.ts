/* Details of the reference runtime that are easy to get wrong, option by option. */
import { deflateRawSync } from 'node:zlib';
import { parseJson, stringifyJson } from '@inlay/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Api,
  check,
  discover,
  manifestWith,
  type Reply,
  read,
  startApi,
  stateOf,
} from '../test/declarative-api.ts';
import { readManifest } from './manifest/read-manifest.ts';
import { normalizeBySchema } from './run/normalization.ts';

let api: Api;
let config: Record<string, unknown>;
beforeAll(async () => {
  api = await startApi();
  config = { base: api.address };
});
afterAll(() => api.close());

const row = { json: { rows: [{ id: 1 }] } };
const full = (...names: string[]) => Object.fromEntries(names.map((name) => [name, 'full_refresh' as const]));
/** A stream whose path is its name. */
const stream = (name: string, more = '') =>
  `{$ref: "#/definitions/stream", name: ${name}, $parameters: {name: ${name}}${more === '' ? '' : `, ${more}`}}`;
const asking = (name: string, requester: string, retriever = '', more = '') =>
  stream(
    name,
    `retriever: {$ref: "#/definitions/retriever", requester: {$ref: "#/definitions/requester"${requester === '' ? '' : `, ${requester}`}}${retriever}}${more}`,
  );
const lines = (...streams: string[]) => streams.map((one) => `  - ${one}`).join('\n');
const parameter = (name: string) => `{type: RequestOption, inject_into: request_parameter, field_name: ${name}}`;
const days = (more = '') =>
  `incremental_sync: {type: DatetimeBasedCursor, cursor_field: day, datetime_format: "%Y-%m-%d", start_datetime: "2024-06-01", start_time_option: ${parameter('from')}, end_time_option: ${parameter('to')}${more}}`;
const parentOf = (name: string, more = '') =>
  `{type: ParentStreamConfig, stream: ${stream(name)}, parent_key: id, partition_field: part${more}}`;
const substream = (...parents: string[]) =>
  `{type: SubstreamPartitionRouter, parent_stream_configs: [${parents.join(', ')}]}`;

describe('changes of records', () => {
  it('write keys in snake case word by word, flatten from the end, and lift only what does not collide', async () => {
    const changed = (name: string, change: string) =>
      stream(
        name,
        `transformations: [${change}], retriever: {$ref: "#/definitions/retriever", requester: {$ref: "#/definitions/requester", path: /x}}`,
      );
    const manifest = manifestWith(
      lines(
        changed('snake', '{type: KeysToSnakeCase}'),
        changed('flat', '{type: FlattenFields}'),
        changed('flatter', '{type: FlattenFields, flatten_lists: false}'),
        changed('first', '{type: DpathFlattenFields, field_path: [deep, "*"]}'),
        changed('replaced', '{type: DpathFlattenFields, field_path: [empty], replace_record: true}'),
      ),
    );
    const record = {
      field1Name: 1,
      _x: 2,
      trailing_: 3,
      '2nd': 4,
      deep: { one: { a: 5 }, two: { b: 6 } },
      list: [{ inItem: 7 }, 8],
      last: { c: 9 },
      empty: {},
    };
    api.answer(() => ({ json: { rows: [record] } }));
    const { records } = await read({
      manifest,
      config,
      streams: full('snake', 'flat', 'flatter', 'first', 'replaced'),
    });
    expect(records.snake).toEqual([
      {
        field_1_name: 1,
        _x: 2,
        trailing_: 3,
        _2_nd: 4,
        deep: { one: { a: 5 }, two: { b: 6 } },
        list: [{ inItem: 7 }, 8],
        last: { c: 9 },
        empty: {},
      },
    ]);
    // What comes before a list in the record is reached after it, and keeps the names of its parents.
    expect(records.flat).toEqual([
      {
        c: 9,
        'list.1': 8,
        'list.0.inItem': 7,
        'deep.two.b': 6,
        'deep.one.a': 5,
        '2nd': 4,
        trailing_: 3,
        _x: 2,
        field1Name: 1,
      },
    ]);
    expect(records.flatter?.[0]).toMatchObject({ list: [{ inItem: 7 }, 8], a: 5, b: 6, c: 9 });
    expect(records.first).toEqual([{ ...record, a: 5 }]);
    expect(records.replaced).toEqual([record]);
  });
});

describe('properties', () => {
  it('are requested with those of every request only in chunks, and put together by id', async () => {
    const properties = (more: string) =>
      `request_parameters: {fields: {type: QueryProperties, property_list: [a, b, c], always_include_properties: [id]${more}}}`;
    const chunks = (more: string) =>
      `, property_chunking: {type: PropertyChunking, property_limit_type: property_count${more}}`;
    const manifest = manifestWith(
      lines(
        asking('plain', properties('')),
        asking('unlimited', properties(chunks(''))),
        asking('chunked', properties(chunks(', property_limit: 2'))),
        asking(
          'selected',
          properties(
            `${chunks(', property_limit: 2')}, property_selector: {type: JsonSchemaPropertySelector, transformations: [{type: KeysReplace, old: "x_", new: ""}]}`,
          ),
        ),
      ),
    );
    api.answer(({ query }) => ({
      json: {
        rows: [
          {
            id: 'k',
            ...Object.fromEntries(
              String(query.fields)
                .split(',')
                .map((name) => [name, name]),
            ),
          },
        ],
      },
    }));
    const schemas = { selected: { type: 'object', properties: { x_b: {}, c: {}, d: {} } } };
    const { records } = await read({
      manifest,
      config,
      streams: full('plain', 'unlimited', 'chunked', 'selected'),
      schemas,
    });
    const asked = (path: string) =>
      api
        .asked()
        .filter((one) => one.path === path)
        .map(({ query }) => query.fields);
    expect(asked('/plain')).toEqual(['a,b,c']);
    expect(asked('/unlimited')).toEqual(['a,b,c,id']);
    expect(asked('/chunked')).toEqual(['id,a,b', 'id,c']);
    expect(asked('/selected')).toEqual(['id,b,c']);
    expect(records.chunked).toEqual([{ id: 'id', a: 'a', b: 'b', c: 'c' }]);
  });
});

describe('pages', () => {
  it('start over once for an API that says so, and continue from the last cursor where they are split', async () => {
    const pages =
      ', paginator: {type: DefaultPaginator, page_token_option: {type: RequestOption, inject_into: request_parameter, field_name: page}, pagination_strategy: {type: PageIncrement, page_size: 2}}';
    const resets =
      'error_handler: {type: DefaultErrorHandler, response_filters: [{type: HttpResponseFilter, http_codes: [410], action: RESET_PAGINATION}]}';
    const manifest = manifestWith(
      lines(
        asking('once', resets, pages),
        asking('always', resets, `${pages}, pagination_reset: {type: PaginationReset, action: RESET}`),
        asking(
          'split',
          '',
          `${pages}, pagination_reset: {type: PaginationReset, action: SPLIT_USING_CURSOR, limits: {type: PaginationResetLimits, number_of_records: 4}}`,
          `, ${days(', end_datetime: "2024-06-09", cursor_datetime_formats: ["%d.%m.%Y"]')}`,
        ),
      ),
    );
    const all = Array.from({ length: 9 }, (_, index) => ({ id: index, day: `0${index + 1}.06.2024` }));
    api.answer(({ path, query }, count) => {
      if (path === '/once')
        return count === 1 ? { status: 410 } : { json: { rows: count < 3 ? [{ id: 1 }, { id: 2 }] : [] } };
      if (path === '/always') return { status: 410 };
      const from = Number(String(query.from).slice(-2)) - 1;
      const page = Number(query.page ?? 0);
      return { json: { rows: all.slice(from).slice(page * 2, page * 2 + 2) } };
    });
    const { records, failures } = await read({
      manifest,
      config,
      streams: { ...full('once', 'always'), split: 'incremental' },
    });
    expect(records.once).toHaveLength(4);
    expect(failures).toMatchObject({ always: { failureType: 'system_error' } });
    expect(api.asked().filter(({ path }) => path === '/always')).toHaveLength(2);
    expect(
      api
        .asked()
        .filter(({ path }) => path === '/split')
        .map(({ query }) => `${query.from} ${query.page ?? 0}`),
    ).toEqual(['2024-06-01 0', '2024-06-01 1', '2024-06-04 0', '2024-06-04 1', '2024-06-07 0', '2024-06-07 1']);
    expect(new Set(records.split?.map(({ id }) => id)).size).toBe(9);
  });

  it('of a child come with its parent only where there is no state yet', async () => {
    const manifest = manifestWith(
      lines(
        asking(
          'child',
          'path: "/child/{{ stream_partition.part }}"',
          `, partition_router: ${substream(parentOf('shops', ', lazy_read_pointer: [first]'))}`,
          `, ${days()}`,
        ),
      ),
    );
    api.answer(({ path }) =>
      path === '/shops'
        ? { json: { rows: [{ id: 1, first: { rows: [{ id: 11, day: '2024-06-02' }] } }] } }
        : { json: { rows: [{ id: 12, day: '2024-06-03' }] } },
    );
    const first = await read({ manifest, config, streams: { child: 'incremental' } });
    expect(first.records.child).toEqual([{ id: 11, day: '2024-06-02' }]);
    const state = stateOf('child', first.states.child ?? {});
    const second = await read({ manifest, config, streams: { child: 'incremental' }, state });
    expect(second.records.child).toEqual([{ id: 12, day: '2024-06-03' }]);
  });
});

describe('partitions', () => {
  it('are joined from several routers without repeats, and grouped by their value alone', async () => {
    const list = '{type: ListPartitionRouter, cursor_field: part, values: ["1", "2"]}';
    const manifest = manifestWith(
      lines(
        asking(
          'union',
          'path: "/union/{{ stream_partition.part }}"',
          `, partition_router: {type: UnionPartitionRouter, partition_field: part, partition_routers: [${list}, ${substream(parentOf('shops'))}]}`,
          `, ${days()}`,
        ),
        asking(
          'grouped',
          'path: "/grouped/{{ stream_partition.part | join(\'-\') }}"',
          `, partition_router: {type: GroupingPartitionRouter, group_size: 2, underlying_partition_router: ${substream(parentOf('shops'), parentOf('stores'))}}`,
        ),
      ),
    );
    api.answer(({ path }) => {
      if (path === '/shops') return { json: { rows: [{ id: '2' }, { id: '3' }] } };
      if (path === '/stores') return { json: { rows: [{ id: '3' }, { id: '4' }] } };
      return { json: { rows: [{ id: path, day: '2024-06-02' }] } };
    });
    const { states } = await read({ manifest, config, streams: { union: 'incremental', ...full('grouped') } });
    const paths = api.asked().map(({ path }) => path);
    expect(paths.filter((path) => path.startsWith('/union')).sort()).toEqual(['/union/1', '/union/2', '/union/3']);
    expect(paths.filter((path) => path.startsWith('/grouped')).sort()).toEqual(['/grouped/2-3', '/grouped/4']);
    const found = (states.union?.states ?? []) as { partition: unknown }[];
    expect(found.map(({ partition }) => partition)).toEqual([{ part: '1' }, { part: '2' }, { part: '3' }]);
  });

  it('are none for an empty list of routers, and what Python goes through for values that are no list', async () => {
    const parts = (name: string, values: string) =>
      asking(
        name,
        `path: "/x/{{ stream_partition['part'] }}"`,
        `, partition_router: {type: ListPartitionRouter, cursor_field: part, values: "${values}"}`,
      );
    const manifest = manifestWith(
      lines(
        asking('none', '', ', partition_router: []', `, ${days()}`),
        parts('word', "{{ config['word'] }}"),
        parts('keys', "{{ config['keys'] }}"),
        parts('missing', "{{ config['nowhere'] }}"),
      ),
    );
    api.answer(({ path }) => ({ json: { rows: [{ id: path.slice(3), day: '2024-06-02' }] } }));
    const { records, states, failures } = await read({
      manifest,
      config: { ...config, word: 'ab', keys: { k: 1, l: 2 } },
      streams: { none: 'incremental', ...full('word', 'keys', 'missing') },
    });
    expect(failures).toEqual({});
    expect(states.none).toEqual({ day: '2024-06-02' });
    const ids = (name: string) => records[name]?.map(({ id }) => id).sort();
    expect([ids('word'), ids('keys'), ids('missing')]).toEqual([['a', 'b'], ['k', 'l'], []]);
  });

  it('leave out a stream whose manifest cannot work, by name and path', () => {
    const option = `, request_option: ${parameter('x')}`;
    const manifest = manifestWith(
      lines(
        asking(
          'grouped',
          '',
          `, partition_router: {type: GroupingPartitionRouter, group_size: 2, underlying_partition_router: {type: ListPartitionRouter, cursor_field: part, values: [a]${option}}}`,
        ),
        stream('stepped', days(', step: P1D')),
        asking('number', 'request_parameters: {a: 1}'),
        asking('formed', 'http_method: POST, request_body_data: {a: true}'),
        asking('both', 'request_body_data: {a: "1"}, request_body_json: {a: "1"}'),
        asking('key', 'authenticator: {type: ApiKeyAuthenticator, api_token: x}'),
        asking(
          'sized',
          '',
          `, paginator: {type: DefaultPaginator, page_size_option: ${parameter('n')}, pagination_strategy: {type: PageIncrement}}`,
        ),
        stream('fine'),
      ),
    );
    const { streams } = readManifest(manifest);
    const wrong = streams.filter(({ problems }) => problems.some(({ level }) => level === 'error'));
    expect(wrong.map(({ name, problems }) => `${name}: ${problems[0]?.path}`)).toEqual([
      'grouped: streams[0].retriever.partition_router',
      'stepped: streams[1].incremental_sync',
      'number: streams[2].retriever.requester.request_parameters.a',
      'formed: streams[3].retriever.requester.request_body_data.a',
      'both: streams[4].retriever.requester',
      'key: streams[5].retriever.requester.authenticator',
      'sized: streams[6].retriever.paginator',
    ]);
  });
});

describe('states', () => {
  it('decide which of two streams is read, unless they are older than what the API keeps', async () => {
    const both = (name: string, more: string) =>
      `{type: StateDelegatingStream, name: ${name}, full_refresh_stream: ${stream(name, 'retriever: {$ref: "#/definitions/retriever", requester: {$ref: "#/definitions/requester", path: /whole}}')}, incremental_stream: ${stream(name, `retriever: {$ref: "#/definitions/retriever", requester: {$ref: "#/definitions/requester", path: /changes}}, ${days()}`)}${more}}`;
    const manifest = manifestWith(
      lines(
        both('marked', ''),
        both('fresh', ', api_retention_period: P7D'),
        both('stale', `, api_retention_period: "{{ 'P7D' if config['base'] else '' }}"`),
        both('endless', `, api_retention_period: "{{ config['none'] }}"`),
      ),
    );
    api.answer(({ path }) => ({ json: { rows: [{ id: path, day: '2024-06-14' }] } }));
    const state = [
      ...stateOf('marked', { __ab_no_cursor_state_message: true }),
      ...stateOf('fresh', { day: '2024-06-10' }),
      ...stateOf('stale', { day: '2024-06-01' }),
      ...stateOf('endless', { day: '2024-06-01' }),
    ];
    const names = ['marked', 'fresh', 'stale', 'endless'];
    const { records, log } = await read({
      manifest,
      config,
      streams: Object.fromEntries(names.map((name) => [name, 'incremental'])),
      state,
    });
    const ids = Object.fromEntries(names.map((name) => [name, records[name]?.[0]?.id]));
    expect(ids).toEqual({ marked: '/changes', fresh: '/changes', stale: '/whole', endless: '/changes' });
    const reset = log.find((one) => 'state' in one && one.state.stream?.stream_descriptor.name === 'stale');
    expect(reset).toMatchObject({ state: { stream: { stream_state: {} } } });
  });

  it('count for a stream that is read as a whole, too, if there are any', async () => {
    const manifest = manifestWith(lines(stream('whole', days())));
    api.answer(() => ({ json: { rows: [] } }));
    await read({ manifest, config, streams: full('whole'), state: stateOf('whole', { day: '2024-06-10' }) });
    expect(api.asked()[0]?.query.from).toBe('2024-06-10');
  });

  it('of slices that are clamped end with whole weeks and months', async () => {
    const clamped = (target: string) =>
      days(`, end_datetime: "2024-08-20", step: P1M, cursor_granularity: P1D, clamping: {${target}}`);
    const manifest = manifestWith(
      lines(
        stream('months', clamped('target: MONTH')),
        stream(
          'weeks',
          days(
            `, end_datetime: "2024-06-20", step: P1W, cursor_granularity: P1D, clamping: {target: WEEK, target_details: {weekday: MONDAY}}`,
          ),
        ),
      ),
    );
    api.answer(() => ({ json: { rows: [] } }));
    await read({ manifest, config, streams: { months: 'incremental', weeks: 'incremental' } });
    const ranges = (name: string) =>
      api
        .asked()
        .filter(({ path }) => path === `/${name}`)
        .map(({ query }) => `${query.from} ${query.to}`)
        .sort();
    expect(ranges('months')).toEqual(['2024-06-01 2024-06-30', '2024-07-01 2024-07-31']);
    expect(ranges('weeks')).toEqual(['2024-06-03 2024-06-09', '2024-06-10 2024-06-16']);
  });

  it('are not begun where no stream can be made with the configuration, and otherwise continue without those that cannot', async () => {
    const choosing =
      'authenticator: {type: SelectiveAuthenticator, authenticator_selection_path: [kind], authenticators: {a: {type: NoAuth}}}';
    api.answer(() => row);
    const alone = manifestWith(lines(asking('first', choosing)));
    await expect(read({ manifest: alone, config, streams: full('first') })).rejects.toThrow('kind');
    const both = manifestWith(lines(asking('first', choosing), stream('second')));
    const { failures, statuses } = await read({ manifest: both, config, streams: full('first', 'second') });
    expect(failures).toMatchObject({ first: { failureType: 'config_error' } });
    expect(statuses).toEqual({ first: 'INCOMPLETE', second: 'COMPLETE' });
  });

  it('of streams that the manifest does not have say only that they are not whole', async () => {
    api.answer(() => row);
    const { failures, statuses } = await read({
      manifest: manifestWith(lines(stream('first'))),
      config,
      streams: full('first', 'gone'),
    });
    expect(failures).toEqual({});
    expect(statuses).toEqual({ first: 'COMPLETE', gone: 'INCOMPLETE' });
  });
});

describe('jobs', () => {
  const requester = (path: string, more = '') =>
    `{type: HttpRequester, url_base: "{{ config['base'] }}", path: "${path}"${more}}`;
  const job = (name: string, more = '', top = '') =>
    stream(
      name,
      `retriever: {type: AsyncRetriever, record_selector: {type: RecordSelector, extractor: {type: DpathExtractor, field_path: []}}, status_mapping: {type: AsyncJobStatusMap, running: [wait], completed: [done], failed: [bad], timeout: [late], ignore: [empty]}, status_extractor: {type: DpathExtractor, field_path: [status]}, download_target_extractor: {type: DpathExtractor, field_path: [files]}, creation_requester: ${requester(`/${name}`, ', http_method: POST')}, polling_requester: ${requester("/poll/{{ creation_response['headers']['X-Job'] }}")}, download_requester: ${requester('{{ download_target }}')}${more}}${top}`,
    );

  it('are requested without what a slice puts into requests, know the headers of answers, and count as failures of the configuration', async () => {
    const manifest = manifestWith(
      lines(
        job('made', '', `, ${days()}`),
        job('failing'),
        job(
          'late',
          `, abort_requester: ${requester("/abort/{{ creation_response['headers']['x-job'] }}", ', http_method: POST')}`,
        ),
        job('ignored', '', `, ${days()}`),
      ),
    );
    api.answer(({ path, method }) => {
      if (method === 'POST' && !path.startsWith('/abort'))
        return { json: { id: 1 }, headers: { 'X-Job': path.slice(1) } };
      if (path === '/poll/made') return { json: { status: 'done', files: ['/file'] } };
      if (path === '/poll/failing') return { json: { status: 'bad' } };
      if (path === '/poll/late') return { json: { status: 'late' } };
      if (path === '/poll/ignored') return { json: { status: 'empty' } };
      return { json: [{ id: 1, day: '2024-06-05' }] };
    });
    const { records, failures, states, statuses } = await read({
      manifest,
      config,
      streams: { made: 'incremental', ...full('failing', 'late'), ignored: 'incremental' },
    });
    const asked = api.asked().map(({ method, url }) => `${method} ${url}`);
    expect(asked).toContain('POST /made');
    expect(records.made).toEqual([{ id: 1, day: '2024-06-05' }]);
    expect(failures).toMatchObject({ failing: { failureType: 'config_error' }, late: { failureType: 'config_error' } });
    expect(asked.filter((one) => one === 'POST /failing')).toHaveLength(3);
    expect(asked.filter((one) => one === 'POST /abort/late')).toHaveLength(3);
    expect(statuses.ignored).toBe('COMPLETE');
    expect(states.ignored).toEqual({ day: '2024-06-01' });
  });

  it('download tables that are packed or not, with null for what is missing', async () => {
    const manifest = manifestWith(
      lines(
        job('table', ', download_extractor: {type: ResponseToFileExtractor}'),
        job('kept', ', download_extractor: {type: ResponseToFileExtractor, preserve_na_values: true}'),
      ),
    );
    api.answer(({ path, method }) => {
      if (method === 'POST') return { json: {}, headers: { 'X-Job': path.slice(1) } };
      if (path.startsWith('/poll')) return { json: { status: 'done', files: [`/file${path.slice(5)}`] } };
      const bytes = Buffer.from('id,name,n\n1,"a\0, b",NA\n\n2,,\n3\n');
      return { bytes, isGzipped: path === '/file/table', headers: { 'Content-Type': 'text/csv' } };
    });
    const { records, failures } = await read({ manifest, config, streams: full('table', 'kept') });
    expect(failures).toEqual({});
    const rows = (n: string | null) => [
      { id: '1', name: 'a, b', n },
      { id: '2', name: null, n: null },
      { id: '3', name: null, n: null },
    ];
    expect(records).toEqual({ table: rows(null), kept: rows('NA') });
  });

  it('run at the same time up to the number that the manifest gives, one without a number', async () => {
    const manifest = (more: string) =>
      manifestWith(
        lines(job('one'), job('two'), job('three')),
        `concurrency_level: {type: ConcurrencyLevel, default_concurrency: 5}\n${more}`,
      );
    const most = async (more: string) => {
      let open = 0;
      let largest = 0;
      api.answer(({ path, method }, count) => {
        if (method === 'POST') {
          open++;
          largest = Math.max(largest, open);
          return { json: {}, headers: { 'X-Job': path.slice(1) } };
        }
        if (path.startsWith('/poll')) {
          if (count === 0) return { json: { status: 'wait' } };
          open--;
          return { json: { status: 'done', files: [] } };
        }
        return row;
      });
      await read({ manifest: manifest(more), config, streams: full('one', 'two', 'three') });
      return largest;
    };
    expect(await most('')).toBe(1);
    expect(await most('max_concurrent_async_job_count: 2')).toBe(2);
  });
});

it('streams of a group are read one after the other, and not while a child of one of them is read', async () => {
  const group = (...names: string[]) =>
    `{action: {type: BlockSimultaneousSyncsAction}, streams: [${names.map((name) => `"#/definitions/${name}"`).join(', ')}]}`;
  const child = asking('child', '', `, partition_router: ${substream(parentOf('first'))}`);
  const manifest = manifestWith(
    lines('"#/definitions/first"', '"#/definitions/second"', child, stream('alone')),
    `concurrency_level: {type: ConcurrencyLevel, default_concurrency: 8}
stream_groups: {slow: ${group('first', 'second')}, odd: {action: {type: Shout}, streams: []}}`,
  ).replace('definitions:\n', `definitions:\n  first: ${stream('first')}\n  second: ${stream('second')}\n`);
  expect(readManifest(manifest).problems).toMatchObject([{ level: 'warning', path: 'stream_groups.odd.action' }]);
  const open = new Set<string>();
  const together = new Set<string>();
  api.answer(({ path }) => {
    open.add(path);
    for (const other of open) if (other !== path) together.add([other, path].sort().join(' '));
    return { json: { rows: [{ id: 1 }] }, afterMs: 20, onSent: () => open.delete(path) };
  });
  await read({ manifest, config, streams: full('first', 'second', 'child', 'alone') });
  expect([...together].filter((pair) => !pair.includes('/alone'))).toEqual([]);
  expect(together).toContain('/alone /first');
});

it('what has no effect here is a warning by name and path, and its stream runs', async () => {
  const uploader =
    'file_uploader: {type: FileUploader, requester: {$ref: "#/definitions/requester"}, download_target_extractor: {type: DpathExtractor, field_path: [url]}}';
  const manifest = manifestWith(
    lines(
      stream('files', uploader),
      stream(
        'moved',
        `${days()}, state_migrations: [{type: CustomStateMigration, class_name: source_x.components.Move}]`,
      ),
    ),
  );
  expect(readManifest(manifest).problems).toEqual([
    {
      level: 'warning',
      path: 'streams[0].file_uploader',
      message: expect.stringMatching(/^file_uploader .*without their files/),
    },
    {
      level: 'warning',
      path: 'streams[1].state_migrations[0]',
      message: expect.stringMatching(/^CustomStateMigration "source_x\.components\.Move" is ignored/),
    },
  ]);
  api.answer(() => ({ json: { rows: [{ id: 1, day: '2024-06-03' }] } }));
  const { records, states } = await read({
    manifest,
    config,
    streams: { files: 'full_refresh', moved: 'incremental' },
    state: stateOf('moved', { day: '2024-06-02' }),
  });
  expect(records).toEqual({ files: [{ id: 1, day: '2024-06-03' }], moved: [{ id: 1, day: '2024-06-03' }] });
  expect(states.moved).toEqual({ day: '2024-06-03' });
});

it('a catalog may name another cursor field, where the manifest lets it', async () => {
  const chosen = (name: string, more: string) => stream(name, days(more));
  const manifest = manifestWith(
    lines(chosen('open', ', allow_catalog_defined_cursor_field: true'), chosen('fixed', '')),
  );
  const { streams } = await discover({ manifest, config });
  expect(streams.map(({ source_defined_cursor: isFixed, default_cursor_field: field }) => [isFixed, field])).toEqual([
    [false, ['day']],
    [true, ['day']],
  ]);
  api.answer(() => ({ json: { rows: [{ id: 1, day: '2024-06-03', seen: '2024-06-08' }] } }));
  const { states } = await read({
    manifest,
    config,
    streams: { open: 'incremental', fixed: 'incremental' },
    cursorFields: { open: 'seen', fixed: 'seen' },
  });
  expect(states).toEqual({ open: { seen: '2024-06-08' }, fixed: { day: '2024-06-03' } });
});

it('a stream that is rate limited is named by what the requests are for', async () => {
  const login = `{type: HttpRequester, url_base: "{{ config['base'] }}", path: /login, http_method: POST}`;
  const session = `{type: SessionTokenAuthenticator, login_requester: ${login}, session_token_path: [token], expiration_duration: PT1H, request_authentication: {type: Bearer}}`;
  const manifest = manifestWith(
    lines(
      asking('plain', ''),
      asking('child', '', `, partition_router: ${substream(parentOf('parent'))}`),
      asking('logged', `authenticator: ${session}`),
    ),
  );
  api.answer(({ path }, count) => {
    const isLimited = count === 0 && ['/plain', '/parent', '/login'].includes(path);
    return isLimited ? { status: 429 } : { json: { rows: [{ id: 1 }], token: 't' } };
  });
  const { limited, records } = await read({ manifest, config, streams: full('plain', 'child', 'logged') });
  expect(limited.sort()).toEqual(['logged_login_requester', 'parent', 'plain']);
  expect(Object.values(records).map(({ length }) => length)).toEqual([1, 1, 1]);
});

describe('streams and schemas that are found out', () => {
  it('filter a schema before they change it, with types that are equal, and know the values by one name', async () => {
    const schema =
      'schema_loader: {type: DynamicSchemaLoader, retriever: {$ref: "#/definitions/retriever", requester: {$ref: "#/definitions/requester", path: /fields}}, schema_type_identifier: {schema_pointer: [fields], key_pointer: [name], type_pointer: [kind], types_mapping: [{target_type: integer, current_type: int}, {target_type: [string, number], current_type: [text, num]}]}, schema_filter: {type: RecordFilter, condition: "{{ \'Keep\' in record.keys() | join }}"}, schema_transformations: [{type: KeysToLower}]}';
    const manifest = `${manifestWith(lines(stream('first', schema)))}
dynamic_streams:
  - {type: DynamicDeclarativeStream, name: listed, stream_template: ${stream('x')}, components_resolver: {type: ParametrizedComponentsResolver, stream_parameters: {type: StreamParametersDefinition, list_of_parameters_for_stream: [{name: one}]}, components_mapping: [{type: ComponentMappingDefinition, field_path: [name], value: "{{ components_values['name'] }}"}]}}
`;
    api.answer(({ path }) =>
      path === '/fields'
        ? {
            json: {
              rows: [
                {
                  fields: [
                    { name: 'KeepA', kind: 'int' },
                    { name: 'KeepB', kind: ['text', 'num'] },
                    { name: 'gone', kind: 'int' },
                    { name: 'KeepC' },
                  ],
                },
              ],
            },
          }
        : row,
    );
    const { streams } = await discover({ manifest, config });
    expect(streams.map(({ name }) => name)).toEqual(['first', 'one']);
    expect(streams[0]?.json_schema).toMatchObject({
      properties: {
        keepa: { type: ['null', 'integer'] },
        keepb: { oneOf: [{ type: ['null', 'string'] }, { type: ['null', 'number'] }] },
        keepc: { type: ['null', 'string'] },
      },
    });
    expect(Object.keys(streams[0]?.json_schema.properties ?? {})).toHaveLength(3);
  });

  it('are checked by their number or their group, or by the streams that a configuration names', async () => {
    const manifest = (of: string) =>
      `${manifestWith(lines(stream('first'), stream('second'))).replace('{type: CheckStream, stream_names: [first]}', of)}
dynamic_streams:
  - {type: DynamicDeclarativeStream, name: listed, stream_template: ${stream('x')}, components_resolver: {type: ParametrizedComponentsResolver, stream_parameters: {type: StreamParametersDefinition, list_of_parameters_for_stream: [{name: third}]}, components_mapping: [{type: ComponentMappingDefinition, field_path: [name], value: "{{ components_values['name'] }}"}]}}
`;
    api.answer(({ path }) => (path === '/first' ? row : { status: 403 }));
    const checked = (of: string, more = {}) => check({ manifest: manifest(of), config: { ...config, ...more } });
    expect(await checked('{type: CheckDynamicStream, stream_count: 1}')).toBeUndefined();
    expect(await checked('{type: CheckDynamicStream, stream_count: 2}')).toContain('second');
    expect(await checked('{type: CheckDynamicStream, stream_count: 2, use_check_availability: false}')).toBeUndefined();
    const group = (name: string, count: string) =>
      `{type: CheckStream, stream_names: [first], dynamic_streams_check_configs: [{type: DynamicStreamCheckConfig, dynamic_stream_name: ${name}${count}}]}`;
    expect(await checked(group('listed', ', stream_count: 1'))).toBeDefined();
    expect(await checked(group('unknown', ', stream_count: 1'))).toContain('unknown');
    const named = { airbyte_check_stream_names: ['second'] };
    expect(await checked('{type: CheckStream, stream_names: [first]}', named)).toContain('second');
  });
});

describe('configurations', () => {
  it('are reported when they are brought up to date, whatever the command', async () => {
    const rules = `  config_normalization_rules:
    config_migrations:
      - type: ConfigMigration
        transformations:
          - {type: ConfigAddFields, condition: "{{ value != 'none' }}", fields: [{path: [a], value: "{{ config['key'] }}"}, {path: [b], value: none}, {path: [c], value: "{{ config['a'] }}"}]}
          - {type: ConfigRemapField, field_path: [kind], map: {"1": one, old: "{{ 'n' ~ 'ew' }}"}}
  connection_specification`;
    const manifest = manifestWith(lines(stream('first'))).replace('  connection_specification', rules);
    api.answer(() => row);
    const before = { ...config, key: 'k', kind: 'old' };
    const after = { ...before, a: 'k', c: 'k', kind: 'new' };
    const configs: unknown[] = [];
    await check({ manifest, config: before, onConfiguration: (changed) => configs.push(changed) });
    await discover({ manifest, config: before, onConfiguration: (changed) => configs.push(changed) });
    expect(configs).toEqual([after, after]);
    const numbered = await read({ manifest, config: { ...before, kind: 1 }, streams: full('first') });
    expect(numbered.configs[0]).toMatchObject({ kind: 1 });
  });
});

describe('answers', () => {
  it('that are read while they come give the items of a list, rows in any encoding, and fail if they break off', async () => {
    const decoded = (name: string, decoder: string) =>
      asking(
        name,
        '',
        `, decoder: ${decoder}, record_selector: {type: RecordSelector, extractor: {type: DpathExtractor, field_path: []}}`,
      );
    const manifest = manifestWith(
      lines(
        decoded('items', '{type: JsonItemsDecoder, items_path: data.users}'),
        decoded('nested', '{type: GzipDecoder, decoder: {type: JsonItemsDecoder, items_path: data.item.tags}}'),
        decoded('cutitems', '{type: JsonItemsDecoder, items_path: data}'),
        decoded('latin', '{type: CsvDecoder, encoding: latin_1, set_values_to_none: ["-"]}'),
        decoded('signed', '{type: CsvDecoder, encoding: utf-8-sig, delimiter: ";"}'),
        decoded('cut', '{type: CsvDecoder}'),
        decoded('cutzip', '{type: GzipDecoder, decoder: {type: CsvDecoder}}'),
      ),
    );
    const user = (name: string) => ({ name, tags: ['x]', { deep: [1, 2] }], data: { users: [3] } });
    // Longer than a chunk of the network, so that items and strings lie across chunks.
    const users = [user('é"\\"'), user('}'.repeat(100_000)), user('c')];
    api.answer(({ path }) => {
      const replies: Record<string, Reply> = {
        '/items': { json: { other: { data: { users: [1] } }, data: { users, n: 1 } } },
        '/nested': { json: { data: [{ tags: [{ t: 1 }] }, { tags: [{ t: 2.5 }, { t: null }] }] }, isGzipped: true },
        '/cutitems': { text: '{"data": [{"id": 1}, {"id": 2}, {"id"', isCutOff: true },
        '/latin': { bytes: Buffer.from('id,name\n1,\xe9\n2,-\n3\n', 'latin1') },
        '/signed': { text: '\ufeffid;name\r\n1;"a;b"\r\n' },
        '/cut': { text: 'id\n1\n2\n', isCutOff: true },
        '/cutzip': { text: 'id\n1\n2\n', isGzipped: true, isCutOff: true },
      };
      return replies[path];
    });
    const { records, failures } = await read({
      manifest,
      config,
      streams: full('items', 'nested', 'cutitems', 'latin', 'signed', 'cut', 'cutzip'),
    });
    expect(records.items).toEqual(users);
    expect(records.nested).toEqual([{ t: 1 }, { t: 2.5 }, { t: null }]);
    expect(records.latin).toEqual([
      { id: '1', name: 'é' },
      { id: '2', name: null },
      { id: '3', name: null },
    ]);
    expect(records.signed).toEqual([{ id: '1', name: 'a;b' }]);
    expect(Object.keys(failures).sort()).toEqual(['cut', 'cutitems', 'cutzip']);
  });

  it('that are archives are unpacked file by file, and what is no archive fails the stream', async () => {
    const decoded = (name: string, decoder: string) =>
      asking(
        name,
        '',
        `, decoder: ${decoder}, record_selector: {type: RecordSelector, extractor: {type: DpathExtractor, field_path: []}}`,
      );
    const manifest = manifestWith(
      lines(
        decoded('zipped', '{type: ZipfileDecoder, decoder: {type: CsvDecoder}}'),
        decoded('broken', '{type: ZipfileDecoder, decoder: {type: JsonlDecoder}}'),
      ),
    );
    api.answer(({ path }) =>
      path === '/zipped' ? { bytes: zipOf({ 'a.csv': 'id,name\n1,x\n', 'b.csv': 'id\n2\n' }) } : { text: 'no archive' },
    );
    const { records, failures } = await read({ manifest, config, streams: full('zipped', 'broken') });
    expect(records.zipped).toEqual([{ id: '1', name: 'x' }, { id: '2' }]);
    expect(failures.broken?.failureType).toBe('system_error');
  });

  it('of a login are kept for a session token of the older kind, which is checked first', async () => {
    const manifest = manifestWith(
      lines(
        asking(
          'first',
          `authenticator: {type: LegacySessionTokenAuthenticator, header: X-Session, login_url: /session, validate_session_url: /user/current, session_token: "{{ config['token'] }}", session_token_response_key: id, username: u, password: p}`,
        ),
      ),
    );
    api.answer(({ path, headers }) => {
      if (path === '/user/current') return { status: headers['x-session'] === 'good' ? 200 : 401, json: {} };
      if (path === '/session') return { json: { id: 'new' } };
      return row;
    });
    const sent = async (token: string) => {
      api.taken();
      await read({ manifest, config: { ...config, token }, streams: full('first') });
      return api.taken().find(({ path }) => path === '/first')?.headers['x-session'];
    };
    expect(await sent('good')).toBe('good');
    expect(await sent('bad')).toBe('new');
    expect(await sent('')).toBe('new');
  });

  it('to an OAuth refresh that say the token is not valid any more are failures of the configuration', async () => {
    const manifest = manifestWith(
      lines(
        asking(
          'first',
          `authenticator: {type: OAuthAuthenticator, client_id: i, client_secret: s, refresh_token: r, token_refresh_endpoint: "{{ config['base'] }}/token", refresh_token_error_status_codes: [400], refresh_token_error_key: error, refresh_token_error_values: [invalid_grant]}`,
        ),
      ),
    );
    api.answer(() => ({ status: 400, json: { error: 'invalid_grant' } }));
    const { failures } = await read({ manifest, config, streams: full('first') });
    expect(failures.first?.failureType).toBe('config_error');
  });
});

describe('what the reference runtime is content with', () => {
  it('a validator has nothing to say of a key that is not there, and checks one that is', async () => {
    const validator = (path: string) =>
      `{type: DpathValidator, field_path: ${path}, validation_strategy: {type: ValidateAdheresToSchema, base_schema: {type: string, minLength: 3}}}`;
    const manifest = manifestWith(lines(stream('first'))).replace(
      '  connection_specification',
      `  config_normalization_rules: {type: ConfigNormalizationRules, validations: [${validator('[word]')}, ${validator('[deep, word]')}]}\n  connection_specification`,
    );
    api.answer(() => row);
    expect(await check({ manifest, config })).toBeUndefined();
    expect(await check({ manifest, config: { ...config, deep: {} } })).toBeUndefined();
    expect(await check({ manifest, config: { ...config, deep: { word: 'long' } } })).toBeUndefined();
    expect(await check({ manifest, config: { ...config, word: 'no' } })).toContain('not valid');
    expect(await check({ manifest, config: { ...config, deep: { word: 'no' } } })).toContain('not valid');
  });

  it('a start date keeps its offset in requests and states where the format has a place for it', async () => {
    const zoned = (format: string, more = '') =>
      `incremental_sync: {type: DatetimeBasedCursor, cursor_field: at, datetime_format: "${format}", cursor_datetime_formats: ["%Y-%m-%dT%H:%M:%S%z"], start_datetime: {type: MinMaxDatetime, datetime: "{{ config['from'] }}", datetime_format: "%Y-%m-%dT%H:%M:%S%z"}, start_time_option: ${parameter('from')}, end_time_option: ${parameter('to')}${more}}`;
    const manifest = manifestWith(
      lines(
        stream('zoned', zoned('%Y-%m-%dT%H:%M:%S%z')),
        stream('stepped', zoned('%Y-%m-%dT%H:%M:%S%z', ', step: P10D, cursor_granularity: PT1S')),
        stream('utc', zoned('%Y-%m-%dT%H:%M:%SZ')),
        stream('seconds', zoned('%s')),
      ),
    );
    const at = '2024-06-02T08:00:00+0200';
    api.answer(() => ({ json: { rows: [{ id: 1, at }] } }));
    const { states } = await read({
      manifest,
      config: { ...config, from: '2024-06-01T00:00:00+0200' },
      streams: { zoned: 'incremental', stepped: 'incremental', utc: 'incremental', seconds: 'incremental' },
    });
    const asked = (path: string) =>
      api
        .asked()
        .filter((one) => one.path === path)
        .map(({ query }) => [query.from, query.to]);
    expect(asked('/zoned')).toEqual([['2024-06-01T00:00:00+0200', '2024-06-15T12:00:00+0000']]);
    expect(asked('/stepped').sort()).toEqual([
      ['2024-06-01T00:00:00+0200', '2024-06-10T23:59:59+0200'],
      ['2024-06-11T00:00:00+0200', '2024-06-15T12:00:00+0000'],
    ]);
    // Without a place for the offset, the same moment is meant.
    expect(asked('/utc')).toEqual([['2024-05-31T22:00:00Z', '2024-06-15T12:00:00Z']]);
    expect(asked('/seconds')).toEqual([['1717192800', '1718452800']]);
    expect(states).toMatchObject({ zoned: { at }, utc: { at: '2024-06-02T06:00:00Z' } });
    api.taken();
    await read({
      manifest,
      config: { ...config, from: '2024-06-01T00:00:00+0200' },
      streams: { zoned: 'incremental' },
      state: stateOf('zoned', states.zoned ?? {}),
    });
    expect(asked('/zoned')).toEqual([[at, '2024-06-15T12:00:00+0000']]);
  });

  it('a normalized number is written as a float, and other values as they are', () => {
    const types = { n: 'number', s: 'number', b: 'number', big: 'number', huge: 'number', i: 'integer', t: 'string' };
    const properties = Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type }]));
    const record = parseJson(
      '{"n": 7, "s": "8", "b": true, "big": 1e16, "huge": "1e999", "i": 7.0, "t": 7, "half": 0.5, "list": [1, "2"]}',
    ) as Record<string, unknown>;
    normalizeBySchema(record, {
      properties: {
        ...properties,
        half: { type: ['null', 'number'] },
        list: { type: 'array', items: { type: 'number' } },
      },
    });
    expect(stringifyJson(record)).toBe(
      '{"n":7.0,"s":8.0,"b":1.0,"big":1e+16,"huge":"1e999","i":7,"t":"7","half":0.5,"list":[1.0,2.0]}',
    );
  });

  it('a template that is never rendered cannot fail its stream', async () => {
    const broken = "\"{{ config['other']['deep'] }}\"";
    const noTemplate = '"{{ config["';
    const oauth = `{type: OAuthAuthenticator, client_id: ${broken}, client_secret: ${noTemplate}, refresh_token: ${broken}, refresh_token_name: ${broken}, token_refresh_endpoint: ${broken}, access_token_value: given, token_expiry_date: "2030-01-01T00:00:00Z"}`;
    const manifest = manifestWith(
      lines(
        asking(
          'chosen',
          `authenticator: {type: SelectiveAuthenticator, authenticator_selection_path: [kind], authenticators: {key: {type: BearerAuthenticator, api_token: k}, other: {type: BearerAuthenticator, api_token: ${noTemplate}}, oauth: ${oauth}}}`,
        ),
        asking('valid', `authenticator: ${oauth}`),
        asking('based', `url: ${broken}`),
        asking(
          'handled',
          `error_handler: {type: DefaultErrorHandler, response_filters: [{type: HttpResponseFilter, http_codes: [418], action: FAIL, error_message: ${noTemplate}}], backoff_strategies: [{type: ConstantBackoffStrategy, backoff_time_in_seconds: ${noTemplate}}]}`,
        ),
        asking('branched', `request_parameters: {a: "{{ 1 if config['base'] else 1 / 0 }}"}`),
        stream(
          'delegated',
          `type: StateDelegatingStream, full_refresh_stream: ${asking('delegated', '')}, incremental_stream: ${asking('delegated', `path: ${noTemplate}`)}`,
        ).replace('$ref: "#/definitions/stream", ', ''),
      ),
    );
    api.answer(() => row);
    const names = ['chosen', 'valid', 'based', 'handled', 'branched', 'delegated'];
    const given = { ...config, kind: 'key' };
    const found = await discover({ manifest, config: given });
    expect(found.streams.map(({ name }) => name)).toEqual(names);
    const { failures, records } = await read({ manifest, config: given, streams: full(...names) });
    expect(failures).toEqual({});
    expect(Object.values(records).map((list) => list.length)).toEqual(names.map(() => 1));
  });
});

/** A ZIP archive, as small as it can be. */
function zipOf(files: Record<string, string>): Buffer {
  const parts: Buffer[] = [];
  const index: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(files)) {
    const [plain, packed] = [Buffer.from(content), deflateRawSync(content)];
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt16LE(8, 8);
    head.writeUInt32LE(packed.length, 18);
    head.writeUInt32LE(plain.length, 22);
    head.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(8, 10);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt32LE(plain.length, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(offset, 42);
    parts.push(head, Buffer.from(name), packed);
    index.push(entry, Buffer.from(name));
    offset += 30 + name.length + packed.length;
  }
  const size = index.reduce((sum, part) => sum + part.length, 0);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Object.keys(files).length, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, ...index, end]);
}
