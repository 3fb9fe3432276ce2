/** The endpoints that list who is signed in to the console, and end sessions. */
import { operations } from '@inlay/contract/operations';
import type { FastifyInstance } from 'fastify';
import { serve } from '../../kernel/http/endpoint.ts';
import { type ConsoleSessions, presentSession } from './sessions.ts';

export function consoleSessionRoutes(app: FastifyInstance, sessions: ConsoleSessions): void {
  serve(app, operations.consoleSessions, {
    list: async ({ principal, reply }) => {
      reply.header('cache-control', 'no-store');
      return { data: (await sessions.list(principal.organizationId)).map(presentSession) };
    },

    end: async ({ params, principal, cause }) =>
      presentSession(await sessions.end(principal.organizationId, params.console_session_id, 'ended', cause)),
  });
}
