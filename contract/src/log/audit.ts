/** What crosses the wire for the audit trail: who did what, from where, and what came of it, in a chain of hashes. */
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
  description: 'What is to be known of it, as its type says',
});
const Patch = Type.Unsafe<object[] | null>({
  type: ['array', 'null'],
  items: { type: 'object', additionalProperties: true },
  description:
    'What was before and after, as JSON Patch; a `test` has the value before. Secrets are keyed fingerprints. Null: nothing to tell, or erased',
});

export const AuditActor = Type.Object(
  {
    kind: Type.String({
      description: '`operator_token`, `scoped_token`, `sign_in_link`, `console_user`, `command_line` or `worker`',
      examples: ['operator_token'],
    }),
    id: textOrNull('Id of the operator token, or `jti` of the scoped token', exampleId),
    name: textOrNull('Name of the operator token', 'backend'),
  },
  { title: 'Audit actor' },
);

/** The first members, up to `previous_hash`, are what the hash is over. */
export const AuditEvent = Type.Object(
  {
    version: Type.Integer({ description: 'Of the form of what the hash is over', examples: [1] }),
    organization_id: Uuid('The organization', exampleId),
    position: Position('Its place in the trail of the organization: 1, 2, 3, … without a gap'),
    event_position: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      description: 'Its position among the events; null for an entry for the audit alone',
      examples: [1042],
    }),
    id: Uuid('Id of the entry; of an event, that of the event', exampleId),
    type: EventTypeName,
    timestamp: Timestamp("When it happened, by the database's clock"),
    sequenced_at: Timestamp('When it got its position'),
    outcome: Enumeration(auditOutcomes, { description: 'What came of it' }),
    actor: AuditActor,
    workspace_id: OrNullId('The workspace that it is about, if any'),
    workspace_name: textOrNull('As the workspace was called then', 'acme-inc'),
    request_id: textOrNull('The request in whose course it happened', 'req-1'),
    trace_id: textOrNull('The trace of that request', '4bf92f3577b34da6a3ce929d0e0e4736'),
    data: Data,
    commitments: Type.Unsafe<Record<string, string>>({
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'A salted hash of each of `address`, `user_agent` and `patch` that there was',
    }),
    previous_hash: Hash('The hash of the entry before; zeros before the first'),
    hash: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'SHA-256 over the members above in the canonical form of RFC 8785',
      examples: [exampleHash],
    }),
    address: textOrNull('Where the request came from, behind trusted proxies; null: unknown, or erased', '203.0.113.7'),
    user_agent: textOrNull('What the client calls itself; null: unknown, or erased', 'curl/8.5.0'),
    patch: Patch,
    salts: Type.Unsafe<Record<string, string>>({
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'The salts of the commitments, for fields that are not erased',
    }),
  },
  { title: 'Audit event' },
);
export type AuditEvent = Static<typeof AuditEvent>;

const nextPosition = Position('Give it as `after` to read on. It is there even when there is nothing more yet');

export const AuditEventPage = Type.Object(
  { data: Type.Array(AuditEvent, { description: 'Oldest first, unless `sort` says otherwise' }), next: nextPosition },
  { title: 'Audit event page' },
);
export type AuditEventPage = Static<typeof AuditEventPage>;

export const OwnAuditEvent = Type.Object(
  {
    position: Position('Its place in the trail of the organization; there are gaps between those of one workspace'),
    id: Uuid('Id of the entry', exampleId),
    type: EventTypeName,
    timestamp: Timestamp('When it happened'),
    outcome: Enumeration(auditOutcomes, { description: 'What came of it' }),
    actor: Type.Object(
      {
        kind: Enumeration(['token', 'operator', 'service'], {
          description: 'A token of this workspace, the operator of the product, or the service by itself',
        }),
        id: textOrNull('The `jti` of the token', '1.aaaaaaaaaaaaaaaaaaaaaa'),
      },
      { title: 'Own audit actor' },
    ),
    workspace_id: OrNullId('The workspace'),
    request_id: textOrNull('The request of the token', 'req-1'),
    data: Data,
    address: textOrNull('Where the request of the token came from; null: not known, or erased', '203.0.113.7'),
    user_agent: textOrNull('What its client calls itself; null: not known, or erased', 'Mozilla/5.0'),
    patch: Patch,
    hash: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'The hash of the entry in the trail of the operator',
      examples: [exampleHash],
    }),
  },
  { title: 'Own audit event' },
);
export type OwnAuditEvent = Static<typeof OwnAuditEvent>;

export const OwnAuditEventPage = Type.Object(
  { data: Type.Array(OwnAuditEvent, { description: 'Oldest first' }), next: nextPosition },
  { title: 'Own audit event page' },
);
export type OwnAuditEventPage = Static<typeof OwnAuditEventPage>;

const paging = {
  after: Type.Optional(
    Position(
      'Only later positions. Left out: from the oldest that is kept. A position that is no longer kept gives 410',
    ),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100, description: 'Entries on a page' })),
};

const outcome = {
  outcome: Type.Optional(Enumeration(auditOutcomes, { description: 'Only entries with this outcome' })),
};
const chosen = {
  ...filters,
  ...outcome,
  workspace_id: Type.Optional(Uuid('Only entries about this workspace', exampleWorkspaceId)),
  actor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Only entries by this actor: its id, or its kind, as in `command_line`',
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
        'Oldest first, or with a minus newest first; then `next` is to be given as `before`, and is 0 at the end',
    }),
  ),
  before: Type.Optional(Position('With `sort=-position`: only earlier positions. Left out: from the newest')),
  ...chosen,
});
export const ListOwnAuditEventsQuery = Type.Object({ ...paging, ...filters, ...outcome });

export const exportFormats = ['jsonl', 'csv'] as const;
export const ExportAuditEventsQuery = Type.Object({
  format: Type.Optional(
    Enumeration(exportFormats, {
      default: 'jsonl',
      description: '`jsonl`: one entry a line, as the list shows it; `inlay audit verify` reads it. `csv`: for tables',
    }),
  ),
  after: paging.after,
  ...chosen,
});

export const AuditErasureRequest = Type.Object(
  {
    workspace_id: Type.Optional(Uuid('Of entries about this workspace', exampleWorkspaceId)),
    actor_id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'Of entries by this token', examples: [exampleId] }),
    ),
    address: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'Of entries whose request came from this address',
        examples: ['203.0.113.7'],
      }),
    ),
    before: Type.Optional(Timestamp('Only of entries that happened before')),
    fields: Type.Optional(
      Type.Array(Enumeration(personalFields), {
        minItems: 1,
        uniqueItems: true,
        default: ['address', 'user_agent'],
        description: 'What to erase',
      }),
    ),
  },
  { title: 'Audit erasure request' },
);
export type AuditErasureRequest = Static<typeof AuditErasureRequest>;

export const AuditErasure = Type.Object(
  { erased: Type.Integer({ minimum: 0, description: 'How many values were erased', examples: [12] }) },
  { title: 'Audit erasure' },
);
export type AuditErasure = Static<typeof AuditErasure>;

export const AuditCut = Type.Object(
  {
    position: Position('Entries up to here were removed'),
    at: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date-time',
      description: 'When retention decided so; null: a version that did not record cuts made it',
      examples: ['2026-01-31T09:30:00.000Z'],
    }),
    retention_days: Type.Unsafe<number | null>({
      type: ['number', 'null'],
      description: 'The retention in force at that time; null: not recorded',
      examples: [365],
    }),
  },
  { title: 'Audit cut' },
);
export type AuditCut = Static<typeof AuditCut>;

/** Checkpoints of versions that did not record cuts have no `cut`. */
export const checkpointCut = Type.Optional(
  Type.Union([AuditCut, Type.Null()], {
    description: 'The beginning that retention has removed from the trail; null: nothing was removed',
  }),
);

export const AuditCheckpoint = Type.Object(
  {
    organization_id: Uuid('The organization', exampleId),
    position: Position('The last entry that it covers'),
    hash: Hash('The hash of that entry'),
    signed_at: Timestamp('When it was signed'),
    key_id: Type.String({ description: 'Which key signed it', examples: ['k0123456789abcde'] }),
    cut: checkpointCut,
    signature: Type.String({
      description:
        'Ed25519, in base64, over the canonical JSON (RFC 8785) of the members above and `"type":"inlay-audit-checkpoint"`',
      examples: ['c2lnbmF0dXJl'],
    }),
  },
  { title: 'Audit checkpoint' },
);
export type AuditCheckpoint = Static<typeof AuditCheckpoint>;

export const AuditCheckpointList = Type.Object(
  {
    organization_id: Uuid('The organization', exampleId),
    checkpoints: Type.Array(AuditCheckpoint, { description: 'Newest first' }),
    beginning: Type.Union([AuditCheckpoint, Type.Null()], {
      description: 'The trail was cut here by retention, and begins after it; null: it begins with its first entry',
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
      { description: 'The public keys, as JSON Web Keys' },
    ),
  },
  { title: 'Audit checkpoint list' },
);
export type AuditCheckpointList = Static<typeof AuditCheckpointList>;

export const ListCheckpointsQuery = Type.Object({
  organization_id: Type.Optional(Uuid('The organization; the first of the deployment if left out', exampleId)),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 24, description: 'How many' })),
});
