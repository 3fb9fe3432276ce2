/** The endpoints that tell who is signed in to the console, and end sessions. */
import { ConsoleSession, ConsoleSessionList, ConsoleSessionPath } from '@inlay/contract/console';
import type { FastifyInstance } from 'fastify';
import { endpoint } from '../http/endpoint.ts';
import { type ConsoleSessions, presentSession } from './sessions.ts';

const path = '/api/v1/console-sessions';
const tag = 'Console';

export function consoleSessionRoutes(app: FastifyInstance, sessions: ConsoleSessions): void {
  endpoint(app, {
    method: 'GET',
    url: path,
    access: 'operator',
    tag,
    summary: 'List console sessions',
    description: 'Who is signed in to the console of the organization, newest first.',
    answer: ConsoleSessionList,
    handle: async ({ principal, reply }) => {
      reply.header('cache-control', 'no-store');
      return { data: (await sessions.list(principal.organizationId)).map(presentSession) };
    },
  });

  endpoint(app, {
    method: 'DELETE',
    url: `${path}/:console_session_id`,
    isAdministration: true,
    access: 'operator',
    tag,
    summary: 'End console session',
    description:
      'In force at once, on other replicas within two seconds; streams of events that it has open end within five. Also for the session that makes the call.',
    params: ConsoleSessionPath,
    answer: ConsoleSession,
    errors: ['console_session_not_found'],
    handle: async ({ params, principal, cause }) =>
      presentSession(await sessions.end(principal.organizationId, params.console_session_id, 'ended', cause)),
  });
}
