/**
 * Every type of entry there is, with what it says. One definition gives the types that the compiler checks where an entry is
 * written, `webhooks` of the OpenAPI document, and docs/reference/events.md.
 *
 * What always holds: the catalog is closed. Later versions add types, and add members to the data of a type, but never
 * take any away. Data holds ids, names, counts and messages for people; no secret, and no configuration. The file is long
 * because the catalog is one list.
 */

import { flowFailures } from '@inlay/contract/credentials/oauth-flows';
import { Enumeration, operatorPermissions, Timestamp, Uuid } from '@inlay/contract/fields';
import { checkpointCut } from '@inlay/contract/log/audit';
import { reasonFields } from '@inlay/contract/reasons';
import { quotaNames } from '@inlay/contract/tenancy/quotas';
import { type Static, type TObject, type TProperties, Type } from 'typebox';

const exampleId = '6f0f5a1e-5a0c-4f5e-8d5f-2f3b1c9a7d10';
const text = (description: string, example: string) => Type.String({ description, examples: [example] });
const count = (description: string, example: number) => Type.Integer({ minimum: 0, description, examples: [example] });
const orNull = <T>(type: string, description: string, example?: T) =>
  Type.Unsafe<T | null>({
    type: [type, 'null'],
    description,
    ...(example !== undefined && { examples: [example] }),
  });

const Source = Type.Object(
  {
    id: Uuid('ID of the source.', exampleId),
    name: text('Name of the source.', 'Shop database'),
    source_template_id: Uuid('Template of the source.', exampleId),
  },
  { title: 'Source of an event' },
);

const Connection = Type.Object(
  {
    id: Uuid('ID of the connection.', exampleId),
    name: text('Names of source and destination.', 'Shop database → Warehouse'),
    source_id: Uuid('Source of the connection.', exampleId),
    connection_template_id: Type.Optional(Uuid('Template of the connection. Not visible to customers.', exampleId)),
  },
  { title: 'Connection of an event' },
);

/** Operators read both texts and codes. Customers read theirs, as `message`, `code` and `parameters`. */
const Failure = Type.Object(
  {
    kind: orNull('string', 'Type of the failure.', 'config_error'),
    origin: orNull('string', 'Where the failure occurred.', 'source'),
    message: orNull('string', 'What went wrong.', 'The password is wrong.'),
    code: Type.Optional(reasonFields.code),
    parameters: Type.Optional(reasonFields.parameters),
    customer_message: Type.Optional(orNull<string>('string', 'What went wrong, as shown to customers.')),
    customer_code: Type.Optional(reasonFields.code),
    customer_parameters: Type.Optional(reasonFields.parameters),
  },
  { title: 'Failure of an event' },
);

const Job = Type.Object(
  {
    id: text('ID of the job.', '1f0e5b7a-6c43-4d19-9b0e-3a52c8d7f416'),
    started_at: Timestamp('When the job started.'),
  },
  { title: 'Job of an event' },
);

const ended = {
  connection: Connection,
  job: Job,
  ended_at: Timestamp('When the sync ended.'),
  rows: orNull('integer', 'Rows that arrived. Null if not reported by the platform.', 12_000),
  bytes: orNull('integer', 'Bytes that arrived. Null if not reported by the platform.', 3_400_000),
};

const Template = Type.Object(
  {
    kind: Enumeration(['source', 'connection'], { description: 'Type of the template.' }),
    id: Uuid('ID of the template.', exampleId),
    name: text('Name of the template or of its destination.', 'Warehouse'),
  },
  { title: 'Template of an event' },
);

const Rollout = Type.Object(
  {
    id: Uuid('ID of the rollout.', exampleId),
    action: Enumeration(['version', 'pause', 'delete'], { description: 'What the rollout does.' }),
    version: count('Version that the rollout applies.', 3),
  },
  { title: 'Rollout of an event' },
);

const CauseRetry = Type.Object(
  {
    id: Uuid('ID of the retry.', exampleId),
    cause: text('Cause that the connections share.', '0f343b0931126a20f133d67c2b018a3b'),
    message: orNull('string', 'Error message of one of the connections.', 'The password is wrong.'),
    code: Type.Optional(reasonFields.code),
    parameters: Type.Optional(reasonFields.parameters),
  },
  { title: 'Cause retry of an event' },
);

const OperatorToken = Type.Object(
  {
    id: Uuid('ID of the operator token.', exampleId),
    name: text('Name of the operator token.', 'backend'),
    permission: Enumeration(operatorPermissions, { description: 'What the token may do.' }),
  },
  { title: 'Operator token of an event' },
);

const Worker = Type.Object(
  { id: Uuid('ID of the worker.', exampleId), name: text('Name of the worker.', 'warehouse-eu-1') },
  { title: 'Worker of an event' },
);

const ConsoleSession = Type.Object(
  {
    id: Uuid('ID of the session.', exampleId),
    kind: Enumeration(['token', 'link', 'oidc'], { description: 'How the person signed in.' }),
    label: text('Who signed in.', 'backend'),
    permission: Enumeration(operatorPermissions, { description: 'What the session may do.' }),
  },
  { title: 'Console session of an event' },
);

const ConsoleLink = Type.Object(
  {
    id: Uuid('ID of the link.', exampleId),
    permission: Enumeration(operatorPermissions, { description: 'What a session from this link may do.' }),
  },
  { title: 'Console link of an event' },
);

const Tag = Type.Object(
  { id: Uuid('ID of the tag.', exampleId), name: text('Name of the tag.', 'crm') },
  { title: 'Tag of an event' },
);
const Key = Type.Object({ id: text('ID of the key.', 'k0123456789abcde') }, { title: 'Key of an event' });

const Definition = Type.Object(
  {
    id: Uuid('ID of the definition.', exampleId),
    kind: Enumeration(['source', 'destination'], { description: 'Type of the connector.' }),
    name: text('Name of the connector.', 'Our CRM'),
  },
  { title: 'Definition of an event' },
);

const usedUp = {
  quota: Enumeration(quotaNames, { description: 'Name of the quota.' }),
  limit: count('The limit.', 1000),
  used: count('Current usage.', 800),
  period_ends_at: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'date-time',
    description: 'When the counter resets. Null for quotas without a period.',
  }),
};

const WebhookEndpoint = Type.Object(
  {
    id: Uuid('ID of the webhook endpoint.', exampleId),
    origin: text("Origin of the endpoint's URL.", 'https://app.example.com'),
    description: orNull('string', 'Purpose of the endpoint.', 'billing'),
  },
  { title: 'Webhook endpoint of an event' },
);

const OAuthClient = Type.Object(
  {
    id: Uuid('ID of the OAuth client.', exampleId),
    name: text('Name of the OAuth client.', 'HubSpot'),
    provider: orNull('string', 'Key of the built-in provider, if it is one.', 'hubspot'),
  },
  { title: 'OAuth client of an event' },
);

const SignIn = Type.Object(
  {
    id: Uuid('ID of the sign-in.', exampleId),
    source_template_id: Uuid('Template of the source.', exampleId),
    source_id: orNull('string', 'Source that is being reconnected. Null for a new source.', exampleId),
    by_link: Type.Boolean({ description: 'Whether the sign-in was started with a link from an operator.' }),
  },
  { title: 'Sign-in of an event' },
);

const Credential = Type.Object(
  {
    id: Uuid('ID of the credential.', exampleId),
    oauth_client_id: Type.Optional(Uuid('The OAuth client. Not visible to customers.', exampleId)),
    source_template_id: Uuid('Template that the customer signed in for.', exampleId),
  },
  { title: 'Credential of an event' },
);

const changed = (example: string) =>
  Type.Array(Type.String(), { description: 'Fields that changed.', examples: [[example]] });

type OfWorkspace = boolean | 'sometimes';

interface Kind<Data extends TObject = TObject> {
  /** When it happens, for the reference. */
  when: string;
  data: Data;
  /** It is about a workspace, whose id and name every entry then has. */
  ofWorkspace: OfWorkspace;
  /** Audit-only entries are not events: they have no event position and are never delivered. */
  isEvent: boolean;
  /** Scoped tokens of the workspace read it. */
  forCustomers: boolean;
  /** Why its entries have no patch. Undefined: every entry says what was before and after. */
  noPatchBecause: Unpatched;
}

/** The reasons why entries have no patch. There are no others. */
type Unpatched = undefined | keyof typeof reasonsWithoutPatch;
export const reasonsWithoutPatch = {
  'of data': 'describes data that moved, or counts, but no change of a setting',
  'of health': 'describes an observation of the service, but no change of a setting',
  'of the trail': 'concerns the audit trail itself, or a request that changed nothing',
  'of a restore': 'everything may have changed',
  'of encryption': 'the stored secrets stay the same and are only re-encrypted',
};

interface Options<W extends OfWorkspace, U extends Unpatched> {
  ofWorkspace: W;
  isEvent?: boolean;
  forCustomers?: boolean;
  noPatchBecause?: U;
}

function kind<P extends TProperties, W extends OfWorkspace, U extends Unpatched = undefined>(
  when: string,
  data: P,
  { ofWorkspace, isEvent = true, forCustomers = false, noPatchBecause }: Options<W, U>,
): Kind<TObject<P>> & { ofWorkspace: W; noPatchBecause: U } {
  return { when, data: Type.Object(data), ofWorkspace, isEvent, forCustomers, noPatchBecause: noPatchBecause as U };
}

const shared = { ofWorkspace: true, forCustomers: true } as const;
const ofWorkspace = { ofWorkspace: true } as const;
const ofOrganization = { ofWorkspace: false } as const;
/** One step of a sign-in: for the audit alone. */
const ofSignIn = { ofWorkspace: true, isEvent: false } as const;
/** About a workspace where its customer made it. */
const sometimes = { ofWorkspace: 'sometimes' } as const;
const ofData = { ...shared, noPatchBecause: 'of data' } as const;
const ofHealth = { ...shared, noPatchBecause: 'of health' } as const;

export const catalogue = {
  'workspace.created': kind('A workspace was created.', {}, ofWorkspace),
  'workspace.adopted': kind('A workspace that already existed on the platform was recorded.', {}, ofWorkspace),
  'workspace.rename_requested': kind(
    'A workspace is being renamed. The new name takes effect once the platform has it.',
    { wanted_name: text('Requested name.', 'acme-ltd') },
    { ofWorkspace: true, isEvent: false },
  ),
  'workspace.renamed': kind(
    'A workspace was renamed, through Inlay or directly on the platform.',
    { previous_name: text('Previous name.', 'acme-inc') },
    ofWorkspace,
  ),
  'workspace.deactivated': kind('A workspace was deactivated, so no syncs run in it.', {}, shared),
  'workspace.activated': kind('A workspace was activated.', {}, shared),
  'workspace.deletion_requested': kind(
    'A workspace is being deleted. Its tokens no longer work.',
    {},
    { ofWorkspace: true, isEvent: false },
  ),
  'workspace.deleted': kind('A workspace was deleted with everything in it.', {}, ofWorkspace),

  'source.created': kind('A customer or an operator connected a source.', { source: Source }, shared),
  'source.updated': kind(
    'The name, configuration or template version of a source changed.',
    { source: Source, changed: changed('name') },
    shared,
  ),
  'source.deletion_requested': kind(
    'A source is being deleted.',
    { source: Source },
    { ofWorkspace: true, isEvent: false },
  ),
  'source.deleted': kind('A source was deleted with its connections.', { source: Source }, shared),
  'source.needs_attention': kind(
    'A source needs somebody to act before data can arrive, for example by signing in again or fixing its configuration.',
    {
      source: Source,
      attention_by: Enumeration(['operator', 'customer'], { description: 'Who has to act.' }),
      problem: Failure,
    },
    ofHealth,
  ),
  'source.recovered': kind('A source no longer needs anybody to act.', { source: Source }, ofHealth),

  'connection.created': kind(
    'A connection from a source to a destination was created.',
    { connection: Connection },
    shared,
  ),
  'connection.updated': kind(
    'The schedule, streams, status or template version of a connection changed.',
    { connection: Connection, changed: changed('cron_expression') },
    shared,
  ),
  'connection.deleted': kind('A connection was deleted.', { connection: Connection }, shared),

  'sync.started': kind('A sync started.', { connection: Connection, job: Job }, ofData),
  'sync.succeeded': kind(
    'A sync succeeded.',
    {
      ...ended,
      warnings: Type.Array(
        Type.Object({
          stream: text('Name of the stream.', 'orders'),
          kind: text('What happened to the values, or `skipped` for whole records that are too large.', 'shortened'),
          count: count('Number of values or records.', 3),
        }),
        { description: 'Values and records that did not arrive unchanged, at most 100.' },
      ),
    },
    ofData,
  ),
  'sync.failed': kind(
    'A sync failed after all its attempts.',
    {
      ...ended,
      reason: Failure,
      first_error: Type.Union([Failure, Type.Null()], {
        description: 'First failure since the last successful sync of the connection.',
      }),
      failures_in_a_row: count('Number of failed syncs since the last success.', 2),
    },
    ofData,
  ),
  'sync.recovered': kind(
    'A sync succeeded after one or more failed syncs of the same connection.',
    {
      connection: Connection,
      job: Job,
      failures_in_a_row: count('Number of failed syncs before the success.', 2),
      failing_since: Timestamp('When the first of them failed.'),
    },
    ofData,
  ),
  'sync.cancelled': kind('A sync was cancelled.', ended, ofData),

  'template.published': kind(
    'A version of a template was published, including the first.',
    {
      template: Template,
      version: count('Version number.', 3),
      copy_of: orNull('integer', 'The version that a rollback repeats.', 1),
    },
    ofOrganization,
  ),
  'template.deleted': kind('A template was deleted.', { template: Template }, ofOrganization),
  'template.rollout_started': kind(
    'A rollout started. It applies a version to existing sources and connections, or pauses or deletes those of a deleted template.',
    { template: Template, rollout: Rollout, workspaces: count('Number of workspaces in the rollout.', 40) },
    ofOrganization,
  ),
  'template.rollout_paused': kind(
    'A rollout was paused.',
    { template: Template, rollout: Rollout, reason: orNull<string>('string', 'Why') },
    { ofWorkspace: false, isEvent: false },
  ),
  'template.rollout_resumed': kind(
    'A rollout was resumed.',
    { template: Template, rollout: Rollout },
    { ofWorkspace: false, isEvent: false },
  ),
  'template.rollout_stopped': kind(
    'A rollout stopped before it reached every workspace.',
    { template: Template, rollout: Rollout, reason: orNull<string>('string', 'Why') },
    ofOrganization,
  ),
  'template.rollout_finished': kind(
    'A rollout reached every workspace.',
    { template: Template, rollout: Rollout },
    ofOrganization,
  ),

  'cause.retry_started': kind(
    'A retry of all connections that fail for the same cause started.',
    { retry: CauseRetry, connections: count('Number of connections.', 200) },
    ofOrganization,
  ),
  'cause.retry_stopped': kind(
    'A retry of a cause stopped before every connection had its turn.',
    { retry: CauseRetry, reason: orNull<string>('string', 'Why') },
    ofOrganization,
  ),
  'cause.retry_finished': kind(
    'A retry of a cause finished. Syncs it started may still be running.',
    { retry: CauseRetry },
    ofOrganization,
  ),

  'view_token.created': kind(
    'Somebody opened the widget as the customer of a workspace sees it. The token is read-only.',
    {
      token_id: text('The `jti` of the token.', '1.aaaaaaaaaaaaaaaaaaaaaa'),
      expires_at: Timestamp('When the token expires.'),
    },
    ofWorkspace,
  ),
  'token.revoked': kind(
    'A scoped or widget token was revoked, or every token of a workspace.',
    {
      all: Type.Boolean({ description: 'Whether all tokens issued so far were revoked.' }),
      token_id: orNull(
        'string',
        'The `jti` of the token. Null if all tokens were revoked.',
        '1.aaaaaaaaaaaaaaaaaaaaaa',
      ),
    },
    ofWorkspace,
  ),
  'operator_token.created': kind('An operator token was created.', { operator_token: OperatorToken }, ofOrganization),
  'operator_token.revoked': kind(
    'An operator token was revoked.',
    { operator_token: OperatorToken, ends_at: Timestamp('When the token stops working.') },
    ofOrganization,
  ),

  'worker.enrolled': kind('A worker was enrolled.', { worker: Worker }, ofOrganization),
  'worker.drained': kind(
    'A worker takes no more syncs and hands back those it runs.',
    { worker: Worker },
    ofOrganization,
  ),
  'worker.resumed': kind('A drained worker takes syncs again.', { worker: Worker }, ofOrganization),
  'worker.revoked': kind("A worker's token was revoked.", { worker: Worker }, ofOrganization),

  'quota.updated': kind(
    'The quotas of the organization changed or, if a workspace is named, those of the workspace.',
    {
      quotas: Type.Record(Type.String(), Type.Unsafe<number | null>({ type: ['integer', 'null'] }), {
        description: 'Current limits by name. Null means no limit.',
        examples: [{ sources: 10 }],
      }),
    },
    { ofWorkspace: 'sometimes' },
  ),
  'quota.warning': kind('A workspace has used 80% of a quota.', usedUp, ofData),
  'quota.reached': kind('A workspace has reached a quota.', usedUp, ofData),

  'key.created': kind('A signing key was created and published.', { key: Key }, ofOrganization),
  'key.retired': kind('A signing key was retired. Tokens it signed stay valid.', { key: Key }, ofOrganization),
  'key.removed': kind('A signing key was removed. Tokens it signed no longer work.', { key: Key }, ofOrganization),
  'key.encryption_rotated': kind(
    'The key that encrypts stored secrets was replaced.',
    { secrets: count('Number of re-encrypted secrets.', 120) },
    { ofWorkspace: false, noPatchBecause: 'of encryption' },
  ),

  'backup.failed': kind(
    'A scheduled backup failed, or old backups could not be deleted. The next one is made on schedule.',
    {
      message: text('What went wrong.', 'The bucket backups does not exist. Check its name or create it.'),
      last_backup_at: Type.Unsafe<string | null>({
        type: ['string', 'null'],
        format: 'date-time',
        description: 'When the last successful scheduled backup was made. Null if there is none.',
        examples: ['2026-01-31T02:30:00.000Z'],
      }),
    },
    { ofWorkspace: false, noPatchBecause: 'of health' },
  ),
  'backup.restored': kind(
    'The data was restored from a backup. Everything that happened after the backup is lost: load the current state from the API. Positions continue after a gap.',
    {
      backup_at: Timestamp('When the backup was made. The data is of this time.'),
      inlay_version: text('Version of Inlay that made the backup.', '1.0.0'),
      credentials: count('Number of credentials whose tokens may have been replaced since the backup.', 3),
    },
    { ofWorkspace: false, noPatchBecause: 'of a restore' },
  ),

  'tag.created': kind('A template tag was created.', { tag: Tag }, ofOrganization),
  'tag.renamed': kind(
    'A tag was renamed on all templates.',
    { tag: Tag, previous_name: text('Previous name.', 'sales') },
    ofOrganization,
  ),
  'tag.deleted': kind('A tag was deleted and removed from all templates.', { tag: Tag }, ofOrganization),

  'definition.created': kind(
    'A connector was added, by the command line or as a manifest of the organization.',
    { definition: Definition },
    ofOrganization,
  ),
  'definition.updated': kind(
    "The name, icon or manifest of one of the organization's connectors changed.",
    { definition: Definition, changed: changed('manifest') },
    ofOrganization,
  ),
  'definition.deleted': kind('A custom connector was removed.', { definition: Definition }, ofOrganization),

  'webhook_endpoint.created': kind('A webhook endpoint was created.', { webhook_endpoint: WebhookEndpoint }, sometimes),
  'webhook_endpoint.updated': kind(
    'The settings of a webhook endpoint changed, or its secret was rotated.',
    { webhook_endpoint: WebhookEndpoint, changed: changed('types') },
    sometimes,
  ),
  'webhook_endpoint.deleted': kind('A webhook endpoint was deleted.', { webhook_endpoint: WebhookEndpoint }, sometimes),
  'webhook_endpoint.failing': kind(
    'A webhook endpoint has been failing for a day and will be disabled if it keeps failing.',
    {
      webhook_endpoint: WebhookEndpoint,
      failing_since: Timestamp('When the endpoint started failing.'),
      disabled_from: Timestamp('When the endpoint will be disabled.'),
      error: orNull('string', 'The last failure.', 'The receiver responded with 503.'),
    },
    { ...sometimes, noPatchBecause: 'of health' },
  ),
  'webhook_endpoint.disabled': kind(
    'A webhook endpoint was disabled because it responded with 410 or failed for five days.',
    {
      webhook_endpoint: WebhookEndpoint,
      reason: Enumeration(['gone', 'failing'], { description: 'Why the endpoint was disabled.' }),
      error: orNull('string', 'The last failure.', 'The receiver responded with 410 (Gone).'),
    },
    sometimes,
  ),
  'webhook_endpoint.recovered': kind(
    'A failing webhook endpoint accepted an event again.',
    { webhook_endpoint: WebhookEndpoint, failing_since: Timestamp('When the endpoint had started failing.') },
    { ...sometimes, noPatchBecause: 'of health' },
  ),

  'sign_in.created': kind('A customer started a sign-in with a provider.', { sign_in: SignIn }, ofSignIn),
  'sign_in.started': kind('A customer was redirected to the provider.', { sign_in: SignIn }, ofSignIn),
  'sign_in.returned': kind('A customer returned from the provider.', { sign_in: SignIn }, ofSignIn),
  'sign_in.unconfirmed': kind(
    'A customer signed in with a different account than before. The account is not used until the customer confirms it.',
    { sign_in: SignIn },
    ofSignIn,
  ),
  'sign_in.connected': kind(
    'A customer signed in.',
    {
      sign_in: SignIn,
      credential_id: orNull('string', 'The resulting credential. Null for a test by an operator.', exampleId),
    },
    ofSignIn,
  ),
  'sign_in.failed': kind(
    'A sign-in failed or took too long.',
    {
      sign_in: SignIn,
      failure: Enumeration(flowFailures, { description: 'Why the sign-in failed.' }),
      missing_scopes: Type.Array(Type.String(), { description: 'Required scopes that were not granted.' }),
      said: orNull('string', 'Message from the provider. Not visible to customers.', 'The app is not approved.'),
    },
    ofWorkspace,
  ),
  'sign_in_link.created': kind(
    'An operator created a link for a customer to connect or reconnect a source.',
    { sign_in: SignIn, expires_at: Timestamp('When the link expires.') },
    ofWorkspace,
  ),

  'oauth_client.created': kind('An OAuth client was created.', { oauth_client: OAuthClient }, ofOrganization),
  'oauth_client.updated': kind(
    'The settings of an OAuth client changed, or its secret was rotated.',
    { oauth_client: OAuthClient, changed: changed('client_secret') },
    ofOrganization,
  ),
  'oauth_client.secret_expiring': kind(
    'The secret of an OAuth client expires soon. Sent once each at 30 days, 7 days and 1 day before.',
    {
      oauth_client: OAuthClient,
      expires_at: Timestamp('When the secret expires.'),
      days: Type.Integer({ description: 'Maximum number of days left: 30, 7 or 1.', examples: [7] }),
    },
    { ...ofOrganization, noPatchBecause: 'of health' },
  ),
  'oauth_client.deleted': kind('An OAuth client was deleted.', { oauth_client: OAuthClient }, ofOrganization),

  'credential.connected': kind(
    'A customer signed in with a provider, for the first time or again.',
    { credential: Credential, again: Type.Boolean({ description: 'Whether the customer had signed in before.' }) },
    shared,
  ),
  'credential.revoked': kind(
    'A credential ended because it was deleted or the provider no longer accepts its tokens.',
    {
      credential: Credential,
      reason: Enumeration(['deleted', 'unused', 'revoked', 'uncertain', 'expired', 'scopes_missing'], {
        description:
          'Why the credential ended. `deleted`: deleted here, with its last source or by an operator. `unused`: no source used it within a day. `revoked`: revoked by the provider. `uncertain`: responses of the provider were lost. `expired`: expired without a way to refresh it. `scopes_missing`: a scope that the template requires is no longer granted.',
      }),
    },
    shared,
  ),
  'credential.expiring': kind(
    'A credential expires within a week and cannot be renewed without the customer.',
    { credential: Credential, expires_at: Timestamp('When the credential expires.') },
    ofHealth,
  ),

  'console_session.created': kind(
    'Somebody signed in to the console.',
    {
      console_session: ConsoleSession,
      operator_token_id: orNull('string', 'The operator token used to sign in.', exampleId),
      console_link_id: orNull('string', 'The link used to sign in.', exampleId),
    },
    ofOrganization,
  ),
  'console_session.ended': kind(
    'A console session was ended before it or its operator token expired.',
    {
      console_session: ConsoleSession,
      reason: Enumeration(['signed_out', 'replaced', 'ended'], {
        description:
          'Why the session ended. `signed_out`: the person signed out. `replaced`: somebody else signed in with the same browser. `ended`: an administrator ended it.',
      }),
    },
    ofOrganization,
  ),
  'console_link.created': kind(
    'A one-time link to the console was created.',
    { console_link: ConsoleLink, expires_at: Timestamp('When the link expires.') },
    ofOrganization,
  ),

  'audit.checkpoint': kind(
    'A checkpoint of the audit trail was signed. Webhook endpoints receive it if they subscribe to `audit.checkpoint` or `audit.*`. Keep it to prove later that no earlier entry was changed.',
    {
      organization_id: Uuid('The organization.', exampleId),
      position: count('Last entry that the checkpoint covers.', 1042),
      hash: text('Hash of that entry.', '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'),
      signed_at: Timestamp('When the checkpoint was signed.'),
      key_id: text('ID of the signing key.', 'k0123456789abcde'),
      cut: checkpointCut,
      signature: text('Ed25519 signature in base64.', 'c2lnbmF0dXJl'),
    },
    { ofWorkspace: false, noPatchBecause: 'of the trail' },
  ),
  'audit.key_created': kind('A key for signing audit checkpoints was created.', { key: Key }, ofOrganization),
  'audit.exported': kind(
    'Somebody exported the audit trail.',
    { format: Enumeration(['jsonl', 'csv'], { description: 'Format of the export.' }) },
    { ofWorkspace: false, isEvent: false, noPatchBecause: 'of the trail' },
  ),
  'audit.erased': kind(
    'Somebody erased personal data from the audit trail.',
    {
      by: Type.Array(Type.String(), {
        description: 'Criteria that selected the entries.',
        examples: [['workspace_id']],
      }),
      fields: Type.Array(Type.String(), { description: 'Fields that were erased.', examples: [['address']] }),
      count: count('Number of erased values.', 12),
      positions: Type.Optional(
        Type.Unsafe<Record<string, string>>({
          type: 'object',
          additionalProperties: { type: 'string' },
          description: 'Positions of the entries that lost a value, by field. Not recorded by earlier versions.',
          examples: [{ address: '3,7-9' }],
        }),
      ),
    },
    { ofWorkspace: 'sometimes', isEvent: false, noPatchBecause: 'of the trail' },
  ),
  'request.refused': kind(
    'A request with a valid token was refused because it lacked permission or came from another origin.',
    {
      method: text('HTTP method.', 'POST'),
      route: text('Route of the request.', '/api/v1/workspaces/sync'),
      reason: Enumeration(['permission', 'organization', 'origin', 'forbidden'], {
        description: 'What was missing: write permission, the right organization, the right origin, or anything else.',
      }),
      count: count('Number of requests. Repeated requests are counted for a minute.', 1),
    },
    { ofWorkspace: 'sometimes', isEvent: false, noPatchBecause: 'of the trail' },
  ),
  'token.refused': kind(
    "Requests had no token or an invalid one. Counted in the audit trail of the deployment's first organization, because such requests belong to no organization.",
    {
      count: count('Number of requests.', 40),
      addresses: count('Number of IP addresses.', 2),
      since: Timestamp('When the first of them arrived.'),
    },
    { ofWorkspace: false, isEvent: false, noPatchBecause: 'of the trail' },
  ),
};

export type Catalogue = typeof catalogue;
export type EntryType = keyof Catalogue;
export type DataOf<T extends EntryType> = Static<Catalogue[T]['data']>;

/** What something was before and after, for the audit. Without secrets: they are replaced by fingerprints. */
export interface Change {
  /** Undefined for something new. */
  before: object | undefined;
  /** Undefined for something that is gone. */
  after: object | undefined;
}

/** An entry as a rule writes it. The name of the workspace is read in the transaction. */
export type Entry = {
  [T in EntryType]: {
    type: T;
    data: DataOf<T>;
    outcome?: 'refused';
  } & (Catalogue[T]['noPatchBecause'] extends undefined ? { change: Change } : { change?: never }) &
    (Catalogue[T]['ofWorkspace'] extends true
      ? { workspaceId: string }
      : Catalogue[T]['ofWorkspace'] extends false
        ? { workspaceId?: never }
        : { workspaceId?: string });
}[EntryType];

export const entryTypes = Object.keys(catalogue) as EntryType[];
export const eventTypes = entryTypes.filter((type) => catalogue[type].isEvent);
export const customerTypes = eventTypes.filter((type) => catalogue[type].forCustomers);

/** The types that one of the patterns means. A pattern may mean none: other versions know other types. */
export function matchingTypes(patterns: readonly string[], among: readonly EntryType[]): EntryType[] {
  return among.filter((type) => patterns.some((pattern) => matches(pattern, type)));
}

function matches(pattern: string, type: string): boolean {
  return pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : pattern === type;
}

export function isForCustomers(type: string): boolean {
  return (customerTypes as readonly string[]).includes(type);
}
