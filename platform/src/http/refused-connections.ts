/** Answers what never became a request: broken framing, headers too large or too slow. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Runtime } from '../runtime.ts';

/** Keyed by Node.js error codes. */
const statuses: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

export function createConnectionRefusal({ newId }: Runtime) {
  return (error: Error & { code?: string }, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) return;
    const status = statuses[error.code ?? ''] ?? 400;
    const body = JSON.stringify({ errorId: newId() });
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
  };
}
