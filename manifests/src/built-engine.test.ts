/* The built engine behaves like its source. These manifests contain everything that a bundler may change. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { configuredStream, runSourceProgram, temporaryFolder } from '../../connectors/test/run-source.ts';
import { type Api, discover, manifestWith, read, startApi } from '../test/declarative-api.ts';

let api: Api;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

const now = '2024-06-15T12:00:00Z';
const adding = (values: string[]) =>
  `transformations: [{type: AddFields, fields: [${values
    .map((value, index) => `{path: [v${index}], value: ${JSON.stringify(value)}}`)
    .join(', ')}]}]`;
const stream = (name: string, more: string) =>
  `  - {$ref: "#/definitions/stream", name: ${name}, $parameters: {name: ${name}}, ${more}}`;
const asking = (name: string, requester: string, more = '') =>
  stream(
    name,
    `retriever: {$ref: "#/definitions/retriever", requester: {$ref: "#/definitions/requester", ${requester}}${more}}`,
  );

it.each<[string, string, Record<string, unknown>]>([
  [
    'keys in snake case',
    stream('first', 'transformations: [{type: KeysToSnakeCase}]'),
    { strasse: 1, grosse: 2, aeon: 3, oeuvre: 4, lodz: 5, x_y: { in_etat: [1, 2.5, 1e21, null] } },
  ],
  [
    'methods and filters of texts',
    stream(
      'first',
      adding([
        "{{ '²₃¹⁰'.isdigit() }}",
        "{{ 'Ðß'.casefold() }} {{ 'straße'.upper() }} {{ 'ÉTÉ ǆ'.title() }} {{ 'é'.isalpha() }} {{ '\u2003'.isspace() }}",
        "{{ 'Größe: 12 €' | regex_search('Gr[ößü]+e: (\\d+) €') }}",
        "{{ 'aäb' | regex_replace('[ä-ü]', 'ß') }}",
        "{{ 'Straße 😀' | urlencode }} {{ 'Straße' | hash('md5') }} {{ 'Straße 😀' | base64encode }}",
        "{{ record['Straße'] }} {{ ['ä', 'ß'] }} {{ {'ß': '😀'} | string }}",
        "{{ 'x' * 3 }}{{ 7 / 2 }} {{ 10 ** 20 }} {{ '%05.1f' | format(3.14159) }} {{ 1e16 }}",
        "{{ format_datetime('2024-05-03T10:00:00+02:00', '%A %-d %B %Y %j %H:%M:%S%z') }}",
      ]),
    ),
    { v0: true, v2: 12, v3: 'aßb' },
  ],
  [
    'requests',
    asking(
      'first',
      `path: "/Straße/{{ 'ü' | urlencode }}", http_method: POST, request_parameters: {ort: "Łódź 😀"}, request_body_json: {größe: "{{ 'ß' }}"}, request_headers: {x-name: "a"}`,
    ),
    {},
  ],
  [
    'dates',
    stream(
      'first',
      'incremental_sync: {type: DatetimeBasedCursor, cursor_field: day, datetime_format: "%Y-%m-%dT%H:%M:%S.%f%z", cursor_datetime_formats: ["%d %b %Y"], start_datetime: {datetime: "2024-05-01T00:00:00.000000+0200"}, step: P2W, cursor_granularity: PT0.000001S, start_time_option: {type: RequestOption, inject_into: request_parameter, field_name: from}, end_time_option: {type: RequestOption, inject_into: request_parameter, field_name: to}}',
    ),
    {},
  ],
  [
    'rules and errors',
    asking(
      'first',
      `error_handler: {type: DefaultErrorHandler, response_filters: [{type: HttpResponseFilter, predicate: "{{ 'ß' in response['message'] }}", action: FAIL, error_message: "Straße: {{ response['message'] }}"}]}`,
    ),
    {},
  ],
])('%s', async (what, streams, expected) => {
  const manifest = manifestWith(streams);
  const config = { base: api.address };
  const rows = [
    { Straße: 1, Große: 2, Æon: 3, Œuvre: 4, Łódź: 5, day: '3 May 2024', 'x y': { inÉtat: [1, 2.5, 1e21, null] } },
  ];
  api.answer(() => (what === 'rules and errors' ? { status: 400, json: { message: 'heißt so' } } : { json: { rows } }));
  const { streams: found } = await discover({ manifest, config });
  const [wanted] = found.map((one) => configuredStream(one, one.supported_sync_modes.at(-1) ?? 'full_refresh'));
  const { sync_mode = 'full_refresh' } = wanted ?? {};
  const fromSource = await read({ manifest, config, now, streams: { first: sync_mode } });
  const askedBySource = api.taken().map(({ method, url, body }) => `${method} ${url} ${body}`);

  const file = join(temporaryFolder(), 'manifest.yaml');
  writeFileSync(file, manifest);
  const ownOptions = ['--manifest', file, '--now', now, '--waits', '/dev/null'];
  const discovered = await runSourceProgram('declarative', 'discover', { configuration: config, ownOptions });
  expect(discovered.messages.flatMap((one) => (one.type === 'CATALOG' ? one.catalog.streams : []))).toEqual(found);
  api.taken();
  const { messages, rest } = await runSourceProgram('declarative', 'read', {
    configuration: config,
    streams: wanted ? [wanted] : [],
    ownOptions,
  });
  expect(rest).toBe('');
  const records = messages.flatMap((one) => (one.type === 'RECORD' ? [one.record.data] : []));
  const states = messages.flatMap((one) => (one.type === 'STATE' ? [one.state.stream?.stream_state] : []));
  expect(records).toEqual(fromSource.records.first);
  expect(states.at(-1)).toEqual(fromSource.states.first);
  expect(
    api
      .taken()
      .map(({ method, url, body }) => `${method} ${url} ${body}`)
      .sort(),
  ).toEqual(askedBySource.sort());
  const failures = Object.values(fromSource.failures).map(({ message }) => message);
  const told = messages.flatMap((one) => (one.type === 'TRACE' && one.trace.error ? [one.trace.error.message] : []));
  expect(told.filter((message) => failures.includes(message ?? ''))).toEqual(failures);
  if (failures.length === 0) expect(records[0]).toMatchObject(expected);
});
