/* Writes protocol messages to a stream, many a write, and tells the sender when the reader is behind. */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { type Message, recordHead, type StreamDescriptor } from '../../src/protocol.ts';
import type { Emitter } from './connector.ts';
import { TextBuffer } from './text-buffer.ts';

/** Large enough that a pipe is filled by one write, small enough that the first records do not wait long. */
const chunkBytes = 64 * 1024;
/** For the message that makes a chunk full. */
const spareBytes = 16 * 1024;
/** Nothing waits in here longer than this, however slow the source. */
const lingerMs = 200;

export interface MessageWriter {
  emitter: Emitter;
  send(message: Message): Promise<void> | undefined;
  flush(): Promise<void>;
}

export function messageWriter(output: Writable): MessageWriter {
  const pending = new TextBuffer(chunkBytes + spareBytes);
  let timer: NodeJS.Timeout | undefined;
  let drained: Promise<void> | undefined;
  let latest: { stream: StreamDescriptor; head: string } | undefined;

  function add(line: string): Promise<void> | undefined {
    pending.add(line);
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

  const send = (message: Message) => add(`${JSON.stringify(message)}\n`);
  const now = () => Date.now();

  /** The part of a record that is the same for all of its stream. */
  function headOf(stream: StreamDescriptor): string {
    if (latest?.stream !== stream) latest = { stream, head: recordHead(stream) };
    return latest.head;
  }

  const recordText = (stream: StreamDescriptor, data: string) => add(`${headOf(stream)}${now()},"data":${data}}}\n`);

  return {
    send,
    emitter: {
      record: (stream, data) => recordText(stream, JSON.stringify(data)),
      recordText,
      state: (state) => {
        void send({ type: 'STATE', state });
        return write();
      },
      status: (stream, status) =>
        send({
          type: 'TRACE',
          trace: {
            type: 'STREAM_STATUS',
            emitted_at: now(),
            stream_status: { stream_descriptor: descriptorOf(stream), status },
          },
        }),
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
