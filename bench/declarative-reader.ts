/*
 * Reads the API of the benchmarks once and writes the messages of the protocol to nowhere: with a declarative manifest, or
 * with a bare loop that fetches, parses and writes the same lines.
 */
import { createWriteStream } from 'node:fs';
import { Agent, request } from 'node:http';
import { declarativeSource } from '../platform/connectors/declarative/source.ts';
import { messageWriter } from '../platform/connectors/kit/messages.ts';
import type { ConfiguredCatalog } from '../platform/src/protocol.ts';
import { answerQuestions } from './child-program.ts';

export interface ReadQuestion {
  by: 'manifest' | 'bare loop';
  port: number;
  /** 0: pages, one after the other. */
  partitions: number;
}

export interface ReadAnswer {
  tookMs: number;
  cpuMs: number;
  records: number;
  peakMegabytes: number;
  states: number;
  largestState: number;
}

const concurrency = 10;

answerQuestions(async ({ by, port, partitions }: ReadQuestion): Promise<ReadAnswer> => {
  const address = `http://127.0.0.1:${port}`;
  const [startedAt, cpu] = [performance.now(), process.cpuUsage()];
  const counts = by === 'manifest' ? await readByManifest(address, partitions) : await readBarely(address, partitions);
  const { user, system } = process.cpuUsage(cpu);
  return {
    tookMs: performance.now() - startedAt,
    cpuMs: (user + system) / 1000,
    peakMegabytes: process.resourceUsage().maxRSS / 1024,
    ...counts,
  };
});

type Counts = Pick<ReadAnswer, 'records' | 'states' | 'largestState'>;

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

async function readByManifest(address: string, partitions: number): Promise<Counts> {
  const counts: Counts = { records: 0, states: 0, largestState: 0 };
  const writer = messageWriter(createWriteStream('/dev/null'));
  const { emitter } = writer;
  const source = declarativeSource(partitions > 0 ? ofPartitions : ofPages);
  const catalog = { streams: [{ stream: { name: 'rows' }, sync_mode: 'incremental' }] } as unknown as ConfiguredCatalog;
  await source.read(
    { address, parts: partNames(partitions) },
    catalog,
    [],
    {
      ...emitter,
      record(stream, data) {
        counts.records++;
        return emitter.record(stream, data);
      },
      state(state) {
        counts.states++;
        counts.largestState = Math.max(counts.largestState, JSON.stringify(state).length);
        return emitter.state(state);
      },
    },
    { workspaceDir: undefined, readableDirs: [], allowPrivateNetworks: true, serviceEndpoints: [] },
  );
  await writer.flush();
  return counts;
}

function partNames(partitions: number): string[] {
  return Array.from({ length: partitions }, (_, index) => `p${index}`);
}

async function readBarely(address: string, partitions: number): Promise<Counts> {
  const agent = new Agent({ keepAlive: true });
  const output = createWriteStream('/dev/null');
  let records = 0;
  const copy = async (url: string, isPage: boolean): Promise<number> => {
    const { rows } = JSON.parse(await fetchText(url, agent)) as { rows: Record<string, unknown>[] };
    let lines = '';
    for (const row of rows) {
      if (isPage) {
        row.city = (row.address as { city: string }).city;
        row.source = 'bench';
      }
      const message = { type: 'RECORD', record: { stream: 'rows', data: row, emitted_at: Date.now() } };
      lines += `${JSON.stringify(message)}\n`;
    }
    records += rows.length;
    if (!output.write(lines)) await new Promise<void>((resolve) => output.once('drain', resolve));
    return rows.length;
  };
  if (partitions === 0) for (let page = 0; (await copy(`${address}/pages?page=${page}`, true)) > 0; page++);
  else {
    const names = partNames(partitions).values();
    const worker = async () => {
      for (const name of names) await copy(`${address}/parts/${name}`, false);
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
  }
  await new Promise<void>((resolve) => output.end(resolve));
  agent.destroy();
  return { records, states: 0, largestState: 0 };
}

function fetchText(url: string, agent: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve(Buffer.concat(chunks).toString()));
    });
    sent.on('error', reject).end();
  });
}
