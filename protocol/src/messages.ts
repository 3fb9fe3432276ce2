/* Writes protocol messages to a stream in batches, and reports backpressure to the sender. */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { Emitter } from './connector.ts';
import { stringifyJson } from './json.ts';
import { type Message, recordHead, type StreamDescriptor, streamHoldingType, streamReportType } from './protocol.ts';
import { TextBuffer } from './text-buffer.ts';

/** Large enough that a pipe is filled by one write and seldom runs empty, small enough to be of no weight in memory. */
const chunkBytes = 192 * 1024;
/** Slack for the message that fills a chunk. */
const spareBytes = 16 * 1024;
/** Nothing waits in here longer than this, however slow the source. */
const lingerMs = 200;
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
  let latest: { stream: StreamDescriptor; ms: number; bytes: Buffer } | undefined;

  /** After a whole line was added. */
  function added(): Promise<void> | undefined {
    if (pending.length >= chunkBytes) return write();
    timer ??= setTimeout(write, lingerMs).unref();
    return drained;
  }

  function write(): Promise<void> | undefined {
    clearTimeout(timer);
    timer = undefined;
    if (pending.length === 0) return drained;
    if (!output.write(pending.take())) {
      drained ??= once(output, 'drain').then(() => {
        drained = undefined;
      });
    }
    return drained;
  }

  function send(message: Message): Promise<void> | undefined {
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
