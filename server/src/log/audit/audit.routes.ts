/** The endpoints of the audit trail: pages, an export and erasure for operators, pages for a workspace's own token. */
import { Readable } from 'node:stream';
import { operations } from '@inlay/contract/operations';
import type { FastifyInstance } from 'fastify';
import { serve } from '../../kernel/http/endpoint.ts';
import { causedBy } from '../events/journal.ts';
import type { AuditKeysContext } from './audit-keys.ts';
import { exportTypes, writeExport } from './export.ts';
import { type AuditContext, erase, exportTrail, listCheckpoints, readOwnTrail, readTrail } from './trail.ts';

const defaultLimit = 100;

export function auditRoutes(
  app: FastifyInstance,
  ctx: AuditContext & AuditKeysContext,
  firstOrganizationId: string,
): void {
  serve(app, operations.auditEvents, {
    list: ({ principal, query, reply }) => {
      const { after, before, sort, limit = defaultLimit, workspace_id, ...chosen } = query;
      reply.header('cache-control', 'no-store');
      const { organizationId } = principal;
      const newestFirst = sort === '-position' ? { before } : undefined;
      const reader = { organizationId, workspaceId: workspace_id, isCustomer: false, ...chosen };
      return readTrail(ctx, reader, { after, limit, newestFirst });
    },
  });

  serve(app, operations.embeddedAuditEvents, {
    list: ({ principal, query: { after, limit = defaultLimit, ...chosen }, reply }) => {
      reply.header('cache-control', 'no-store');
      const { organizationId, workspaceId } = principal;
      return readOwnTrail(ctx, { organizationId, workspaceId, isCustomer: true, ...chosen }, { after, limit });
    },
  });

  serve(app, operations.auditEvents, {
    export: async ({
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

    erase: ({ principal, body, cause }) => erase(causedBy(ctx, cause), principal.organizationId, body),
  });

  serve(app, operations.auditCheckpoints, {
    list: ({ query: { organization_id = firstOrganizationId, limit = 24 } }) =>
      listCheckpoints(ctx, organization_id, limit),
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
