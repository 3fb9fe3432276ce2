/** Schemas for the audit trail: who did what, from where and with which outcome, as a hash chain. */
import { type Static, Type } from 'typebox';
import { Enumeration, Timestamp, Uuid } from '../fields.ts';
import { EventTypeName, filters, Position } from './events.ts';

const exampleId = '6f0f5a1e-5a0c-4f5e-8d5f-2f3b1c9a7d10';
const exampleWorkspaceId = '2f1c1f0e-7c53-4a7e-9d0c-0d6a5b0c7e11';
const exampleHash = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

const textOrNull = (description: string, example?: string) =>
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description,
    ...(example !== undefined && { examples: [example] }),
  });
const Hash = (description: string) => Type.String({ pattern: '^[0-9a-f]{64}$', description, examples: [exampleHash] });

export const auditOutcomes = ['done', 'refused'] as const;
export const personalFields = ['address', 'user_agent', 'patch'] as const;

const OrNullId = (description: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'uuid', description, examples: [exampleWorkspaceId] });

const Data = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  description: 'Details of the event, which depend on its type.',
});
const Patch = Type.Unsafe<object[] | null>({
  type: ['array', 'null'],
  items: { type: 'object', additionalProperties: true },
  description:
    'Changes as a JSON Patch, with previous values as `test` operations. Secrets appear as keyed fingerprints. Null if nothing changed or the changes were erased.',
});

export const AuditActor = Type.Object(
  {
    kind: Type.String({
      description:
        'Who acted: `operator_token`, `scoped_token`, `sign_in_link`, `console_user`, `command_line` or `worker`.',
      examples: ['operator_token'],
    }),
    id: textOrNull('ID of the operator token, or `jti` of the scoped token.', exampleId),
    name: textOrNull('Name of the operator token.', 'backend'),
  },
  { title: 'Audit actor' },
);

/** The hash covers all fields up to `previous_hash`. */
export const AuditEvent = Type.Object(
  {
    version: Type.Integer({ description: 'Version of the hashed format.', examples: [1] }),
    organization_id: Uuid('The organization.', exampleId),
    position: Position("Position in the organization's audit trail: 1, 2, 3, … without gaps."),
    event_position: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      description: 'Position among events. Null for entries that appear only in the audit trail.',
      examples: [1042],
    }),
    id: Uuid('ID of the entry, which is also the ID of the event.', exampleId),
    type: EventTypeName,
    timestamp: Timestamp("When it happened, by the database's clock."),
    sequenced_at: Timestamp('When the entry got its position.'),
    outcome: Enumeration(auditOutcomes, { description: 'Outcome of the action.' }),
    actor: AuditActor,
    workspace_id: OrNullId('The workspace concerned, if any.'),
    workspace_name: textOrNull('Name of the workspace at the time.', 'acme-inc'),
    request_id: textOrNull('The request that caused the entry.', 'req-1'),
    trace_id: textOrNull('The trace of that request.', '4bf92f3577b34da6a3ce929d0e0e4736'),
    data: Data,
    commitments: Type.Unsafe<Record<string, string>>({
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'Salted hashes of `address`, `user_agent` and `patch`, where present.',
    }),
    previous_hash: Hash('Hash of the previous entry. Zeros for the first entry.'),
    hash: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'SHA-256 of the fields above in canonical form (RFC 8785).',
      examples: [exampleHash],
    }),
    address: textOrNull(
      'IP address of the request, as forwarded by trusted proxies. Null if unknown or erased.',
      '203.0.113.7',
    ),
    user_agent: textOrNull('User agent of the request. Null if unknown or erased.', 'curl/8.5.0'),
    patch: Patch,
    salts: Type.Unsafe<Record<string, string>>({
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'Salts of the commitments, for fields that have not been erased.',
    }),
  },
  { title: 'Audit event' },
);
export type AuditEvent = Static<typeof AuditEvent>;

const nextPosition = Position('Pass as `after` to continue reading. Present even if there are no further entries yet.');

export const AuditEventPage = Type.Object(
  {
    data: Type.Array(AuditEvent, { description: 'Entries, oldest first unless `sort` says otherwise.' }),
    next: nextPosition,
  },
  { title: 'Audit event page' },
);
export type AuditEventPage = Static<typeof AuditEventPage>;

export const OwnAuditEvent = Type.Object(
  {
    position: Position("Position in the organization's audit trail. Positions of one workspace have gaps."),
    id: Uuid('ID of the entry.', exampleId),
    type: EventTypeName,
    timestamp: Timestamp('When it happened.'),
    outcome: Enumeration(auditOutcomes, { description: 'Outcome of the action.' }),
    actor: Type.Object(
      {
        kind: Enumeration(['token', 'operator', 'service'], {
          description: 'Who acted: a token of this workspace, the operator, or the service.',
        }),
        id: textOrNull('The `jti` of the token.', '1.aaaaaaaaaaaaaaaaaaaaaa'),
      },
      { title: 'Own audit actor' },
    ),
    workspace_id: OrNullId('The workspace.'),
    request_id: textOrNull('The request made with the token.', 'req-1'),
    data: Data,
    address: textOrNull('IP address of the request made with the token. Null if unknown or erased.', '203.0.113.7'),
    user_agent: textOrNull('User agent of the client. Null if unknown or erased.', 'Mozilla/5.0'),
    patch: Patch,
    hash: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: "Hash of the entry in the operator's audit trail.",
      examples: [exampleHash],
    }),
  },
  { title: 'Own audit event' },
);
export type OwnAuditEvent = Static<typeof OwnAuditEvent>;

export const OwnAuditEventPage = Type.Object(
  { data: Type.Array(OwnAuditEvent, { description: 'Entries, oldest first.' }), next: nextPosition },
  { title: 'Own audit event page' },
);
export type OwnAuditEventPage = Static<typeof OwnAuditEventPage>;

const paging = {
  after: Type.Optional(
    Position(
      'Returns only later positions. Defaults to the oldest position available. Positions that are no longer available return 410.',
    ),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 500, default: 100, description: 'Number of entries per page.' }),
  ),
};

const outcome = {
  outcome: Type.Optional(Enumeration(auditOutcomes, { description: 'Returns only entries with this outcome.' })),
};
const chosen = {
  ...filters,
  ...outcome,
  workspace_id: Type.Optional(Uuid('Returns only entries about this workspace.', exampleWorkspaceId)),
  actor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Returns only entries of this actor, given as an ID or a kind such as `command_line`.',
      examples: ['command_line'],
    }),
  ),
};

export const ListAuditEventsQuery = Type.Object({
  ...paging,
  sort: Type.Optional(
    Enumeration(['position', '-position'], {
      default: 'position',
      description:
        'Sort order: oldest first, or newest first with a minus. With newest first, pass `next` as `before`; on the last page, `next` is 0.',
    }),
  ),
  before: Type.Optional(
    Position('With `sort=-position`, returns only earlier positions. Defaults to the newest position.'),
  ),
  ...chosen,
});
export const ListOwnAuditEventsQuery = Type.Object({ ...paging, ...filters, ...outcome });

export const exportFormats = ['jsonl', 'csv'] as const;
export const ExportAuditEventsQuery = Type.Object({
  format: Type.Optional(
    Enumeration(exportFormats, {
      default: 'jsonl',
      description:
        'Export format. `jsonl`: one entry per line, as in the list, for `inlay audit verify`. `csv`: for spreadsheets.',
    }),
  ),
  after: paging.after,
  ...chosen,
});

export const AuditErasureRequest = Type.Object(
  {
    workspace_id: Type.Optional(Uuid('Erases from entries about this workspace.', exampleWorkspaceId)),
    actor_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'Erases from entries by this token.',
        examples: [exampleId],
      }),
    ),
    address: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'Erases from entries whose request came from this IP address.',
        examples: ['203.0.113.7'],
      }),
    ),
    before: Type.Optional(Timestamp('Erases only from entries before this time.')),
    fields: Type.Optional(
      Type.Array(Enumeration(personalFields), {
        minItems: 1,
        uniqueItems: true,
        default: ['address', 'user_agent'],
        description: 'Fields to erase.',
      }),
    ),
  },
  { title: 'Audit erasure request' },
);
export type AuditErasureRequest = Static<typeof AuditErasureRequest>;

export const AuditErasure = Type.Object(
  { erased: Type.Integer({ minimum: 0, description: 'Number of erased values.', examples: [12] }) },
  { title: 'Audit erasure' },
);
export type AuditErasure = Static<typeof AuditErasure>;

export const AuditCut = Type.Object(
  {
    position: Position('Last position that was removed.'),
    at: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date-time',
      description: 'When retention removed the entries. Null if removed by a version that did not record it.',
      examples: ['2026-01-31T09:30:00.000Z'],
    }),
    retention_days: Type.Unsafe<number | null>({
      type: ['number', 'null'],
      description: 'Retention in effect at the time. Null if not recorded.',
      examples: [365],
    }),
  },
  { title: 'Audit cut' },
);
export type AuditCut = Static<typeof AuditCut>;

/** Checkpoints of versions that did not record cuts have no `cut`. */
export const checkpointCut = Type.Optional(
  Type.Union([AuditCut, Type.Null()], {
    description: 'The start of the trail that retention removed. Null if nothing was removed.',
  }),
);

export const AuditCheckpoint = Type.Object(
  {
    organization_id: Uuid('The organization.', exampleId),
    position: Position('Last entry that the checkpoint covers.'),
    hash: Hash('Hash of that entry.'),
    signed_at: Timestamp('When the checkpoint was signed.'),
    key_id: Type.String({ description: 'ID of the signing key.', examples: ['k0123456789abcde'] }),
    cut: checkpointCut,
    signature: Type.String({
      description:
        'Ed25519 signature in base64 over the canonical JSON (RFC 8785) of the fields above and `"type":"inlay-audit-checkpoint"`.',
      examples: ['c2lnbmF0dXJl'],
    }),
  },
  { title: 'Audit checkpoint' },
);
export type AuditCheckpoint = Static<typeof AuditCheckpoint>;

export const AuditCheckpointList = Type.Object(
  {
    organization_id: Uuid('The organization.', exampleId),
    checkpoints: Type.Array(AuditCheckpoint, { description: 'Checkpoints, newest first.' }),
    beginning: Type.Union([AuditCheckpoint, Type.Null()], {
      description:
        'Where retention cut the trail, which now starts after this position. Null if the trail is complete.',
    }),
    keys: Type.Array(
      Type.Object(
        {
          kty: Type.String({ examples: ['OKP'] }),
          crv: Type.String({ examples: ['Ed25519'] }),
          x: Type.String({ examples: ['11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'] }),
          kid: Type.String({ examples: ['k0123456789abcde'] }),
          alg: Type.String({ examples: ['EdDSA'] }),
          use: Type.String({ examples: ['sig'] }),
        },
        { title: 'Audit key' },
      ),
      { description: 'Public keys, as JSON Web Keys.' },
    ),
  },
  { title: 'Audit checkpoint list' },
);
export type AuditCheckpointList = Static<typeof AuditCheckpointList>;

export const ListCheckpointsQuery = Type.Object({
  organization_id: Type.Optional(Uuid('The organization. Defaults to the first one of the deployment.', exampleId)),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1000, default: 24, description: 'Maximum number of checkpoints.' }),
  ),
});
