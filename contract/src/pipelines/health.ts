/** Health of a connection, source or workspace, in one form for everything that shows it. */
import { type Static, Type } from 'typebox';
import { Enumeration } from '../fields.ts';
import { NullableReason, reasonFields } from '../reasons.ts';

export const healthStates = ['healthy', 'running', 'failing', 'needs_attention', 'paused', 'never_synced'] as const;
export type HealthState = (typeof healthStates)[number];

/** Who a text is for, and who has to act. */
export const audiences = ['customer', 'operator'] as const;
export type Audience = (typeof audiences)[number];

export const failureKinds = ['config_error', 'transient_error', 'system_error', 'unknown'] as const;
export const failureOrigins = ['source', 'destination', 'platform', 'unknown'] as const;

const NullableText = (description: string, options: object = {}) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], description, ...options });
const NullableTime = (description: string) =>
  NullableText(description, { format: 'date-time', examples: ['2026-01-31T09:30:42.000Z'] });

export const Failure = Type.Object(
  {
    kind: Enumeration(failureKinds, {
      description:
        'Type of the failure. `config_error`: somebody has to change something. `transient_error`: may pass. `system_error`: a fault of a connector or the platform. `unknown`: not reported by the platform.',
    }),
    origin: Enumeration(failureOrigins, { description: 'Where the failure occurred.' }),
    message: NullableText('What happened and what to do. Null if the platform gave no reason.'),
    ...reasonFields,
  },
  { title: 'Failure' },
);
export type Failure = Static<typeof Failure>;

export const Health = Type.Object(
  {
    state: Enumeration(healthStates, {
      description:
        'State of the health. `failing`: syncs fail, including while one is being retried. `needs_attention`: will not recover until somebody acts. `never_synced`: no sync has ended yet.',
    }),
    since: NullableTime('When it started failing or needing attention, if known.'),
    failures_in_a_row: Type.Integer({
      minimum: 0,
      description: 'Number of failed syncs since the last success, including one that is being retried.',
      examples: [3],
    }),
    trying_again: Type.Boolean({ description: 'Whether a sync is running or queued after failures.' }),
    first_error: Type.Union([Failure, Type.Null()], { description: 'First failure since the last success.' }),
    last_good_at: NullableTime('When a sync last succeeded.'),
    attention: Type.Union(
      [
        Type.Object(
          {
            by: Enumeration(audiences, { description: 'Who has to act.' }),
            what: NullableText('What needs attention.'),
            ...reasonFields,
          },
          { title: 'Attention' },
        ),
        Type.Null(),
      ],
      { description: 'Present if the state is `needs_attention`.' },
    ),
    paused_because: NullableText(
      'The quota that paused the connection, and when it resumes. Null if somebody paused it deliberately.',
    ),
    paused_reason: NullableReason('Why a quota paused the connection, as a code and parameters.'),
  },
  { title: 'Health' },
);
export type Health = Static<typeof Health>;

/** Identifies a cause of failure. Connections that fail for the same reason share it. */
export const causePattern = '^[0-9a-f]{32}$';
