/*
 * Sends requests as fast as they are answered, over a fixed number of connections that are kept alive, each with one
 * request at a time. It uses plain sockets and reads only the status and the length of an answer, so that the service
 * is the limit and not this process.
 */
import { connect } from 'node:net';
import { createHistogram } from 'node:perf_hooks';
import { answerQuestions } from './child-program.ts';

export interface LoadQuestion {
  port: number;
  connections: number;
  durationMs: number;
  /** Whole requests, sent in turn. */
  requests: string[];
}

export interface LoadAnswer {
  count: number;
  failures: number;
  tookMs: number;
  p50Ms: number;
  p99Ms: number;
  generatorCpuMs: number;
}

const headersEnd = Buffer.from('\r\n\r\n');
/** Answers that take longer are cut off; what was measured until then is still reported. */
const patienceMs = 60_000;

answerQuestions(async ({ port, connections, durationMs, requests }: LoadQuestion): Promise<LoadAnswer> => {
  const bytes = requests.map((request) => Buffer.from(request));
  const latency = createHistogram({ figures: 3 });
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  let next = 0;
  let count = 0;
  let failures = 0;
  const sockets = Array.from({ length: connections }, () => connect({ port, host: '127.0.0.1', noDelay: true }));
  const driven = sockets.map(
    (socket) =>
      new Promise<void>((resolve, reject) => {
        let sentAt = startedAt;
        let received: Buffer | undefined;
        function send(): void {
          sentAt = performance.now();
          socket.write(bytes[next++ % bytes.length] as Buffer);
        }
        socket.on('data', (chunk) => {
          received = received ? Buffer.concat([received, chunk]) : chunk;
          const status = statusOf(received);
          if (status === undefined) return;
          received = undefined;
          latency.record(Math.max(1, Math.round((performance.now() - sentAt) * 1000)));
          count += 1;
          if (status !== '200') failures += 1;
          // Each connection sends at least one request, so that there is a result even if the time was too short.
          if (performance.now() - startedAt < durationMs) send();
          else resolve();
        });
        socket.once('error', reject);
        socket.once('close', () => reject(new Error('The server closed a connection that it should keep alive.')));
        socket.once('connect', send);
      }),
  );
  const deadline = setTimeout(() => {
    for (const socket of sockets) socket.destroy(new Error(`No response within ${patienceMs} ms.`));
  }, durationMs + patienceMs);
  try {
    await Promise.all(driven);
  } finally {
    clearTimeout(deadline);
    for (const socket of sockets) socket.destroy();
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  return {
    count,
    failures,
    tookMs: performance.now() - startedAt,
    p50Ms: latency.percentile(50) / 1000,
    p99Ms: latency.percentile(99) / 1000,
    generatorCpuMs: (user + system) / 1000,
  };
});

/** Undefined while parts of the answer are still on their way. */
function statusOf(bytes: Buffer): string | undefined {
  const end = bytes.indexOf(headersEnd);
  if (end < 0) return undefined;
  const head = bytes.toString('latin1', 0, end);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`A response has no length:\n${head}`);
  return bytes.length < end + headersEnd.length + Number(length) ? undefined : head.slice(9, 12);
}
