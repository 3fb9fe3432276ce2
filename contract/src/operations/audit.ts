/** Operations on the audit trail: pages, an export and erasure for operators, pages for customers. */
import { Type } from 'typebox';
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
} from '../log/audit.ts';
import type { Operation } from './operation.ts';

const gone = ['events_gone', 'events_ahead'] as const;
const about = { access: 'operator', tag: 'Audit' } as const;

export const auditEvents = {
  list: {
    ...about,
    route: 'GET /api/v1/audit-events',
    paging: 'position',
    summary: 'List audit events',
    description:
      'Who did what, from where, and what came of it: every entry of the log, those for the audit alone included, oldest first unless `sort` says otherwise. With a `workspace_id` and `sort=-position` this is the timeline of a customer: syncs, changes and refusals, newest first. Each has the hash of itself and of the entry before.',
    query: ListAuditEventsQuery,
    answer: AuditEventPage,
    errors: [...gone],
  },
  export: {
    ...about,
    route: 'GET /api/v1/audit-events/export',
    paging: 'position',
    summary: 'Export audit events',
    description:
      'All entries at once, as a stream: JSON Lines, which `inlay audit verify` reads, or CSV. The export is an entry of the trail itself.',
    query: ExportAuditEventsQuery,
    answer: Type.String({ title: 'Audit export', examples: ['{"position":1}\n'] }),
    answerType: 'application/jsonl',
    errors: [...gone],
  },
  erase: {
    ...about,
    route: 'POST /api/v1/audit-events/erase',
    summary: 'Erase personal fields',
    description:
      'Erases addresses and user agents, or patches, of the entries that are named. The entries stay with their commitments, so the chain of hashes stays valid. Cannot be undone.',
    body: AuditErasureRequest,
    isRepeatable: true,
    // Whoever is watched must not erase what the trail says of them.
    isAdministration: true,
    answer: AuditErasure,
  },
} as const satisfies Record<string, Operation>;

export const embeddedAuditEvents = {
  list: {
    route: 'GET /api/v1/embedded/audit-events',
    paging: 'position',
    access: 'scoped',
    tag: 'Inside a workspace',
    summary: 'List own audit events',
    description:
      'Who did what in the workspace of the token. What the operator did is told without its tokens, addresses and requests.',
    query: ListOwnAuditEventsQuery,
    answer: OwnAuditEventPage,
    errors: [...gone],
  },
} as const satisfies Record<string, Operation>;

export const auditCheckpoints = {
  list: {
    route: 'GET /.well-known/inlay/audit-checkpoints',
    access: 'public',
    tag: 'Audit',
    summary: 'List audit checkpoints',
    description:
      'Signed statements which hash the audit trail had at a position, newest first, and the public keys. Keep copies: they prove later that nothing before was changed or cut off.',
    query: ListCheckpointsQuery,
    answer: AuditCheckpointList,
  },
} as const satisfies Record<string, Operation>;
