/** What crosses the wire about the service itself: what is in order, what is not, and what to do. */
import { type Static, Type } from 'typebox';
import { Enumeration, Timestamp, Uuid } from '../fields.ts';

export const checkStates = ['ok', 'warn', 'fail'] as const;
export type CheckState = (typeof checkStates)[number];

const NullableTime = (description: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time', description });
const NullableText = (description: string, options: object = {}) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], description, ...options });

export const ServiceCheck = Type.Object(
  {
    state: Enumeration(checkStates, {
      description: '`warn`: somebody should look at it. `fail`: it does not work until somebody does something.',
    }),
    what: Type.String({ description: 'What was found', examples: ['database: PostgreSQL, up to date'] }),
    advice: NullableText('What to do; null where all is well', { examples: ['Run: inlay migrate'] }),
  },
  { title: 'Service check' },
);
export type ServiceCheck = Static<typeof ServiceCheck>;

export const Replica = Type.Object(
  {
    id: Uuid('The process; another one after each start', '6c0a3c52-12ab-4f39-8a53-6f5e0f7d9b21'),
    host: Type.String({ description: 'Name of its machine or container', examples: ['inlay-7c9d'] }),
    version: Type.String({ description: 'Version of the service', examples: ['1.4.0'] }),
    started_at: Timestamp('When it started'),
    last_seen_at: Timestamp('When it last said that it runs; it does so every ten seconds'),
    is_present: Type.Boolean({ description: 'False: it has said nothing for a while. After an hour it is forgotten' }),
  },
  { title: 'Replica' },
);
export type Replica = Static<typeof Replica>;

export const ServiceSetting = Type.Object(
  {
    name: Type.String({ description: 'Name of the variable', examples: ['INLAY_JOB_HISTORY_DAYS'] }),
    value: NullableText('What counts now; null: nothing, or a secret', { examples: ['90'] }),
    is_set: Type.Boolean({ description: 'Whether the environment sets it; otherwise the default counts' }),
    is_secret: Type.Boolean({ description: 'True: nobody is told its value' }),
  },
  { title: 'Service setting' },
);
export type ServiceSetting = Static<typeof ServiceSetting>;

export const Deployment = Type.Object(
  {
    replicas: Type.Array(Replica, { description: 'Processes of the service, the oldest first' }),
    versions: Type.Object(
      {
        node: Type.String({ description: 'Node.js of the process that answers', examples: ['24.4.0'] }),
        database: Type.String({ description: 'The database', examples: ['PostgreSQL 16.2'] }),
        platform: NullableText('The bundled platform; null: a hosted platform does not tell', { examples: ['1.4.0'] }),
      },
      { title: 'Versions' },
    ),
    migrations: Type.Object(
      {
        applied: Type.Integer({ minimum: 0, description: 'How many the database has', examples: [42] }),
        last: NullableText('The last of them', { examples: ['0042-replicas'] }),
        pending: Type.Array(Type.String(), { description: 'Those that the database lacks' }),
        unknown: Type.Array(Type.String(), { description: 'Those that a newer version of the service has made' }),
      },
      { title: 'Migrations' },
    ),
    settings: Type.Array(ServiceSetting, { description: 'Every variable of the environment' }),
  },
  { title: 'Deployment' },
);
export type Deployment = Static<typeof Deployment>;

export const ServiceHealth = Type.Object(
  {
    state: Enumeration(checkStates, { description: 'The worst of the checks' }),
    checked_at: Timestamp('When this was found out. Answers are kept for ten seconds, those of others for thirty'),
    version: Type.String({ description: 'Version of the service that answers', examples: ['1.4.0'] }),
    checks: Type.Array(ServiceCheck, { description: 'What is wrong first' }),
    platform: Type.Object(
      {
        kind: Enumeration(['bundled', 'hosted'], { description: 'Whether it is part of the service' }),
        failure: Type.Union([Enumeration(['unavailable', 'unauthorised']), Type.Null()], {
          description: 'How the last call failed; null: it was answered',
        }),
        failing_since: NullableTime('Since when no call was answered; null: the last one was'),
        last_failure_at: NullableTime('When a call last failed since this process started'),
      },
      { title: 'Platform health' },
    ),
    database: Type.Object(
      {
        kind: Enumeration(['sqlite', 'postgres'], { description: 'Which database it is' }),
        answered_in_ms: Type.Integer({ minimum: 0, description: 'How long it took to answer', examples: [2] }),
      },
      { title: 'Database health' },
    ),
    deployment: Type.Union([Deployment, Type.Null()], {
      description: 'For the first organization, which runs the deployment; null for all others',
    }),
  },
  { title: 'Service health' },
);
export type ServiceHealth = Static<typeof ServiceHealth>;
