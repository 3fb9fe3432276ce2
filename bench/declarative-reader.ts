/*
 * Reads the API of the benchmarks once and writes the messages of the protocol to nowhere: with a declarative manifest, or
 * with a bare loop that fetches, parses and writes the same lines.
 */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { Agent } from 'node:http';
import { declarativeSource } from '@inlay/manifests/source';
import { messageWriter } from '@inlay/protocol/messages';
import type { ConfiguredCatalog } from '@inlay/protocol/protocol';
import { answerQuestions } from './child-program.ts';
import { fetchText } from './fetch-text.ts';
import { unguarded } from './unguarded.ts';

export interface ReadQuestion {
  by: 'manifest' | 'bare loop';
  port: number;
  /** 0: pages, one after the other. */
  partitions: number;
}

export interface ReadAnswer extends Counts {
  tookMs: number;
  cpuMs: number;
  peakMegabytes: number;
}

interface Counts {
  /** Number of records. */
  count: number;
  states: number;
  largestState: number;
}

const concurrency = 10;

answerQuestions(async ({ by, port, partitions }: ReadQuestion): Promise<ReadAnswer> => {
  const address = `http://127.0.0.1:${port}`;
  const parts = Array.from({ length: partitions }, (_, index) => `p${index}`);
  const [startedAt, cpu] = [performance.now(), process.cpuUsage()];
  const counts = by === 'manifest' ? await readByManifest(address, parts) : await readBarely(address, parts);
  const { user, system } = process.cpuUsage(cpu);
  const [tookMs, cpuMs] = [performance.now() - startedAt, (user + system) / 1000];
  return { tookMs, cpuMs, peakMegabytes: process.resourceUsage().maxRSS / 1024, ...counts };
});

const manifest = (stream: string) => `
version: 6.0.0
type: DeclarativeSource
check: {type: CheckStream, stream_names: [rows]}
concurrency_level: {type: ConcurrencyLevel, default_concurrency: ${concurrency}}
spec: {type: Spec, connection_specification: {type: object, properties: {}}}
streams:
  - type: DeclarativeStream
    name: rows
    schema_loader: {type: InlineSchemaLoader, schema: {type: object, properties: {}}}
${stream}`;

const ofPages = manifest(`
    retriever:
      type: SimpleRetriever
      requester: {type: HttpRequester, url_base: "{{ config['address'] }}", path: pages}
      record_selector: {type: RecordSelector, extractor: {type: DpathExtractor, field_path: [rows]}}
      paginator: {type: DefaultPaginator, page_token_option: {type: RequestOption, inject_into: request_parameter, field_name: page}, pagination_strategy: {type: PageIncrement, page_size: 500}}
    transformations:
      - {type: AddFields, fields: [{type: AddedFieldDefinition, path: [city], value: "{{ record['address']['city'] }}"}, {type: AddedFieldDefinition, path: [source], value: bench}]}
`);
const ofPartitions = manifest(`
    retriever:
      type: SimpleRetriever
      requester: {type: HttpRequester, url_base: "{{ config['address'] }}", path: "parts/{{ stream_partition['part'] }}"}
      record_selector: {type: RecordSelector, extractor: {type: DpathExtractor, field_path: [rows]}}
      partition_router: {type: ListPartitionRouter, cursor_field: part, values: "{{ config['parts'] }}"}
    incremental_sync: {type: DatetimeBasedCursor, cursor_field: day, datetime_format: "%Y-%m-%d", start_datetime: "2024-06-01", end_datetime: "2024-06-10"}
`);

async function readByManifest(address: string, parts: string[]): Promise<Counts> {
  const counts = { count: 0, states: 0, largestState: 0 };
  const writer = messageWriter(createWriteStream('/dev/null'));
  const { emitter } = writer;
  const source = declarativeSource(parts.length > 0 ? ofPartitions : ofPages);
  const catalog = { streams: [{ stream: { name: 'rows' }, sync_mode: 'incremental' }] } as unknown as ConfiguredCatalog;
  const counting: typeof emitter = {
    ...emitter,
    record(stream, data) {
      counts.count++;
      return emitter.record(stream, data);
    },
    state(state) {
      counts.states++;
      counts.largestState = Math.max(counts.largestState, JSON.stringify(state).length);
      return emitter.state(state);
    },
  };
  await source.read({ address, parts }, catalog, [], counting, unguarded);
  await writer.flush();
  return counts;
}

async function readBarely(address: string, parts: string[]): Promise<Counts> {
  const agent = new Agent({ keepAlive: true });
  const output = createWriteStream('/dev/null');
  let count = 0;
  const copy = async (path: string, isPage: boolean): Promise<number> => {
    const { rows } = JSON.parse(await fetchText(`${address}/${path}`, agent)) as { rows: Record<string, unknown>[] };
    let lines = '';
    for (const row of rows) {
      if (isPage) {
        row.city = (row.address as { city: string }).city;
        row.source = 'bench';
      }
      const message = { type: 'RECORD', record: { stream: 'rows', data: row, emitted_at: Date.now() } };
      lines += `${JSON.stringify(message)}\n`;
    }
    count += rows.length;
    if (!output.write(lines)) await once(output, 'drain');
    return rows.length;
  };
  if (parts.length === 0) for (let page = 0; (await copy(`pages?page=${page}`, true)) > 0; page++);
  const left = parts.values();
  const worker = async () => {
    for (const part of left) await copy(`parts/${part}`, false);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  await once(output.end(), 'finish');
  agent.destroy();
  return { count, states: 0, largestState: 0 };
}
