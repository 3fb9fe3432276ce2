/* The engine as a library, on the example manifest and its API. */
import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { startBooksApi, token } from '../../examples/books/api.mjs';
import {
  type ConfiguredCatalog,
  ConnectorError,
  check,
  describe,
  discover,
  ManifestError,
  read,
  type SourceMessage,
  spec,
} from './inlay-manifests.ts';

const example = (name: string) => readFileSync(new URL(`../../examples/books/${name}`, import.meta.url), 'utf8');
const manifest = example('books.yaml');
const catalog = JSON.parse(example('catalog.json')) as ConfiguredCatalog;
const here = { allowPrivateNetworks: true };

async function startApi() {
  const api = await startBooksApi({ port: 0 });
  onTestFinished(() => void api.close());
  return { url: api.url, token };
}

async function readAll(config: Record<string, unknown>, options: Parameters<typeof read>[3] = {}) {
  const messages: SourceMessage[] = [];
  for await (const message of read(manifest, config, catalog, { ...here, ...options })) messages.push(message);
  return messages;
}

test('a manifest reports what it asks for and what it has without being run', () => {
  expect(spec(manifest).connectionSpecification.properties).toHaveProperty('token');
  expect(describe(manifest).streams.map(({ name }) => name)).toEqual(['books', 'authors']);
  expect(() => spec('streams: [')).toThrow(ManifestError);
});

test('a check resolves, or throws what to fix', async () => {
  const config = await startApi();
  await check(manifest, config, here);
  await expect(check(manifest, { ...config, token: 'wrong' }, here)).rejects.toThrow(ConnectorError);
  await expect(check(manifest, config)).rejects.toThrow('public internet');
  expect((await discover(manifest, config, here)).streams).toHaveLength(2);
});

test('reading yields every record and a state to continue from', async () => {
  const config = await startApi();
  const messages = await readAll(config);
  const records = messages.filter((message) => message.type === 'RECORD');
  expect(records.filter(({ record }) => record.stream === 'books')).toHaveLength(25);
  expect(records.filter(({ record }) => record.stream === 'authors')).toHaveLength(3);
  const states = messages.filter((message) => message.type === 'STATE');
  const last = states.findLast(({ state }) => state.stream?.stream_descriptor.name === 'books');
  if (!last) throw new Error('There is no state.');
  const again = await readAll(config, { state: [last.state] });
  expect(again.filter((message) => message.type === 'RECORD' && message.record.stream === 'books').length).toBeLessThan(
    25,
  );
});

test('a failure comes after everything that was read before it', async () => {
  const config = await startApi();
  const messages: SourceMessage[] = [];
  const reading = async () => {
    for await (const message of read(manifest, { ...config, token: 'wrong' }, catalog, here)) messages.push(message);
  };
  await expect(reading()).rejects.toThrow(ConnectorError);
  expect(messages.filter(({ type }) => type === 'FAILURE')).not.toEqual([]);
});

test('leaving the loop ends the reading', async () => {
  const config = await startApi();
  for await (const message of read(manifest, config, catalog, here)) {
    if (message.type === 'RECORD') break;
  }
});
