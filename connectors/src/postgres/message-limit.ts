/*
 * Limits how much memory a server can make this process use. Every PostgreSQL message starts with its length, and the
 * client library buffers a message until it is complete, even if a server announces gigabytes. So the length is checked
 * before the library sees the bytes.
 *
 * Rows that are read with COPY do not pass through here: source-postgres/rows.ts bounds those.
 */
import type { Duplex } from 'node:stream';
import { ConnectorError } from '@inlay/protocol/connector';
import { maxRecordBytes } from '@inlay/protocol/protocol';
import type pg from 'pg';

/** As much as a record may have, and far more than anything else that a server says. */
export const maxMessageBytes = maxRecordBytes;

const headerLength = 5;

/** Call before the client connects. */
export function limitMessages(client: pg.Client): void {
  const { connection } = client as pg.Client & { connection: { attachListeners(stream: Duplex): void } };
  const attachListeners = connection.attachListeners.bind(connection);
  // Called for the stream that messages come from, which is another one when the connection is encrypted.
  connection.attachListeners = (stream) => {
    attachListeners(stream);
    // It stays the only listener: COPY removes it while it reads itself.
    const [parse] = stream.listeners('data') as [(chunk: Buffer) => void];
    const look = messageLengths();
    stream.removeListener('data', parse).on('data', (chunk: Buffer) => {
      const announced = look(chunk);
      if (announced === undefined) parse(chunk);
      else stream.destroy(tooLarge(announced));
    });
  };
}

/** Follows the messages of a stream; returns the length of a message that is too long. */
function messageLengths(): (chunk: Buffer) => number | undefined {
  const header = Buffer.alloc(headerLength);
  let known = 0;
  let rest = 0;
  return (chunk) => {
    let at = 0;
    while (at < chunk.length) {
      const skipped = Math.min(rest, chunk.length - at);
      rest -= skipped;
      at += skipped;
      const copied = chunk.copy(header, known, at, Math.min(chunk.length, at + headerLength - known));
      known += copied;
      at += copied;
      if (known < headerLength) continue;
      // The length counts itself, and not the byte before it, which says what kind of message it is.
      const length = header.readUInt32BE(1);
      if (length > maxMessageBytes) return length;
      rest = Math.max(0, length - 4);
      known = 0;
    }
    return undefined;
  };
}

function tooLarge(bytes: number): ConnectorError {
  const [size, limit] = [bytes, maxMessageBytes].map(
    (count) => `${Math.round(count / 1_000_000).toLocaleString('en')} MB`,
  );
  return new ConnectorError(`The server announced a message of ${size}, which exceeds the limit of ${limit}.`);
}
