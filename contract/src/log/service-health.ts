/** Schemas for the health of the service: what works, what does not, and what to do. */
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
      description:
        'Result of the check. `warn`: somebody should look at it. `fail`: something does not work until somebody acts.',
    }),
    what: Type.String({ description: 'What the check found.', examples: ['database: PostgreSQL, up to date'] }),
    advice: NullableText('What to do. Null if the check passed.', { examples: ['Run: inlay upgrade'] }),
  },
  { title: 'Service check' },
);
export type ServiceCheck = Static<typeof ServiceCheck>;

export const Replica = Type.Object(
  {
    id: Uuid('ID of the process. Changes with every start.', '6c0a3c52-12ab-4f39-8a53-6f5e0f7d9b21'),
    host: Type.String({ description: 'Host name of the machine or container.', examples: ['inlay-7c9d'] }),
    version: Type.String({ description: 'Version of the service.', examples: ['1.4.0'] }),
    started_at: Timestamp('When the process started.'),
    last_seen_at: Timestamp('Last heartbeat of the process, sent every ten seconds.'),
    is_present: Type.Boolean({
      description: 'Whether the process sent a recent heartbeat. Processes without one are removed after an hour.',
    }),
  },
  { title: 'Replica' },
);
export type Replica = Static<typeof Replica>;

export const ServiceSetting = Type.Object(
  {
    name: Type.String({ description: 'Name of the environment variable.', examples: ['INLAY_JOB_HISTORY_DAYS'] }),
    value: NullableText('Value in effect. Null if unset or secret.', { examples: ['90'] }),
    is_set: Type.Boolean({ description: 'Whether the environment sets the variable. Otherwise, the default applies.' }),
    is_secret: Type.Boolean({ description: 'Whether the value is secret and therefore hidden.' }),
  },
  { title: 'Service setting' },
);
export type ServiceSetting = Static<typeof ServiceSetting>;

export const Deployment = Type.Object(
  {
    replicas: Type.Array(Replica, { description: 'Running processes, oldest first.' }),
    versions: Type.Object(
      {
        node: Type.String({ description: 'Node.js version of the responding process.', examples: ['24.4.0'] }),
        database: Type.String({ description: 'Type and version of the database.', examples: ['PostgreSQL 16.2'] }),
        platform: NullableText(
          'Version of the bundled platform. Null for a hosted platform, which does not report one.',
          { examples: ['1.4.0'] },
        ),
      },
      { title: 'Versions' },
    ),
    last_backup_at: NullableTime('Start of the last backup. Null if none is recorded.'),
    migrations: Type.Object(
      {
        applied: Type.Integer({ minimum: 0, description: 'Number of applied migrations.', examples: [42] }),
        last: NullableText('Latest applied migration.', { examples: ['0042-replicas'] }),
        pending: Type.Array(Type.String(), { description: 'Migrations that have not been applied.' }),
        unknown: Type.Array(Type.String(), { description: 'Migrations that a newer version of the service applied.' }),
      },
      { title: 'Migrations' },
    ),
    settings: Type.Array(ServiceSetting, { description: 'All environment variables of the service.' }),
  },
  { title: 'Deployment' },
);
export type Deployment = Static<typeof Deployment>;

export const ServiceHealth = Type.Object(
  {
    state: Enumeration(checkStates, { description: 'Worst result of all checks.' }),
    checked_at: Timestamp(
      'When the checks ran. Results are cached for ten seconds, or thirty for checks of other services.',
    ),
    version: Type.String({ description: 'Version of the responding process.', examples: ['1.4.0'] }),
    checks: Type.Array(ServiceCheck, { description: 'All checks, problems first.' }),
    platform: Type.Object(
      {
        kind: Enumeration(['bundled', 'hosted'], { description: 'Whether the platform is the bundled one.' }),
        failure: Type.Union([Enumeration(['unavailable', 'unauthorised']), Type.Null()], {
          description: 'Error of the last call. Null if it succeeded.',
        }),
        failing_since: NullableTime('Start of the current outage. Null if the last call succeeded.'),
        last_failure_at: NullableTime('Last failed call since the process started.'),
      },
      { title: 'Platform health' },
    ),
    database: Type.Object(
      {
        kind: Enumeration(['sqlite', 'postgres'], { description: 'Type of the database.' }),
        answered_in_ms: Type.Integer({ minimum: 0, description: 'Response time of the database.', examples: [2] }),
      },
      { title: 'Database health' },
    ),
    deployment: Type.Union([Deployment, Type.Null()], {
      description: 'Details of the deployment. Null unless yours is the first organization, which runs the deployment.',
    }),
  },
  { title: 'Service health' },
);
export type ServiceHealth = Static<typeof ServiceHealth>;
