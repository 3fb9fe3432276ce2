/** The manifest of docs/guides/manifests.md, with the commands of that page. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { startTestApp } from '../../server/test/support/app.ts';
import { runCommand } from '../../server/test/support/command-line.ts';
import { runCli } from '../../server/test/support/service.ts';
import { startBooksApi } from './api.mjs';

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const manifest = fileOf('books.yaml');

let url: string;
beforeAll(async () => {
  const api = await startBooksApi({ port: 0 });
  ({ url } = api);
  return api.close;
});

function configFile(changes: object = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-books-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const given = JSON.parse(readFileSync(fileOf('config.json'), 'utf8'));
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...given, url, ...changes }));
  return join(folder, 'config.json');
}
const run = async (command: string, ...args: string[]) => {
  const { code, stdout, stderr } = await runCli(['connector', 'run', manifest, command, ...args]);
  expect([code, stderr], command).toEqual([0, '']);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
};

it('connector check finds that every stream runs', async () => {
  const { code, stdout } = await runCommand(['connector', 'check', manifest]);
  expect([code, stdout]).toEqual([0, expect.stringContaining('All 2 streams are supported.')]);
});

it('connector run checks the API, discovers the streams and reads all records', async () => {
  const status = (messages: { connectionStatus?: { status: string } }[]) =>
    messages.find(({ connectionStatus }) => connectionStatus)?.connectionStatus?.status;
  expect(status(await run('check', '--config', configFile()))).toBe('SUCCEEDED');
  expect(status(await run('check', '--config', configFile({ token: 'wrong' })))).toBe('FAILED');
  const found = await run('discover', '--config', configFile());
  expect(found.find(({ catalog }) => catalog)?.catalog.streams.map(({ name }: { name: string }) => name)).toEqual([
    'books',
    'authors',
  ]);
  const read = await run('read', '--config', configFile(), '--catalog', fileOf('catalog.json'));
  const records = read.filter(({ type }) => type === 'RECORD').map(({ record }) => record);
  const idsOf = (stream: string) =>
    records.filter((record) => record.stream === stream).map(({ data }) => data.id as number);
  expect(idsOf('books')).toEqual(Array.from({ length: 25 }, (_, index) => index + 1));
  expect(idsOf('authors')).toEqual([1, 2, 3]);
});

it('the API takes it as it is, and leaves no stream out', async () => {
  const test = await startTestApp('sqlite');
  onTestFinished(() => test.stop());
  const { status, body } = await test.request('POST', '/api/v1/integrations/definitions/sources?name=Books', {
    payload: readFileSync(manifest),
    headers: { 'content-type': 'application/yaml' },
  });
  expect([
    status,
    body.manifest?.streams.map(({ name, is_left_out }: Record<string, unknown>) => [name, is_left_out]),
  ]).toEqual([
    201,
    [
      ['books', false],
      ['authors', false],
    ],
  ]);
});
