/** Schemas for quotas, which limit what a workspace can have and move, and for usage. */
import { type Static, Type } from 'typebox';
import { Timestamp, Uuid } from '../fields.ts';

const exampleWorkspaceId = '2f1c1f0e-7c53-4a7e-9d0c-0d6a5b0c7e11';

export const quotaNames = [
  'sources',
  'connections',
  'concurrent_syncs',
  'shortest_interval_seconds',
  'rows_per_day',
  'rows_per_month',
  'bytes_per_day',
  'bytes_per_month',
] as const;
export type QuotaName = (typeof quotaNames)[number];
/** Quotas that limit a number of things; the other one is a time. */
export type LimitedQuota = Exclude<QuotaName, 'shortest_interval_seconds'>;

/** A week, because repeating schedules cannot keep longer intervals. */
const maxIntervalSeconds = 604_800;

const kinds: Record<QuotaName, { minimum: number; maximum: number; description: string; example: number }> = {
  sources: { minimum: 0, maximum: 1_000_000, description: 'Number of sources.', example: 10 },
  connections: { minimum: 0, maximum: 1_000_000, description: 'Number of connections.', example: 20 },
  concurrent_syncs: {
    minimum: 1,
    maximum: 1_000_000,
    description: 'Number of syncs running at the same time.',
    example: 2,
  },
  shortest_interval_seconds: {
    minimum: 1,
    maximum: maxIntervalSeconds,
    description: 'Minimum number of seconds between the starts of two syncs of a connection, at most a week.',
    example: 3600,
  },
  rows_per_day: amount('Rows that arrive per UTC day.', 1_000_000),
  rows_per_month: amount('Rows that arrive per UTC month.', 20_000_000),
  bytes_per_day: amount('Bytes that arrive per UTC day.', 1_000_000_000),
  bytes_per_month: amount('Bytes that arrive per UTC month.', 20_000_000_000),
};

function amount(description: string, example: number) {
  return { minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description, example };
}

const Limit = (name: QuotaName, more: string) => {
  const { minimum, maximum, description, example } = kinds[name];
  return Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    minimum,
    maximum,
    description: `${description} ${more}`,
    examples: [example],
  });
};

function limits<Field>(field: (name: QuotaName) => Field): Record<QuotaName, Field> {
  return Object.fromEntries(quotaNames.map((name) => [name, field(name)])) as Record<QuotaName, Field>;
}

export const Quotas = Type.Object(
  limits((name) => Limit(name, 'Null means no limit.')),
  { title: 'Quotas' },
);
export type Quotas = Static<typeof Quotas>;

export const PutQuotasRequest = Type.Object(
  limits((name) => Type.Optional(Limit(name, 'Null or omitted means no limit.'))),
  { title: 'Put quotas request', examples: [{ sources: 10, rows_per_day: 1_000_000 }] },
);
export type PutQuotasRequest = Static<typeof PutQuotasRequest>;

export const PutWorkspaceQuotasRequest = Type.Object(
  limits((name) => Type.Optional(Limit(name, "Null means no limit. If omitted, the organization's quota applies."))),
  { title: 'Put workspace quotas request', examples: [{ sources: 50, rows_per_day: null }] },
);
export type PutWorkspaceQuotasRequest = Static<typeof PutWorkspaceQuotasRequest>;

export const OwnQuotas = Type.Object(
  limits((name) => Type.Optional(Limit(name, 'Null means no limit.'))),
  { title: 'Own quotas' },
);

/** `own`: set for the workspace itself. `quotas`: in effect for it. */
export const WorkspaceQuotas = Type.Object({ own: OwnQuotas, quotas: Quotas }, { title: 'Workspace quotas' });
export type WorkspaceQuotas = Static<typeof WorkspaceQuotas>;

export const Use = Type.Object(
  {
    used: Type.Integer({ minimum: 0, description: 'Current usage.', examples: [7] }),
    limit: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      description: 'The limit. Null means no limit.',
      examples: [10],
    }),
  },
  { title: 'Use' },
);

export const Usage = Type.Object(
  {
    workspace_id: Uuid('The workspace.', exampleWorkspaceId),
    workspace_name: Type.String({ description: 'Name of the workspace.', examples: ['acme-inc'] }),
    sources: Type.Object(Use.properties, { title: 'Use', description: 'Number of sources.' }),
    connections: Type.Object(Use.properties, { title: 'Use', description: 'Number of connections.' }),
    concurrent_syncs: Type.Object(Use.properties, {
      title: 'Use',
      description: 'Syncs that are running or waiting for a retry.',
    }),
    rows_per_day: Type.Object(Use.properties, { title: 'Use', description: 'Rows of syncs that ended today.' }),
    rows_per_month: Type.Object(Use.properties, {
      title: 'Use',
      description: 'Rows of syncs that ended this month.',
    }),
    bytes_per_day: Type.Object(Use.properties, { title: 'Use', description: 'Bytes of syncs that ended today.' }),
    bytes_per_month: Type.Object(Use.properties, {
      title: 'Use',
      description: 'Bytes of syncs that ended this month.',
    }),
    shortest_interval_seconds: Limit('shortest_interval_seconds', 'Null means no limit.'),
    day_ends_at: Timestamp('When the day ends (UTC).'),
    month_ends_at: Timestamp('When the month ends (UTC).'),
  },
  { title: 'Usage' },
);
export type Usage = Static<typeof Usage>;

export const UsagePage = Type.Object(
  {
    data: Type.Array(Usage, { description: 'Usage per workspace, newest workspaces first.' }),
    next: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'URL of the next page. Null on the last page.',
    }),
  },
  { title: 'Usage page' },
);

export const ListUsageQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Number of workspaces per page.' }),
  ),
  cursor: Type.Optional(
    Type.String({
      format: 'cursor',
      description: 'Opaque cursor from the `next` URL of an earlier page.',
    }),
  ),
});
