/**
 * The address in front of the coordinators: ends TLS, takes turns, and does what networks do, to all of its callers or to one
 * machine. Also a plain address in front of a database.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

/** `silent`: connections stay open and nothing passes, as after a cable was cut somewhere in the middle. */
export type Weather = { kind: 'fair' } | { kind: 'silent' } | { kind: 'refusing' } | { kind: 'slow'; ms: number };

export interface Front {
  readonly port: number;
  /** From now on, for the connections that there are and for new ones. */
  setWeather(weather: Weather): void;
  /** How many bytes were held back in silence and then passed on: what a zombie has sent. */
  readonly heldBytes: number;
  close(): void;
}

interface FrontOptions {
  /** Undefined: nobody is there. */
  target(): { host: string; port: number } | undefined;
  tls?: { key: string; cert: string };
}

export async function openFront({ target, tls }: FrontOptions): Promise<Front> {
  let weather: Weather = { kind: 'fair' };
  let heldBytes = 0;
  const sockets = new Set<Socket>();
  let release: (() => void)[] = [];

  /** Waits for as long as the weather says. */
  async function passage(bytes: number): Promise<void> {
    if (weather.kind === 'slow') {
      const { ms } = weather;
      await new Promise((resolve) => setTimeout(resolve, ms));
    }
    if (weather.kind !== 'silent') return;
    await new Promise<void>((resolve) => release.push(resolve));
    heldBytes += bytes;
  }

  async function pass(from: Socket, to: Socket): Promise<void> {
    try {
      for await (const chunk of from as AsyncIterable<Buffer>) {
        await passage(chunk.length);
        if (!to.write(chunk)) await new Promise((resolve) => to.once('drain', resolve).once('close', resolve));
      }
      await passage(0);
      to.end();
    } catch {
      to.destroy();
    }
  }

  function serve(client: Socket): void {
    const next = weather.kind === 'refusing' ? undefined : target();
    if (!next) {
      client.destroy();
      return;
    }
    const upstream = connect(next.port, next.host);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => sockets.delete(socket));
    }
    void pass(client, upstream);
    void pass(upstream, client);
  }

  const server: Server = tls ? createTlsServer(tls, serve) : createServer(serve);
  server.on('tlsClientError', () => {});
  await new Promise<void>((listening) => server.listen(0, '0.0.0.0', listening));
  return {
    port: (server.address() as { port: number }).port,
    setWeather(next) {
      weather = next;
      if (next.kind === 'refusing') for (const socket of sockets) socket.destroy();
      if (next.kind !== 'silent') for (const resolve of release.splice(0)) resolve();
      release = [];
    },
    get heldBytes() {
      return heldBytes;
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
