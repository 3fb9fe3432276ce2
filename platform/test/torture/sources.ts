/* Every kind of source, holding hard records, for the matrix. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Stream } from '@inlay/protocol/protocol';
import pg from 'pg';
import { createDatabase } from '../../../connectors/test/postgres.ts';
import { startHttpServer } from '../../../guard/test/http-server.ts';
import type { ConfiguredConnector } from '../../src/runner/runner.ts';
import { bundled, temporaryFolder } from '../connectors.ts';
import {
  type HardField,
  type HardRecord,
  hardFields,
  hardRecords,
  pick,
  type Random,
  recordText,
  schemaOf,
  someFields,
} from './values.ts';

export interface FilledSource {
  connector: ConfiguredConnector;
  records: HardRecord[];
  /** Undefined: ask the connector. */
  stream: Stream | undefined;
}

export type OpenSource = (random: Random, count: number) => Promise<FilledSource>;

const lineSource = fileURLToPath(new URL('line-source.mjs', import.meta.url));

/** A third-party program that declares a schema and does not keep to it. */
const program: OpenSource = async (random, count) => {
  const fields = someFields(random);
  const records = hardRecords(random, fields, count);
  const blank = pick(random, ['', ' ']);
  const lines = records.map(
    (record, index) =>
      `{"type":${blank}"RECORD",${blank}"record":${blank}{"stream":${blank}"things",${blank}"emitted_at":${blank}${1_700_000_000_000 + index},${blank}"data":${blank}${recordText(record, blank)}}}`,
  );
  const state = { type: 'STREAM', stream: { stream_descriptor: { name: 'things' }, stream_state: { at: count } } };
  lines.push(JSON.stringify({ type: 'STATE', state }));
  const file = join(temporaryFolder(), 'lines');
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
  return {
    connector: {
      kind: 'source',
      program: process.execPath,
      args: [lineSource],
      env: {},
      configuration: { file },
      secrets: [],
    },
    records,
    stream: { name: 'things', json_schema: schemaOf(fields), supported_sync_modes: ['full_refresh', 'incremental'] },
  };
};

/** Serves a text, which must not go through JSON.stringify. */
async function serve(text: string, type = 'application/json'): Promise<string> {
  const { origin } = await startHttpServer((_asked, reply) => {
    reply.setHeader('content-type', type).end(text);
  });
  return origin;
}

const file =
  (format: object, write: (records: HardRecord[]) => string, among: readonly HardField[] = hardFields): OpenSource =>
  async (random, count) => {
    const records = hardRecords(random, someFields(random, among), count);
    const origin = await serve(write(records), 'text/plain');
    const location = { type: 'url', url: `${origin}/things` };
    return {
      connector: bundled('source', 'file', { stream_name: 'things', location, format, primary_key: ['id'] }),
      records,
      stream: undefined,
    };
  };

const httpApi: OpenSource = async (random, count) => {
  const records = hardRecords(random, someFields(random), count);
  const origin = await serve(`{"data": [${records.map((record) => recordText(record)).join(',')}]}`);
  const streams = [{ name: 'things', path: '/things', record_path: 'data', primary_key: ['id'] }];
  return {
    connector: bundled('source', 'http-api', { base_url: origin, authentication: { type: 'none' }, streams }),
    records,
    stream: undefined,
  };
};

/** CSV has only text; an empty cell is a missing value. */
const cells = hardFields.filter(({ name }) => ['text', 'whole', 'decimal', 'yes', 'When'].includes(name));

function csvText(records: HardRecord[]): string {
  const names = [...(records[0]?.fields.keys() ?? [])];
  const cell = (text: string) => {
    const value: unknown = text.startsWith('"') ? JSON.parse(text) : text === 'null' ? '' : text;
    return `"${String(value).replaceAll('"', '""')}"`;
  };
  return [names.join(), ...records.map(({ fields }) => names.map((name) => cell(fields.get(name) ?? '')).join())].join(
    '\r\n',
  );
}

const csvFile: OpenSource = async (random, count) => {
  const filled = await file({ type: 'csv' }, csvText, cells)(random, count);
  // What was sent is what stands in the cells.
  for (const { fields } of filled.records) {
    for (const [name, text] of fields) if (text === '""') fields.set(name, 'null');
  }
  return filled;
};

const columnTypes: Record<string, string> = {
  whole: 'numeric',
  big: 'numeric',
  decimal: 'numeric',
  yes: 'boolean',
  text: 'text',
  When: 'timestamptz',
  tree: 'jsonb',
  list: 'json',
};

const postgres: OpenSource = async (random, count) => {
  const fields = someFields(
    random,
    hardFields.filter(({ name }) => columnTypes[name]),
  );
  const records = hardRecords(random, fields, count);
  const { config, query } = await createDatabase();
  const columns = fields.map(({ name }) => `${pg.escapeIdentifier(name)} ${columnTypes[name]}`);
  await query(`create table things (id bigint primary key, ${columns.join(', ')})`);
  const names = ['id', ...fields.map(({ name }) => name)];
  const places = names.map((name, index) => `$${index + 1}::text::${columnTypes[name] ?? 'bigint'}`);
  for (const record of records) {
    const texts = names.map((name) => plain(record.fields.get(name) ?? 'null', columnTypes[name] ?? ''));
    await query(`insert into things values (${places.join(', ')})`, texts);
  }
  const stored = records.map(({ id, fields }) => ({
    id,
    fields: new Map([...fields].map(([name, text]) => [name, asStored(text, columnTypes[name] ?? '')])),
  }));
  return { connector: bundled('source', 'source-postgres', config), records: stored, stream: undefined };
};

/** These types do not have a negative zero, so that none leaves the source. */
function asStored(text: string, type: string): string {
  if (!/^(numeric|bigint|jsonb)/.test(type)) return text;
  return text.replace(/-(0(?:\.0*)?(?:[eE][+-]?\d+)?)(?=[,\]}\s]|$)/g, '$1');
}

function plain(text: string, type: string): string | null {
  if (text === 'null') return null;
  return text.startsWith('"') && !type.startsWith('json') ? (JSON.parse(text) as string) : text;
}

export const sources: Record<string, OpenSource> = {
  program,
  'file: JSON Lines': file({ type: 'jsonl' }, (records) => records.map((record) => recordText(record)).join('\n')),
  'file: JSON': file({ type: 'json' }, (records) => `[${records.map((record) => recordText(record, ' ')).join()}]`),
  'file: CSV': csvFile,
  'http-api': httpApi,
  postgres,
};
