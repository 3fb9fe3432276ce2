import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { booksManifest, codedStream } from '../test/books-manifest.ts';
import { check, manifestWith, read, startApi } from '../test/declarative-api.ts';
import { describeManifest } from './describe.ts';
import { readManifest } from './manifest/read-manifest.ts';
import { useClasses } from './own-classes.ts';

// Later test files run in this process.
afterEach(() => useClasses({}));

const classes = `
export class Auth {
  constructor({ config, options }) { this.value = config.token + ' ' + options.flavour; }
  async headers() { return { 'X-Own': this.value }; }
}
export class Extractor {
  extract(body) { return body.pages.flatMap((page) => page.loans); }
}
export class Filter {
  keeps(record) { return record.id !== 2; }
}
export class Shout {
  transform(record) { record.title = record.title.toUpperCase(); }
}
export class Pages {
  initialToken = undefined;
  next({ response, token }) { return response.more ? (token ?? 1) + 1 : undefined; }
}
export class Schema {
  async schema() { return { type: 'object', properties: { id: { type: 'integer' } } }; }
}
export class Rows {
  async *decode(bytes) { for (const line of String(bytes).split('\\n')) if (line) yield { line }; }
}
export class Sender {
  constructor({ config }) { this.base = config.base; }
  send({ slice, query }, fetch) {
    return fetch({ method: 'POST', url: this.base + '/own/' + slice.shelf, headers: { 'X-Q': query.q }, body: 'hello' });
  }
}
export class Patient {
  maxRetries = 1;
  interpret({ status, body }) {
    if (status === 418) return 'RETRY';
    return String(body).includes('gone') ? { action: 'FAIL', message: 'It is gone.', failureType: 'config_error' } : undefined;
  }
}
export class Shelves {
  async *partitions([parents]) { for await (const { id } of parents) if (id > 1) yield { shelf: 's' + id }; }
}
export class Reader {
  constructor({ config }) { this.base = config.base; }
  async read(slice, fetch) {
    const { body } = await fetch({ url: this.base + '/plain' });
    return JSON.parse(String(body)).map((id) => ({ id, title: 'from code' }));
  }
}
export class Caster {
  transform(record, schema) { record.types = Object.keys(schema.properties).join(); }
}
export class Positive {
  validate(value) { if (!(value > 0)) throw new Error('The number must be above zero.'); }
}
export class Nothing {}
`;

/** A stream with a class of every kind that a stream can have. */
const loans = codedStream('loans')
  .replace(
    'class_name: source_books.components.Auth',
    'class_name: source_books.components.Auth\n          flavour: sweet',
  )
  .replace(
    'extractor: { type: DpathExtractor, field_path: [] }',
    `extractor: { type: CustomRecordExtractor, class_name: c.Extractor }
        record_filter: { type: CustomRecordFilter, class_name: c.Filter }
      paginator:
        type: DefaultPaginator
        page_token_option: { type: RequestOption, inject_into: request_parameter, field_name: page }
        pagination_strategy: { type: CustomPaginationStrategy, class_name: c.Pages }
    transformations:
      - { type: CustomTransformation, class_name: c.Shout }`,
  )
  .replace(/schema_loader:\n.*\n.*\n/, 'schema_loader: { type: CustomSchemaLoader, class_name: c.Schema }\n');

test('classes that an operator brings run in place of custom components, and what they lack is named', async () => {
  const api = await startApi();
  onTestFinished(() => api.close());
  const manifest = booksManifest({ url: api.address, more: loans });
  const errorsOf = (text: string) =>
    describeManifest(text).streams.flatMap(({ errors }) => errors.map(({ path, message }) => `${path}: ${message}`));
  expect(errorsOf(manifest)).toContain('streams[1].schema_loader: CustomSchemaLoader "c.Schema" requires code');

  const folder = mkdtempSync(join(tmpdir(), 'inlay-classes-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'classes.mjs'), classes);
  useClasses(await import(pathToFileURL(join(folder, 'classes.mjs')).href));
  expect(errorsOf(manifest)).toEqual([]);
  expect(errorsOf(manifest.replace('c.Shout', 'c.Nothing'))).toEqual([
    'streams[1].transformations[0]: The class Nothing has no method transform',
  ]);
  expect(errorsOf(manifest.replace('c.Shout', 'c.Unknown'))).toEqual([
    'streams[1].transformations[0]: CustomTransformation "c.Unknown" requires code',
  ]);

  api.answer(({ query, headers }) => {
    expect(headers['x-own']).toBe('t sweet');
    const page = Number(query.page ?? 1);
    const record = (id: number) => ({ id, title: `loan ${id}` });
    return { json: { pages: [{ loans: [record(page), record(page + 10)] }], more: page < 3 } };
  });
  const { records } = await read({ manifest, config: { token: 't' }, streams: { loans: 'full_refresh' } });
  expect(records.loans).toEqual([1, 11, 12, 3, 13].map((id) => ({ id, title: `LOAN ${id}` })));
});

test('classes read, send, decode, cut, judge, cast and check where the manifest asks for code', async () => {
  const api = await startApi();
  onTestFinished(() => api.close());
  const folder = mkdtempSync(join(tmpdir(), 'inlay-classes-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'classes.mjs'), classes);
  useClasses(await import(pathToFileURL(join(folder, 'classes.mjs')).href));
  const own = (kind: string, name: string, more = '') => `{type: Custom${kind}, class_name: c.${name}${more}}`;
  const stream = (name: string, retriever: string, more = '') =>
    `  - {$ref: "#/definitions/stream", name: ${name}, $parameters: {name: ${name}}, retriever: ${retriever}${more}}`;
  const simple = (more: string) => `{$ref: "#/definitions/retriever"${more}}`;
  const shelves = '{$ref: "#/definitions/stream", name: shelves, $parameters: {name: shelves}}';
  const manifest = manifestWith(
    [
      stream(
        'sent',
        simple(
          `, requester: ${own('Requester', 'Sender', `, error_handler: ${own('ErrorHandler', 'Patient')}`)}, decoder: ${own('Decoder', 'Rows')}, record_selector: {type: RecordSelector, extractor: {type: DpathExtractor, field_path: []}, schema_normalization: ${own('SchemaNormalization', 'Caster')}}, partition_router: ${own('PartitionRouter', 'Shelves', `, parent_stream_configs: [{type: ParentStreamConfig, stream: ${shelves}, parent_key: id, partition_field: x}]`)}, paginator: {type: DefaultPaginator, page_size_option: {type: RequestOption, inject_into: request_parameter, field_name: q}, pagination_strategy: {type: OffsetIncrement, page_size: 9}}`,
        ),
      ),
      stream('coded', own('Retriever', 'Reader'), `, transformations: [${own('Transformation', 'Shout')}]`),
      stream(
        'gone',
        simple(`, requester: {$ref: "#/definitions/requester", error_handler: ${own('ErrorHandler', 'Patient')}}`),
      ),
    ].join('\n'),
  ).replace(
    'documentation_url: https://docs.example',
    `config_normalization_rules: {type: ConfigNormalizationRules, validations: [{type: DpathValidator, field_path: [n], validation_strategy: ${own('ValidationStrategy', 'Positive')}}]}`,
  );
  expect(describeManifest(manifest).streams.flatMap(({ errors }) => errors)).toEqual([]);
  api.answer(({ path }, count) => {
    if (path === '/shelves') return { json: { rows: [{ id: 1 }, { id: 2 }, { id: 3 }] } };
    if (path === '/plain') return { json: [7] };
    if (path === '/gone') return { status: 500, text: 'gone' };
    return count === 0 ? { status: 418 } : { text: `one ${path}\ntwo\n` };
  });
  const config = { base: api.address, n: 1 };
  const streams = { sent: 'full_refresh', coded: 'full_refresh', gone: 'full_refresh' } as const;
  const { records, failures, waits } = await read({ manifest, config, streams });
  expect(records.sent?.map(({ line, types }) => [line, types]).sort()).toEqual([
    ['one /own/s2', 'id'],
    ['one /own/s3', 'id'],
    ['two', 'id'],
    ['two', 'id'],
  ]);
  const sent = api.asked().filter(({ path }) => path.startsWith('/own'));
  expect(sent.map(({ method, body, headers }) => [method, body, headers['x-q']])).toEqual(
    Array.from({ length: 4 }, () => ['POST', 'hello', '9']),
  );
  expect(waits).toEqual([1, 1]);
  expect(records.coded).toEqual([{ id: 7, title: 'FROM CODE' }]);
  expect(failures).toMatchObject({ gone: { message: 'It is gone.', failureType: 'config_error' } });
  expect(await check({ manifest, config: { ...config, n: 0 } })).toBe('The number must be above zero.');
});

test('a state migration without its class is a warning, whatever other classes there are', () => {
  const migration = 'state_migrations: [{type: CustomStateMigration, class_name: c.Missing}]';
  const manifest = manifestWith(
    `  - {$ref: "#/definitions/stream", name: moved, $parameters: {name: moved}, ${migration}}`,
  );
  const warning = { level: 'warning', path: 'streams[0].state_migrations[0]' };
  expect(readManifest(manifest).problems).toMatchObject([warning]);
  useClasses({ Other: class {} });
  expect(readManifest(manifest).problems).toMatchObject([warning]);
  useClasses({ Missing: class {} });
  expect(readManifest(manifest).problems).toMatchObject([{ ...warning, level: 'error' }]);
});
