/** The endpoints of the audit trail: pages, an export and erasure for operators, pages for a workspace's own token. */
import { Readable } from 'node:stream';
import {
  AuditCheckpointList,
  AuditErasure,
  AuditErasureRequest,
  AuditEventPage,
  ExportAuditEventsQuery,
  ListAuditEventsQuery,
  ListCheckpointsQuery,
  ListOwnAuditEventsQuery,
  OwnAuditEventPage,
} from '@inlay/contract/audit';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { causedBy } from '../events/journal.ts';
import { endpoint } from '../http/endpoint.ts';
import { exportTypes, writeExport } from './export.ts';
import { type AuditContext, erase, exportTrail, listCheckpoints, readOwnTrail, readTrail } from './trail.ts';

const path = '/api/v1/audit-events';
const tag = 'Audit';
const defaultLimit = 100;
const gone = ['events_gone', 'events_ahead'] as const;

export function auditRoutes(app: FastifyInstance, ctx: AuditContext, firstOrganizationId: string): void {
  endpoint(app, {
    method: 'GET',
    url: path,
    access: 'operator',
    tag,
    summary: 'List audit events',
    description:
      'Who did what, from where, and what came of it: every entry of the log, those for the audit alone included, oldest first unless `sort` says otherwise. With a `workspace_id` and `sort=-position` this is the timeline of a customer: syncs, changes and refusals, newest first. Each has the hash of itself and of the entry before.',
    query: ListAuditEventsQuery,
    answer: AuditEventPage,
    errors: [...gone],
    handle: ({ principal, query, reply }) => {
      const { after, before, sort, limit = defaultLimit, workspace_id, ...chosen } = query;
      reply.header('cache-control', 'no-store');
      const { organizationId } = principal;
      const newestFirst = sort === '-position' ? { before } : undefined;
      const reader = { organizationId, workspaceId: workspace_id, isCustomer: false, ...chosen };
      return readTrail(ctx, reader, { after, limit, newestFirst });
    },
  });

  endpoint(app, {
    method: 'GET',
    url: '/api/v1/embedded/audit-events',
    access: 'scoped',
    tag: 'Inside a workspace',
    summary: 'List own audit events',
    description:
      'Who did what in the workspace of the token. What the operator did is told without its tokens, addresses and requests.',
    query: ListOwnAuditEventsQuery,
    answer: OwnAuditEventPage,
    errors: [...gone],
    handle: ({ principal, query: { after, limit = defaultLimit, ...chosen }, reply }) => {
      reply.header('cache-control', 'no-store');
      const { organizationId, workspaceId } = principal;
      return readOwnTrail(ctx, { organizationId, workspaceId, isCustomer: true, ...chosen }, { after, limit });
    },
  });

  endpoint(app, {
    method: 'GET',
    url: `${path}/export`,
    access: 'operator',
    tag,
    summary: 'Export audit events',
    description:
      'All entries at once, as a stream: JSON Lines, which `inlay audit verify` reads, or CSV. The export is an entry of the trail itself.',
    query: ExportAuditEventsQuery,
    answer: Type.String({ title: 'Audit export', examples: ['{"position":1}\n'] }),
    answerType: 'application/jsonl',
    errors: [...gone],
    handle: async ({
      principal,
      query: { format = 'jsonl', after, workspace_id, ...chosen },
      cause,
      request,
      reply,
    }) => {
      reply.header('cache-control', 'no-store').type(exportTypes[format]);
      // Without a body, nothing is exported.
      if (request.method === 'HEAD') return '';
      const { organizationId } = principal;
      const reader = { organizationId, workspaceId: workspace_id, isCustomer: false, ...chosen };
      const pages = exportTrail(causedBy(ctx, cause), reader, { format, after });
      const lines = writeExport(await begun(pages), format);
      reply.header('content-disposition', `attachment; filename="audit-events.${format}"`);
      return reply.send(Readable.from(lines)) as unknown as string;
    },
  });

  endpoint(app, {
    method: 'POST',
    url: `${path}/erase`,
    isRepeatable: true,
    access: 'operator',
    tag,
    summary: 'Erase personal fields',
    description:
      'Erases addresses and user agents, or patches, of the entries that are named. The entries stay with their commitments, so the chain of hashes stays valid. Cannot be undone.',
    body: AuditErasureRequest,
    answer: AuditErasure,
    handle: ({ principal, body, cause }) => erase(causedBy(ctx, cause), principal.organizationId, body),
  });

  endpoint(app, {
    method: 'GET',
    url: '/.well-known/inlay/audit-checkpoints',
    access: 'public',
    tag,
    summary: 'List audit checkpoints',
    description:
      'Signed statements which hash the audit trail had at a position, newest first, and the public keys. Keep copies: they prove later that nothing before was changed or cut off.',
    query: ListCheckpointsQuery,
    answer: AuditCheckpointList,
    handle: ({ query: { organization_id = firstOrganizationId, limit = 24 } }) =>
      listCheckpoints(ctx.store.db, organization_id, limit),
  });
}

/** The first page is read before anything is sent, so a position that cannot be read is an answer and no broken stream. */
async function begun<T>(pages: AsyncGenerator<T>): Promise<AsyncGenerator<T>> {
  const first = await pages.next();
  return (async function* () {
    if (first.done) return;
    yield first.value;
    yield* pages;
  })();
}
