/** Requests that wait for something to happen: they end when the client goes, and when the service stops. */
import { setMaxListeners } from 'node:events';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Asks again whether the token of a request still works. Throws if it does not. */
export type Reauthenticate = (request: FastifyRequest) => Promise<void>;

/** The signal that each function gives says that the client has gone, or that the service stops. */
export function watchEnds(app: FastifyInstance): (reply: FastifyReply) => AbortSignal {
  const closing = new AbortController();
  // Node warns of more than ten, and any number of requests may wait.
  setMaxListeners(0, closing.signal);
  // Requests that wait would keep the service from ending.
  app.addHook('preClose', async () => closing.abort());
  return (reply) => {
    const ended = new AbortController();
    const end = () => ended.abort();
    closing.signal.addEventListener('abort', end, { once: true });
    reply.raw.once('close', () => {
      closing.signal.removeEventListener('abort', end);
      end();
    });
    return ended.signal;
  };
}
