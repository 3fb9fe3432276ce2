/** How a connection, a source or a workspace does: one idea for everything that shows it. */
import { type Static, Type } from 'typebox';
import { Enumeration } from '../fields.ts';

export const healthStates = ['healthy', 'running', 'failing', 'needs_attention', 'paused', 'never_synced'] as const;
export type HealthState = (typeof healthStates)[number];

/** For whom a text is, and who has to do something. */
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
        '`config_error`: somebody has to change something. `transient_error`: it may pass. `system_error`: a fault of a ' +
        'connector or of the platform. `unknown`: the platform does not tell.',
    }),
    origin: Enumeration(failureOrigins, { description: 'What failed' }),
    message: NullableText('What happened and what to do; null where the platform does not tell'),
  },
  { title: 'Failure' },
);
export type Failure = Static<typeof Failure>;

export const Health = Type.Object(
  {
    state: Enumeration(healthStates, {
      description:
        '`failing`: syncs fail, also while one is tried again. `needs_attention`: nothing gets better until somebody does ' +
        'something. `never_synced`: no sync has ended yet.',
    }),
    since: NullableTime('Since when it is failing or needs attention, where that is known'),
    failures_in_a_row: Type.Integer({
      minimum: 0,
      description: 'Syncs that failed since the last success, the one that is tried again included',
      examples: [3],
    }),
    trying_again: Type.Boolean({ description: 'True: it has been failing, and a sync runs or waits for its turn' }),
    first_error: Type.Union([Failure, Type.Null()], { description: 'The first failure since the last success' }),
    last_good_at: NullableTime('When a sync last succeeded'),
    attention: Type.Union(
      [
        Type.Object({
          by: Enumeration(audiences, { description: 'Who has to do something' }),
          what: NullableText('What is the matter'),
        }),
        Type.Null(),
      ],
      { description: 'Present when the state is `needs_attention`' },
    ),
    paused_because: NullableText('Why a quota has paused it, and when it goes on; null where somebody wanted it so'),
  },
  { title: 'Health' },
);
export type Health = Static<typeof Health>;

/** Of a cause: the connections that fail for one reason have the same. */
export const causePattern = '^[0-9a-f]{32}$';
