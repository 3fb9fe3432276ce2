/*
 * Error messages if a stream cannot be opened or a template cannot be rendered: the stream, the path, the template and
 * the setting.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, check, discover, manifestWith, read, startApi } from '../test/declarative-api.ts';

let api: Api;
let config: Record<string, unknown>;
beforeAll(async () => {
  api = await startApi();
  config = { base: api.address, start_date: '2024-01-01' };
});
afterAll(() => api.close());

const stream = (name: string, more = '') =>
  `  - {$ref: "#/definitions/stream", name: ${name}, $parameters: {name: ${name}}${more === '' ? '' : `, ${more}`}}`;
const asking = (name: string, requester: string) =>
  stream(
    name,
    `retriever: {$ref: "#/definitions/retriever", requester: {$ref: "#/definitions/requester", ${requester}}}`,
  );
const cursor = (start: string, more = '') =>
  `incremental_sync: {type: DatetimeBasedCursor, cursor_field: day, datetime_format: "%Y-%m-%d", start_datetime: ${start}${more}}`;
const fromSetting = `"{{ config['start_date'] }}"`;
const schemaFrom = (requester: string) =>
  `schema_loader: {type: DynamicSchemaLoader, retriever: {$ref: "#/definitions/retriever", requester: {$ref: "#/definitions/requester", ${requester}}}, schema_type_identifier: {schema_pointer: [fields], key_pointer: [name]}}`;
const row = { json: { rows: [{ id: 1, day: '2024-06-01' }] } };

async function discovered(streams: string, given: Record<string, unknown> = {}) {
  const words: string[] = [];
  const catalog = await discover({
    manifest: manifestWith(streams),
    config: { ...config, ...given },
    onLog: (_level, message) => words.push(message),
  });
  return { names: catalog.streams.map(({ name }) => name), words };
}

describe('a stream that cannot be opened', () => {
  it.each([
    [
      'a date in another form',
      cursor(fromSetting),
      `streams[1].incremental_sync.start_datetime.datetime: "01.02.2024" is not a date in the format %Y-%m-%d, such as 2024-12-31 (template: {{ config['start_date'] }}; setting: start_date)`,
    ],
    [
      'a date in another form, in an object with a format',
      cursor(
        `{type: MinMaxDatetime, datetime: "2024-01-01T00:00:00Z", min_datetime: ${fromSetting}, datetime_format: "%Y-%m-%dT%H:%M:%SZ"}`,
      ),
      'streams[1].incremental_sync.start_datetime.min_datetime: "01.02.2024" is not a date in the format %Y-%m-%dT%H:%M:%SZ, such as 2024-12-31T15:30:00Z',
    ],
    [
      'a date that is not there',
      cursor(`"{{ config['other']['date'] }}"`),
      'streams[1].incremental_sync.start_datetime.datetime:',
    ],
    [
      'a length that is none',
      cursor('"2024-01-01"', `, step: "{{ config['start_date'] }}", cursor_granularity: P1D`),
      'streams[1].incremental_sync.step: ',
    ],
    [
      'a parent that cannot be opened',
      `retriever: {$ref: "#/definitions/retriever", partition_router: {type: SubstreamPartitionRouter, parent_stream_configs: [{type: ParentStreamConfig, parent_key: id, partition_field: parent, stream: {$ref: "#/definitions/stream", name: parent, ${cursor(fromSetting)}}}]}}`,
      'streams[1].retriever.partition_router.parent_stream_configs[0].stream.incremental_sync.start_datetime.datetime:',
    ],
  ])('is left out alone, and named with its path and setting: %s', async (_what, more, words) => {
    const found = await discovered([stream('first'), stream('second', more), stream('third')].join('\n'), {
      start_date: '01.02.2024',
    });
    expect(found.names).toEqual(['first', 'third']);
    expect(found.words).toHaveLength(1);
    expect(found.words[0]).toContain('stream second is skipped');
    expect(found.words[0]).toContain(words);
  });

  it.each([
    ['a template', `path: "/{{ config['other']['deep'] }}"`, {}, `{{ config['other']['deep'] }}`],
    ['a refusal', 'path: /fields', { status: 403, json: {} }, '403'],
    [
      'an answer in another form',
      'path: /fields',
      { json: { rows: [{ fields: [{ id: 1 }] }] } },
      'A schema property has no',
    ],
  ])('is left out alone where its schema cannot be had: %s', async (_what, requester, answer, words) => {
    api.answer(({ path }) => (path === '/fields' ? answer : row));
    const found = await discovered([stream('first'), stream('second', schemaFrom(requester))].join('\n'));
    expect(found.names).toEqual(['first']);
    expect(found.words[0]).toMatch(/second is skipped.* streams\[1\]\.schema_loader/);
    expect(found.words[0]).toContain(words);
  });

  it('ends a discovery during an outage: the stream is there, only nobody knows its schema', async () => {
    api.answer(({ path }) => (path === '/fields' ? { status: 503 } : row));
    const streams = [stream('first'), stream('second', schemaFrom('path: /fields'))].join('\n');
    await expect(discovered(streams)).rejects.toMatchObject({
      failureType: 'transient_error',
      message: expect.stringMatching(/stream second .*503/),
    });
  });

  it('ends a discovery with its path where it is not known which streams there are', async () => {
    const resolver = `{type: HttpComponentsResolver, retriever: {$ref: "#/definitions/retriever", requester: {$ref: "#/definitions/requester", path: "/{{ config['other']['deep'] }}"}}, components_mapping: [{field_path: [name], value: x}]}`;
    const manifest = manifestWith(
      stream('first'),
      `dynamic_streams:\n  - {type: DynamicDeclarativeStream, stream_template: {$ref: "#/definitions/stream", name: x}, components_resolver: ${resolver}}`,
    );
    await expect(discover({ manifest, config })).rejects.toThrow(
      /^dynamic_streams\[0\]\.components_resolver\.retriever\.requester\.path: .*\{\{ config\['other'\]\['deep'\] \}\}/,
    );
    const budget = `concurrency_level: {type: ConcurrencyLevel, default_concurrency: "{{ config['other']['deep'] }}"}`;
    await expect(
      read({ manifest: manifestWith(stream('first'), budget), config, streams: { first: 'full_refresh' } }),
    ).rejects.toThrow(/^concurrency_level\.default_concurrency: /);
  });

  it('ends a discovery that finds no other stream, with the same words', async () => {
    const only = stream('first', cursor(fromSetting));
    await expect(discovered(only, { start_date: 'today' })).rejects.toMatchObject({
      message: expect.stringMatching(
        /stream first .*streams\[0\]\.incremental_sync\.start_datetime\.datetime: "today" .*%Y-%m-%d/,
      ),
      fields: ['start_date'],
    });
  });

  it('is named in the same words by a check and by a sync, which reads the others', async () => {
    api.answer(() => row);
    const given = { ...config, start_date: 'today' };
    const words =
      'streams[0].incremental_sync.start_datetime.datetime: "today" is not a date in the format %Y-%m-%d, such as 2024-12-31';
    const manifest = manifestWith([stream('first', cursor(fromSetting)), stream('second')].join('\n'));
    expect(await check({ manifest, config: given })).toContain(words);
    const { failures, records } = await read({
      manifest,
      config: given,
      streams: { first: 'incremental', second: 'full_refresh' },
    });
    expect(records.second).toHaveLength(1);
    expect(failures.first).toMatchObject({ failureType: 'config_error', fields: ['start_date'] });
    expect(failures.first?.message).toContain(words);
    const alone = read({ manifest, config: given, streams: { first: 'incremental' } });
    await expect(alone).rejects.toThrow(words);
  });

  it('leaves the others there where only the condition of some streams cannot be evaluated', async () => {
    const conditional = `  - {type: ConditionalStreams, condition: "{{ nothing.defines['this'] }}", streams: [{$ref: "#/definitions/stream", name: more}]}`;
    const { names, words } = await discovered([stream('first'), conditional].join('\n'));
    expect(names).toEqual(['first']);
    expect(words[0]).toContain('streams[1].condition: ');
    expect(words[0]).toContain('{{ nothing.defines');
  });
});

describe('a template that fails while a stream is read', () => {
  it.each([
    ['a path', `path: "/{{ config['other']['deep'] }}"`, 'path', `{{ config['other']['deep'] }}`],
    ['a parameter', `request_parameters: {a: "{{ 1 / 0 }}", b: "x"}`, 'request_parameters', '{{ 1 / 0 }}'],
    ['a body', `http_method: POST, request_body_json: {a: {b: "{{ 1 / 0 }}"}}`, 'request_body_json', '{{ 1 / 0 }}'],
    ['a text that is no template', `path: "/{{ config["`, 'path', '/{{ config['],
    [
      'a credential',
      `authenticator: {type: BearerAuthenticator, api_token: "{{ config['other']['deep'] }}"}`,
      'authenticator.api_token',
      `{{ config['other']['deep'] }}`,
    ],
  ])('is named with its stream, its path and its text: %s', async (_what, requester, option, template) => {
    api.answer(() => row);
    const manifest = manifestWith([asking('first', requester), stream('second')].join('\n'));
    const { failures, records } = await read({
      manifest,
      config,
      streams: { first: 'full_refresh', second: 'full_refresh' },
    });
    expect(records.second).toHaveLength(1);
    expect(Object.keys(failures)).toEqual(['first']);
    const { message = '' } = failures.first ?? {};
    expect(message).toContain(`streams[0].retriever.requester.${option}: `);
    expect(message).toContain(template);
    expect(message).not.toContain('[object');
    expect(await check({ manifest, config })).toContain(`first is not available: ${message}`);
  });
});
