import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { booksManifest, codedStream } from '../../test/books-manifest.ts';
import { read, startApi } from '../../test/declarative-api.ts';
import { describeManifest } from './describe.ts';
import { useClasses } from './own-classes.ts';

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
  expect(errorsOf(manifest)).toContain('streams[1].schema_loader: CustomSchemaLoader "c.Schema" needs code');

  const folder = mkdtempSync(join(tmpdir(), 'inlay-classes-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'classes.mjs'), classes);
  await useClasses(join(folder, 'classes.mjs'));
  expect(errorsOf(manifest)).toEqual([]);
  expect(errorsOf(manifest.replace('c.Shout', 'c.Nothing'))).toEqual([
    'streams[1].transformations[0]: The class Nothing has no method transform',
  ]);
  expect(errorsOf(manifest.replace('c.Shout', 'c.Unknown'))).toEqual([
    'streams[1].transformations[0]: CustomTransformation "c.Unknown" needs code',
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
