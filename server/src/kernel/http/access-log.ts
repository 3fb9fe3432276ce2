/**
 * One line in the log for every request. It is built as text, because the logger takes ten times as long to build the
 * same line from an object, and it is written together with the lines of other requests that end in the same turn of the
 * event loop.
 */
import { type Logger, pino } from 'pino';
import { isoTime } from '../iso-time.ts';
import type { LogStream } from '../output.ts';
import { isProbe } from './request-traces.ts';

interface AnsweredRequest {
  requestId: string;
  traceId: string | undefined;
  method: string;
  /** The pattern, not the path: a path that matched nothing could hold anything, a token for instance. */
  route: string;
  status: number;
  ms: number;
}

const levels = { debug: 20, info: 30 };

export function accessLog(log: Logger): (request: AnsweredRequest) => void {
  // The logger has no other way to its stream, and to the fields that it adds to every line.
  const internals = log as unknown as Record<symbol, unknown>;
  const stream = internals[pino.symbols.streamSym] as LogStream;
  const fields = internals[pino.symbols.chindingsSym] as string;
  const write = stream.writeSoon?.bind(stream) ?? stream.write.bind(stream);

  // The values need no escaping: the server accepts only plain request ids and known methods, and routes are ours.
  return ({ requestId, traceId, method, route, status, ms }) => {
    const level = isProbe(route) ? 'debug' : 'info';
    if (log.levelVal > levels[level]) return;
    const trace = traceId === undefined ? '' : `,"traceId":"${traceId}"`;
    write(
      `{"level":"${level}","time":"${isoTime(Date.now())}"${fields},"reqId":"${requestId}"${trace},"method":"${method}",` +
        `"route":"${route}","status":${status},"ms":${Math.round(ms * 10) / 10},"msg":"request"}\n`,
    );
  };
}
