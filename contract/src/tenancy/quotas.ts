/** What crosses the wire for quotas, which limit what a workspace may have and move, and for what is used of them. */
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

/** A week: no longer interval can be kept with a schedule that repeats. */
const maxIntervalSeconds = 604_800;

const kinds: Record<QuotaName, { minimum: number; maximum: number; description: string; example: number }> = {
  sources: { minimum: 0, maximum: 1_000_000, description: 'Sources of a workspace', example: 10 },
  connections: { minimum: 0, maximum: 1_000_000, description: 'Connections of a workspace', example: 20 },
  concurrent_syncs: {
    minimum: 1,
    maximum: 1_000_000,
    description: 'Syncs of a workspace that may run at the same time',
    example: 2,
  },
  shortest_interval_seconds: {
    minimum: 1,
    maximum: maxIntervalSeconds,
    description: 'Shortest time from the start of a sync of a connection to the start of its next; at most a week',
    example: 3600,
  },
  rows_per_day: amount('Rows that arrive in a day (UTC)', 1_000_000),
  rows_per_month: amount('Rows that arrive in a month (UTC)', 20_000_000),
  bytes_per_day: amount('Bytes that arrive in a day (UTC)', 1_000_000_000),
  bytes_per_month: amount('Bytes that arrive in a month (UTC)', 20_000_000_000),
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
    description: `${description}; ${more}`,
    examples: [example],
  });
};

function limits<Field>(field: (name: QuotaName) => Field): Record<QuotaName, Field> {
  return Object.fromEntries(quotaNames.map((name) => [name, field(name)])) as Record<QuotaName, Field>;
}

export const Quotas = Type.Object(
  limits((name) => Limit(name, 'null: no limit')),
  { title: 'Quotas' },
);
export type Quotas = Static<typeof Quotas>;

export const PutQuotasRequest = Type.Object(
  limits((name) => Type.Optional(Limit(name, 'null or left out: no limit'))),
  { title: 'Put quotas request', examples: [{ sources: 10, rows_per_day: 1_000_000 }] },
);
export type PutQuotasRequest = Static<typeof PutQuotasRequest>;

export const PutWorkspaceQuotasRequest = Type.Object(
  limits((name) => Type.Optional(Limit(name, 'null: no limit; left out: as the organization has it'))),
  { title: 'Put workspace quotas request', examples: [{ sources: 50, rows_per_day: null }] },
);
export type PutWorkspaceQuotasRequest = Static<typeof PutWorkspaceQuotasRequest>;

export const OwnQuotas = Type.Object(
  limits((name) => Type.Optional(Limit(name, 'null: no limit'))),
  { title: 'Own quotas' },
);

/** `own`: what is set for the workspace itself; `quotas`: what holds for it. */
export const WorkspaceQuotas = Type.Object({ own: OwnQuotas, quotas: Quotas }, { title: 'Workspace quotas' });
export type WorkspaceQuotas = Static<typeof WorkspaceQuotas>;

export const Use = Type.Object(
  {
    used: Type.Integer({ minimum: 0, description: 'How much is used', examples: [7] }),
    limit: Type.Unsafe<number | null>({ type: ['integer', 'null'], description: 'null: no limit', examples: [10] }),
  },
  { title: 'Use' },
);

export const Usage = Type.Object(
  {
    workspace_id: Uuid('Workspace it is about', exampleWorkspaceId),
    workspace_name: Type.String({ description: 'Name of the workspace', examples: ['acme-inc'] }),
    sources: Type.Object(Use.properties, { title: 'Use', description: 'Sources that it has' }),
    connections: Type.Object(Use.properties, { title: 'Use', description: 'Connections that it has' }),
    concurrent_syncs: Type.Object(Use.properties, {
      title: 'Use',
      description: 'Syncs that run or wait for their next try',
    }),
    rows_per_day: Type.Object(Use.properties, { title: 'Use', description: 'Rows of syncs that have ended today' }),
    rows_per_month: Type.Object(Use.properties, {
      title: 'Use',
      description: 'Rows of syncs that have ended this month',
    }),
    bytes_per_day: Type.Object(Use.properties, { title: 'Use', description: 'Bytes of syncs that have ended today' }),
    bytes_per_month: Type.Object(Use.properties, {
      title: 'Use',
      description: 'Bytes of syncs that have ended this month',
    }),
    shortest_interval_seconds: Limit('shortest_interval_seconds', 'null: no limit'),
    day_ends_at: Timestamp('When the day ends, in UTC'),
    month_ends_at: Timestamp('When the month ends, in UTC'),
  },
  { title: 'Usage' },
);
export type Usage = Static<typeof Usage>;

export const UsagePage = Type.Object(
  {
    data: Type.Array(Usage, { description: 'One page, newest workspaces first' }),
    next: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Full URL of the next page; null on the last page',
    }),
  },
  { title: 'Usage page' },
);

export const ListUsageQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Workspaces on a page' })),
  cursor: Type.Optional(
    Type.String({
      format: 'cursor',
      description: 'Opaque: take it from the `next` of an earlier page, never build it',
    }),
  ),
});
