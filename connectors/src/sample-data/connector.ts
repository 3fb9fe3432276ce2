/*
 * The source `sample-data`: generated users, products and purchases, see made-up-records.ts. An incremental read
 * continues after the last record of the state, so it returns something new only if the count has grown.
 */

import type { JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import { type Configuration, ConnectorError, type Emitter, type SourceConnector } from '@inlay/protocol/connector';
import type { State } from '@inlay/protocol/protocol';
import { rowFormat } from '@inlay/protocol/row-blocks';
import { TextBuffer } from '@inlay/protocol/text-buffer';
import { columnValue } from '../postgres/column-values.ts';
import type { MeasuredColumn } from '../postgres/row-measure.ts';
import { RowSender } from '../postgres/row-sender.ts';
import { type SampleStream, sampleStreams, updatedAt } from './made-up-records.ts';
import { specification } from './specification.ts';

interface Settings {
  count: number;
  seed: number;
  recordsPerSecond: number | undefined;
}

/** How far a stream was read. Another seed makes other records: then it is read from the start. */
interface Position {
  seed: number;
  id: number;
  updated_at: string;
}

const recordsPerState = 10_000;
/** As much as goes into a block at once, and room for the row that fills it. */
const sentBytes = 64 * 1024;
const linesBytes = sentBytes + 1024;

export const connector: SourceConnector = {
  kind: 'source',
  specification,
  subject: ['count'],

  async check(config) {
    readSettings(config);
    return undefined;
  },

  async discover() {
    return {
      streams: sampleStreams.map(({ name, json_schema }) => ({
        name,
        json_schema,
        supported_sync_modes: ['full_refresh', 'incremental'],
        source_defined_cursor: true,
        default_cursor_field: ['updated_at'],
        source_defined_primary_key: [['id']],
      })),
    };
  },

  async read(config, catalog, state, emit) {
    const settings = readSettings(config);
    const pace = paceOf(settings.recordsPerSecond);
    for (const { stream, sync_mode, inlay_row_blocks } of catalog.streams) {
      const sample = sampleStreams.find(({ name }) => name === stream.name);
      if (!sample) throw new ConnectorError(`The stream ${stream.name} does not exist. Refresh the list of streams.`);
      const rows = inlay_row_blocks === rowFormat ? RowSender.of(sample, columnsOf(sample)) : undefined;
      const sending = { stream: sample, seed: settings.seed, emit, pace, rows };
      await emit.status(sample, 'STARTED');
      if (sync_mode === 'incremental') {
        await readOn(sending, settings, positionIn(state, sample.name, settings.seed));
      } else {
        await emitRecords(sending, 1, sample.countFor(settings.count));
      }
      await emit.status(sample, 'COMPLETE');
    }
  },
};

interface Sending {
  stream: SampleStream;
  seed: number;
  emit: Emitter;
  pace: Pace;
  /** Undefined: records are sent one by one. */
  rows: RowSender | undefined;
}

async function readOn(
  sending: Sending,
  { count, seed, recordsPerSecond = recordsPerState }: Settings,
  position: Position | undefined,
): Promise<void> {
  const { stream, emit } = sending;
  const total = stream.countFor(count);
  // A slow source emits its state after seconds, not hours.
  const step = Math.min(recordsPerState, recordsPerSecond * 10);
  let id = position?.id ?? 0;
  do {
    const end = Math.max(id, Math.min(id + step, total));
    await emitRecords(sending, id + 1, end);
    id = end;
    const reached: Position = { seed, id, updated_at: updatedAt(id) };
    await emit.state({
      type: 'STREAM',
      stream: { stream_descriptor: { name: stream.name }, stream_state: reached },
    });
  } while (id < total);
}

async function emitRecords({ stream, seed, emit, pace, rows }: Sending, from: number, to: number): Promise<void> {
  let id = from;
  const addRecord = (data: TextBuffer) => stream.addRecord(data, id, seed);
  const lines = new TextBuffer(linesBytes);
  const sendLines = () => (lines.length > 0 ? rows?.send(lines.take(), 0, emit).isBehind : undefined);
  for (; id <= to; id++) {
    const tooEarly = pace();
    if (tooEarly) {
      await sendLines();
      await tooEarly;
    }
    if (rows) stream.addRecord(lines, id, seed, 'row');
    const readerIsBehind = rows ? lines.length >= sentBytes && sendLines() : emit.recordOf(stream, addRecord);
    if (readerIsBehind) await readerIsBehind;
  }
  await sendLines();
}

/** The types of PostgreSQL that mean the same as the schema's. */
function columnsOf({ json_schema }: SampleStream): MeasuredColumn[] {
  const names = { integer: 'int8', number: 'float8', boolean: 'bool', string: 'text' };
  return Object.entries(json_schema.properties as Record<string, JsonSchema>).map(([name, { type, format }]) => {
    const [kind] = [type].flat() as (keyof typeof names)[];
    const ofColumn = { name: format === 'date-time' || !kind ? 'timestamptz' : names[kind], isArray: false };
    return { name, type: ofColumn, form: columnValue(ofColumn, true).form };
  });
}

/** Called before each record; a promise means that it is too early for it. */
type Pace = () => Promise<void> | undefined;

function paceOf(recordsPerSecond: number | undefined): Pace {
  if (recordsPerSecond === undefined) return () => undefined;
  const startedAtMs = performance.now();
  let records = 0;
  return () => {
    const earlyMs = startedAtMs + (records++ * 1000) / recordsPerSecond - performance.now();
    return earlyMs >= 1 ? new Promise((resolve) => setTimeout(resolve, earlyMs)) : undefined;
  };
}

function positionIn(states: readonly State[], name: string, seed: number): Position | undefined {
  const own = states.find(({ type, stream }) => type === 'STREAM' && stream?.stream_descriptor.name === name);
  const position = own?.stream?.stream_state as Partial<Position> | undefined;
  return position?.seed === seed && Number.isSafeInteger(position.id) ? (position as Position) : undefined;
}

function readSettings({ count, seed = 1, records_per_second }: Configuration): Settings {
  return {
    count: wholeNumber('count', count, 1),
    seed: wholeNumber('seed', seed, 0),
    recordsPerSecond:
      records_per_second === undefined ? undefined : wholeNumber('records_per_second', records_per_second, 1),
  };
}

function wholeNumber(name: string, value: unknown, minimum: number): number {
  if (Number.isSafeInteger(value) && Number(value) >= minimum) return Number(value);
  throw new ConnectorError(`${name} must be a whole number of at least ${minimum}.`).about(name);
}
