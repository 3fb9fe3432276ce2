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
      'Returns who did what, from where and with which outcome: all entries of the audit trail, oldest first unless `sort` says otherwise. With `workspace_id` and `sort=-position`, this is the timeline of a customer, newest first. Each entry contains its own hash and that of the previous entry.',
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
      'Streams all entries as JSON Lines, for `inlay audit verify`, or as CSV. The export is itself recorded in the audit trail.',
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
      'Erases IP addresses, user agents or patches of the selected entries. The entries keep their commitments, so the hash chain stays valid. This cannot be undone.',
    body: AuditErasureRequest,
    isRepeatable: true,
    // Those who are watched must not be able to erase the evidence.
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
      "Returns who did what in the token's workspace. Actions of the operator come without tokens, IP addresses and request IDs.",
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
      'Returns signed checkpoints of the audit trail, newest first, and the public keys. Keep copies of them to prove later that no earlier entry was changed or removed.',
    query: ListCheckpointsQuery,
    answer: AuditCheckpointList,
  },
} as const satisfies Record<string, Operation>;
