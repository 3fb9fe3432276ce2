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
    description: 'Returns the active console sessions of the organization, newest first.',
    answer: ConsoleSessionList,
  },
  end: {
    ...about,
    route: 'DELETE /api/v1/console-sessions/{console_session_id}',
    summary: 'End console session',
    description:
      'Ends the session immediately, within two seconds on other replicas. Its open event streams end within five seconds. Also works for the calling session.',
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
      'Creates a read-only token that sees what the customer of the workspace sees, and the URL of the widget. The token works for 15 minutes and ends with the console session or operator token that requested it. The URL only works in a frame on a page of Inlay itself.',
    params: WorkspacePath,
    body: ViewTokenRequest,
    isRepeatable: true,
    answer: ViewToken,
    errors: ['workspace_not_found'],
  },
} as const satisfies Record<string, Operation>;
