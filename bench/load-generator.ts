/*
 * Sends requests as fast as they are answered, over a fixed number of connections that are kept alive, each with one
 * request at a time. It uses plain sockets and reads only the status and the length of an answer, so that the service
 * is the limit and not this process.
 */
import { connect, type Socket } from 'node:net';
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
  requests: number;
  failures: number;
  tookMs: number;
  p50Ms: number;
  p99Ms: number;
  /** CPU time of this process. */
  cpuSeconds: number;
}

const ok = '200';
const headersEnd = Buffer.from('\r\n\r\n');
/** Answers that take longer are cut off; what was measured until then is still reported. */
const patienceMs = 60_000;

answerQuestions(async ({ port, connections, durationMs, requests }: LoadQuestion): Promise<LoadAnswer> => {
  const bytes = requests.map((request) => Buffer.from(request));
  const latency = createHistogram({ figures: 3 });
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  let next = 0;
  let done = 0;
  let failures = 0;
  const sockets: Socket[] = [];

  const drive = (socket: Socket): Promise<void> =>
    new Promise((resolve, reject) => {
      let sentAt: number | undefined;
      let received: Buffer | undefined;
      function send(): void {
        // Each connection sends at least one request, so that there is a result even if the time was too short.
        if (sentAt !== undefined && performance.now() - startedAt >= durationMs) {
          resolve();
          return;
        }
        const request = bytes[next++ % bytes.length] as Buffer;
        sentAt = performance.now();
        socket.write(request);
      }
      socket.on('data', (chunk) => {
        received = received ? Buffer.concat([received, chunk]) : chunk;
        const answer = readAnswer(received);
        if (!answer) return;
        received = undefined;
        latency.record(Math.max(1, Math.round((performance.now() - (sentAt ?? startedAt)) * 1000)));
        done += 1;
        if (answer.status !== ok) failures += 1;
        send();
      });
      socket.once('error', reject);
      socket.once('close', () => reject(new Error('The server closed a connection that it should keep.')));
      socket.once('connect', send);
    });

  const deadline = setTimeout(() => {
    for (const socket of sockets) socket.destroy(new Error(`No answer came within ${patienceMs} ms.`));
  }, durationMs + patienceMs);
  try {
    for (let i = 0; i < connections; i++) sockets.push(connect({ port, host: '127.0.0.1', noDelay: true }));
    await Promise.all(sockets.map(drive));
  } finally {
    clearTimeout(deadline);
    for (const socket of sockets) socket.destroy();
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  return {
    requests: done,
    failures,
    tookMs: performance.now() - startedAt,
    p50Ms: latency.percentile(50) / 1000,
    p99Ms: latency.percentile(99) / 1000,
    cpuSeconds: (user + system) / 1e6,
  };
});

/** Undefined while parts of the answer are still on their way. */
function readAnswer(bytes: Buffer): { status: string } | undefined {
  const end = bytes.indexOf(headersEnd);
  if (end < 0) return undefined;
  const head = bytes.toString('latin1', 0, end);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`An answer does not say its length:\n${head}`);
  if (bytes.length < end + headersEnd.length + Number(length)) return undefined;
  return { status: head.slice(9, 12) };
}
