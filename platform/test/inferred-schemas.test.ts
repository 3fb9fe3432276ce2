/*
 * Sources that infer what their records look like from a first look, whole ways through the runner: what comes after that
 * look arrives as well, and every number in every digit.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson, stringifyJson } from '@inlay/protocol/json';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHttpServer } from '../../guard/test/http-server.ts';
import { isLongRun } from '../../scripts/long-run.ts';
import type { ConfiguredConnector } from '../src/runner/runner.ts';
import { bundled, configured, sync, temporaryFolder, testRunner } from './connectors.ts';
import { type DataStores, type Store, startDataStores } from './data-stores.ts';
import { hasArrived } from './torture/comparing.ts';

let stores: DataStores;
beforeAll(async () => {
  stores = await startDataStores();
});
afterAll(() => stores.stop());

/** Values as JSON text, by field. */
type Fields = Record<string, string>;

const jsonText = (fields: Fields) =>
  `{${Object.entries(fields)
    .map(([name, text]) => `${JSON.stringify(name)}:${text}`)
    .join()}}`;

async function httpApi(records: Fields[]): Promise<ConfiguredConnector> {
  const pageSize = 100;
  const { origin } = await startHttpServer(({ query: { page } }, reply) => {
    const from = (Number(page) - 1) * pageSize;
    const list = records.slice(from, from + pageSize).map(jsonText);
    reply.setHeader('content-type', 'application/json');
    reply.end(`{"list":[${list}],"has_more":${from + pageSize < records.length}}`);
  });
  const stream = { name: 'things', path: '/things', record_path: 'list', pagination: { type: 'page' } };
  return bundled('source', 'http-api', { base_url: origin, authentication: { type: 'none' }, streams: [stream] });
}

function file(format: object, content: string): ConfiguredConnector {
  const path = join(temporaryFolder(), 'things');
  writeFileSync(path, content);
  const location = { type: 'path', path };
  const connector = bundled('source', 'file', { stream_name: 'things', location, format });
  return { ...connector, env: { ...connector.env, INLAY_READABLE_DIRS: join(path, '..') } };
}

function csvText(records: Fields[]): string {
  const names = Object.keys(Object.assign({}, ...records));
  const cell = (text = '') => {
    const value = text.startsWith('"') ? String(JSON.parse(text)) : text;
    return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
  };
  return [names, ...records.map((fields) => names.map((name) => cell(fields[name])))]
    .map((row) => row.join())
    .join('\n');
}

const sources: Record<string, (records: Fields[]) => ConfiguredConnector | Promise<ConfiguredConnector>> = {
  'http-api': httpApi,
  'file (JSON Lines)': (records) => file({ type: 'jsonl' }, records.map(jsonText).join('\n')),
  'file (JSON)': (records) => file({ type: 'json' }, `[${records.map(jsonText)}]`),
  'file (CSV)': (records) => file({ type: 'csv' }, csvText(records)),
};
const destinations: Record<string, () => Promise<Store>> = {
  'local-files': () => stores.openLocalFiles(),
  s3: () => stores.openBucket(),
  postgres: () => stores.openDatabase(),
};
/** In a short run, a third of the combinations for each of the two tests. */
const waysFor = (turn: 0 | 1) =>
  Object.keys(sources).flatMap((from, row) =>
    Object.keys(destinations)
      .filter((_, column) => isLongRun || (row + column) % 3 === turn)
      .map((to) => [from, to] as const),
  );

/** A database may store a number within a document only as text with the same digits. */
const withoutQuotes = (text: string) => text.replace(/"(-?\d[\d.eE+-]*)"/g, '$1');

/** Syncs the records, each with its own `id`, and returns those that changed on the way. */
async function run(from: string, to: string, records: Fields[]) {
  const [source, store] = await Promise.all([sources[from]?.(records), destinations[to]?.()]);
  if (!source || !store) throw new Error('There is no such source or destination.');
  const runner = testRunner();
  const [stream] = (await runner.discover(source)).streams;
  if (!stream) throw new Error('The source has no stream.');
  const streams = [configured('things', { stream, sync_mode: 'full_refresh', destination_sync_mode: 'overwrite' })];
  const outcome = await sync(runner, { source, destination: store.connector, streams });
  expect(outcome).toMatchObject({ status: 'succeeded' });
  const texts = await store.texts('things');
  expect(texts).toHaveLength(records.length);
  const rows = new Map(
    texts.map((text) => parseJson(text) as Record<string, unknown>).map((row) => [Number(row.id), row]),
  );
  const different = records.flatMap((fields) =>
    Object.entries(fields).flatMap(([name, sent]) => {
      const value = rows.get(Number(fields.id))?.[name];
      const found = value === undefined ? undefined : stringifyJson(value);
      return hasArrived(sent, found) || hasArrived(sent, found && withoutQuotes(found))
        ? []
        : [{ id: fields.id, name, sent, found }];
    }),
  );
  return { outcome, different };
}

describe('values that come after the first look', () => {
  test.each(waysFor(0))('arrive from %s at %s, of other types and in other fields', async (from, to) => {
    const first = Array.from({ length: 2100 }, (_, id) => ({ id: `${id}`, n: `${id}`, price: '1.5', ok: 'true' }));
    const odd = ['"abc"', '"007"', '123456789012345678901234567890', '1.50', '"12 apples"', 'null'];
    const later = odd.map((value, index) => ({
      id: `${first.length + index}`,
      n: value,
      price: value,
      ok: value,
      later: value,
      'Later too': `"${index} times"`,
    }));
    const { outcome, different } = await run(from, to, [...first, ...later]);
    expect(different).toEqual([]);
    expect(outcome.streams).toMatchObject([{ recordsEmitted: 2106, recordsWritten: 2106, valuesChanged: [] }]);
  });
});

describe('numbers of up to 60 digits with any exponent', () => {
  const digits = fc.stringMatching(/^(0|[1-9]\d{0,29})$/);
  const exponent = fc.oneof(fc.constant(''), fc.stringMatching(/^[eE][+-]?\d{1,5}$/));
  const number = fc
    .tuple(fc.constantFrom('', '-'), digits, fc.oneof(fc.constant(''), fc.stringMatching(/^\.\d{1,30}$/)), exponent)
    .map((parts) => parts.join(''));
  const edges = ['9007199254740993', '-9223372036854775809', '1e400', '-0', '0.1000000000000000055511151231257827'];

  test.each(waysFor(1))('arrive from %s at %s, or are counted', async (from, to) => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const values = [...edges, ...fc.sample(number, { numRuns: 300, seed })];
    const records = values.map((value, id) => ({ id: `${id}`, number: value, deep: `{"a":[${value}]}` }));
    const sent = from === 'file (CSV)' ? records.map(({ id, number }) => ({ id, number })) : records;
    const { outcome, different } = await run(from, to, sent);
    const changes = outcome.streams.flatMap(({ valuesChanged }) => valuesChanged);
    const counted = changes.reduce((sum, { count }) => sum + count, 0);
    expect(different.slice(counted), `seed ${seed}`).toEqual([]);
    // Only databases have numbers that they cannot store.
    if (to !== 'postgres') expect(changes).toEqual([]);
  });
});
