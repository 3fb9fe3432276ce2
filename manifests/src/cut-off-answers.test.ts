/* An answer of status 200 that ends in the middle, though the connection has not: no record may be missing without a word. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, manifestWith, read, startApi } from '../test/declarative-api.ts';

let api: Api;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

const stream = (decoder: string, path: string) =>
  `  - {$ref: "#/definitions/stream", name: rows, $parameters: {name: rows}, retriever: {$ref: "#/definitions/retriever", requester: {$ref: "#/definitions/requester"}, decoder: {type: ${decoder}}, record_selector: {type: RecordSelector, extractor: {type: DpathExtractor, field_path: ${path}}}}}`;

describe.each([
  ['JsonDecoder', '[rows]', '{"rows":[{"id":1},{"id":2}]}'],
  ['JsonlDecoder', '[]', '{"id":1}\n{"id":2}\n'],
  ['XmlDecoder', '[rows, row]', '<rows><row><id>1</id></row><row><id>2</id></row></rows>'],
])('%s', (decoder, path, whole) => {
  const readAll = () =>
    read({
      manifest: manifestWith(stream(decoder, path)),
      config: { base: api.address },
      streams: { rows: 'full_refresh' },
    });

  it('fails or asks again wherever the answer is cut', async () => {
    api.answer(() => ({ text: whole }));
    const complete = await readAll();
    expect(complete.records.rows).toHaveLength(2);
    for (const cut of [2, 8, Math.floor(whole.length / 2), whole.length - 3]) {
      // Between two lines of JSON Lines, nothing shows that more were to come.
      if (decoder === 'JsonlDecoder' && '}\n'.includes(whole[cut - 1] ?? '')) continue;
      api.answer((_, count) => ({ text: count === 0 ? whole.slice(0, cut) : whole }));
      const { records, failures } = await readAll();
      if (Object.keys(failures).length === 0) expect(records.rows).toEqual(complete.records.rows);
      else expect(JSON.stringify(failures)).toMatch(/incomplete|not valid/);
      if (decoder === 'JsonDecoder') expect(failures).toEqual({});
    }
  });

  it('fails where the answer is always cut', async () => {
    api.answer(() => ({ text: whole.slice(0, -3) }));
    const { failures } = await readAll();
    expect(Object.keys(failures)).toEqual(['rows']);
  });
});
