/* Writes protocol messages to a stream in batches, and reports backpressure to the sender. */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { Emitter, Rows } from './connector.ts';
import { stringifyJson } from './json.ts';
import {
  type Message,
  type RowsMessage,
  recordHead,
  rowsType,
  type StreamDescriptor,
  streamHoldingType,
  streamReportType,
} from './protocol.ts';
import { maxBlockBytes } from './row-blocks.ts';
import { TextBuffer } from './text-buffer.ts';

/** Large enough that a pipe is filled by one write and seldom runs empty, small enough to be of no weight in memory. */
const chunkBytes = 192 * 1024;
/** Slack for the message that fills a chunk. */
const spareBytes = 16 * 1024;
/** Nothing waits in here longer than this, however slow the source. */
const lingerMs = 200;
/** How old the time of a row may be: a destination stores rows of one time in one step. */
const sameTimeMs = 1000;
const endOfRecord = Buffer.from('}}\n');

interface MessageWriter {
  emitter: Emitter;
  send(message: Message): Promise<void> | undefined;
  flush(): Promise<void>;
}

export function messageWriter(output: Writable): MessageWriter {
  const pending = new TextBuffer(chunkBytes + spareBytes);
  let timer: NodeJS.Timeout | undefined;
  let drained: Promise<void> | undefined;
  /** What goes before everything in `pending`. */
  let ready: Buffer[] = [];
  let readyBytes = 0;
  let open:
    | {
        stream: StreamDescriptor;
        columns: Rows['columns'];
        sums: Omit<Rows, 'columns' | 'lines'>;
        pieces: Buffer[];
        length: number;
      }
    | undefined;
  let rowsAt = 0;
  let latest: { stream: StreamDescriptor; ms: number; bytes: Buffer } | undefined;

  /** After a whole line was added. */
  function added(): Promise<void> | undefined {
    if (readyBytes + (open?.length ?? 0) + pending.length >= chunkBytes) return write();
    timer ??= setTimeout(write, lingerMs).unref();
    return drained;
  }

  function rows(
    stream: StreamDescriptor,
    { columns, lines, count, bytes, hasFarTimes }: Rows,
  ): Promise<void> | undefined {
    if (open?.stream !== stream || open.columns !== columns || open.length + lines.length > maxBlockBytes) {
      closeBlock();
      if (pending.length > 0) addReady(pending.take());
      open = { stream, columns, sums: { count: 0, bytes: 0, hasFarTimes: false }, pieces: [], length: 0 };
    }
    const { sums, pieces } = open;
    sums.count += count;
    sums.bytes += bytes;
    sums.hasFarTimes ||= hasFarTimes;
    pieces.push(lines);
    open.length += lines.length;
    return added();
  }

  /** Any other message follows the rows before it. */
  function closeBlock(): void {
    if (!open) return;
    const { stream, columns, sums, pieces, length } = open;
    open = undefined;
    const { count, bytes, hasFarTimes } = sums;
    const now = Date.now();
    if (now - rowsAt >= sameTimeMs) rowsAt = now;
    const { name, ...namespace } = descriptorOf(stream);
    const far = hasFarTimes && ({ has_far_times: true } as const);
    const header = { stream: name, ...namespace, emitted_at: rowsAt, columns, count, bytes, length, ...far };
    addReady(Buffer.from(`${JSON.stringify({ type: rowsType, rows: header } satisfies RowsMessage)}\n`));
    pieces.forEach(addReady);
  }

  function addReady(bytes: Buffer): void {
    ready.push(bytes);
    readyBytes += bytes.length;
  }

  function write(): Promise<void> | undefined {
    clearTimeout(timer);
    timer = undefined;
    closeBlock();
    if (pending.length > 0) addReady(pending.take());
    if (readyBytes === 0) return drained;
    // Everything in one write.
    output.cork();
    let isTaken = true;
    for (const bytes of ready) isTaken = output.write(bytes);
    output.uncork();
    ready = [];
    readyBytes = 0;
    if (!isTaken) {
      drained ??= once(output, 'drain').then(() => {
        drained = undefined;
      });
    }
    return drained;
  }

  function send(message: Message): Promise<void> | undefined {
    closeBlock();
    pending.add(`${stringifyJson(message)}\n`);
    return added();
  }

  /** What comes before the data, which is the same for all records of a stream in a millisecond. */
  function beginningOf(stream: StreamDescriptor): Buffer {
    const ms = Date.now();
    if (latest?.stream !== stream || latest.ms !== ms) {
      latest = { stream, ms, bytes: Buffer.from(`${recordHead(stream)}${ms},"data":`) };
    }
    return latest.bytes;
  }

  function recordOf(stream: StreamDescriptor, addData: (to: TextBuffer) => void): Promise<void> | undefined {
    closeBlock();
    const { length } = pending;
    pending.addBytes(beginningOf(stream));
    try {
      addData(pending);
    } catch (error) {
      // Messages of the connector start on a new line.
      pending.length = length;
      throw error;
    }
    pending.addBytes(endOfRecord);
    return added();
  }

  function analytics(type: string, about: { stream_descriptor: StreamDescriptor }): Promise<void> | undefined {
    const value = JSON.stringify({ ...about, stream_descriptor: descriptorOf(about.stream_descriptor) });
    return send({
      type: 'TRACE',
      trace: { type: 'ANALYTICS', emitted_at: Date.now(), analytics: { type, value } },
    });
  }

  return {
    send,
    emitter: {
      record(stream, data) {
        const text = stringifyJson(data);
        return recordOf(stream, (to) => to.add(text));
      },
      recordOf,
      rows,
      state: (state) => {
        void send({ type: 'STATE', state });
        return write();
      },
      status: (stream, status, reasons) =>
        send({
          type: 'TRACE',
          trace: {
            type: 'STREAM_STATUS',
            emitted_at: Date.now(),
            stream_status: { stream_descriptor: descriptorOf(stream), status, ...(reasons && { reasons }) },
          },
        }),
      failure: (stream, { message, failureType, internalMessage, fields }) =>
        send({
          type: 'TRACE',
          trace: {
            type: 'ERROR',
            emitted_at: Date.now(),
            error: {
              message,
              ...(internalMessage !== undefined && { internal_message: internalMessage }),
              failure_type: failureType,
              stream_descriptor: descriptorOf(stream),
              ...(fields && { inlay_fields: [...fields] }),
            },
          },
        }),
      configuration: (config) =>
        send({
          type: 'CONTROL',
          control: { type: 'CONNECTOR_CONFIG', emitted_at: Date.now(), connectorConfig: { config } },
        }),
      report: (report) => analytics(streamReportType, report),
      holding: (holding) => analytics(streamHoldingType, holding),
      log: (level, message) => void send({ type: 'LOG', log: { level, message } }),
    },
    async flush() {
      void write();
      await drained;
      // An empty write is called back after everything before it has left the process.
      await new Promise<void>((done) => output.write('', () => done()));
    },
  };
}

function descriptorOf({ name, namespace }: StreamDescriptor): StreamDescriptor {
  return namespace === undefined ? { name } : { name, namespace };
}
