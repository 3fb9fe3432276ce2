/* A real HTTP server on the loopback interface for one test, which keeps what it was asked. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Asked {
  path: string;
  query: Record<string, string>;
  headers: IncomingHttpHeaders;
}

export type Handler = (asked: Asked, reply: ServerResponse, request: IncomingMessage) => unknown;

export interface HttpServer {
  origin: string;
  asked: Asked[];
}

/** What the handler returns is answered as JSON, unless it has answered itself. */
export async function startHttpServer(handler: Handler, host = '127.0.0.1'): Promise<HttpServer> {
  const asked: Asked[] = [];
  const server = createServer((request, reply) => {
    const { pathname: path, searchParams } = new URL(request.url ?? '', 'http://server.test');
    const one = { path, query: Object.fromEntries(searchParams), headers: request.headers };
    asked.push(one);
    const answer = handler(one, reply, request);
    if (answer !== undefined) reply.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
  });
  await new Promise<void>((done) => server.listen(0, host, done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { origin: `http://${host}:${(server.address() as AddressInfo).port}`, asked };
}
