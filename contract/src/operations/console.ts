/** Operations about the console: its sessions, and what a customer sees. */
import {
  ConsoleSession,
  ConsoleSessionList,
  ConsoleSessionPath,
  ViewToken,
  ViewTokenRequest,
} from '../tenancy/console.ts';
import { WorkspacePath } from '../tenancy/workspaces.ts';
import type { Operation } from './operation.ts';

const about = { access: 'operator', tag: 'Console' } as const;

export const consoleSessions = {
  list: {
    ...about,
    route: 'GET /api/v1/console-sessions',
    summary: 'List console sessions',
    description: 'Who is signed in to the console of the organization, newest first.',
    answer: ConsoleSessionList,
  },
  end: {
    ...about,
    route: 'DELETE /api/v1/console-sessions/{console_session_id}',
    summary: 'End console session',
    description:
      'In force at once, on other replicas within two seconds; streams of events that it has open end within five. Also for the session that makes the call.',
    params: ConsoleSessionPath,
    isAdministration: true,
    answer: ConsoleSession,
    errors: ['console_session_not_found'],
  },
} as const satisfies Record<string, Operation>;

export const viewTokens = {
  create: {
    ...about,
    route: 'POST /api/v1/workspaces/{workspace_id}/view-token',
    summary: 'See what a customer sees',
    description:
      'A token that reads what the customer of the workspace reads, and cannot write, with the address of the widget. It works for 15 minutes, and ends with the session of the console, or the operator token, that asked for it. The address works in a frame on a page of the service itself.',
    params: WorkspacePath,
    body: ViewTokenRequest,
    isRepeatable: true,
    answer: ViewToken,
    errors: ['workspace_not_found'],
  },
} as const satisfies Record<string, Operation>;
