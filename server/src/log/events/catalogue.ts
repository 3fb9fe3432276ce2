/**
 * Every type of entry there is, with what it says. One definition gives the types that the compiler checks where an entry is
 * written, `webhooks` of the OpenAPI document, and docs/reference/events.md.
 *
 * What always holds: the catalogue is closed. Later versions add types, and add members to the data of a type, but never
 * take any away. Data holds ids, names, counts and messages for people; no secret, and no configuration. The file is long
 * because the catalogue is one list.
 */

import { flowFailures } from '@inlay/contract/credentials/oauth-flows';
import { Enumeration, operatorPermissions, Timestamp, Uuid } from '@inlay/contract/fields';
import { checkpointCut } from '@inlay/contract/log/audit';
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
    id: Uuid('Its id', exampleId),
    name: text('Its name', 'Shop database'),
    source_template_id: Uuid('The template that it was made from', exampleId),
  },
  { title: 'Source of an event' },
);

const Connection = Type.Object(
  {
    id: Uuid('Its id', exampleId),
    name: text('Source and destination', 'Shop database → Warehouse'),
    source_id: Uuid('Its source', exampleId),
    connection_template_id: Type.Optional(
      Uuid('The template that it was made from; customers do not see it', exampleId),
    ),
  },
  { title: 'Connection of an event' },
);

/** Operators read both texts. Customers read theirs, as `message`. */
const Failure = Type.Object(
  {
    kind: orNull('string', 'What kind of failure', 'config_error'),
    origin: orNull('string', 'Where it comes from', 'source'),
    message: orNull('string', 'What went wrong', 'The password is wrong.'),
    customer_message: Type.Optional(orNull<string>('string', 'The same as customers read it')),
  },
  { title: 'Failure of an event' },
);

const Job = Type.Object(
  { id: text('Id of the job', '1f0e5b7a-6c43-4d19-9b0e-3a52c8d7f416'), started_at: Timestamp('When it began') },
  { title: 'Job of an event' },
);

const ended = {
  connection: Connection,
  job: Job,
  ended_at: Timestamp('When it ended'),
  rows: orNull('integer', 'Rows that arrived; null where the platform does not tell', 12_000),
  bytes: orNull('integer', 'Bytes that arrived; null where the platform does not tell', 3_400_000),
};

const Template = Type.Object(
  {
    kind: Enumeration(['source', 'connection'], { description: 'Which kind of template' }),
    id: Uuid('Its id', exampleId),
    name: text('Its name, or the name of its destination', 'Warehouse'),
  },
  { title: 'Template of an event' },
);

const Rollout = Type.Object(
  {
    id: Uuid('Its id', exampleId),
    action: Enumeration(['version', 'pause', 'delete'], { description: 'What it does' }),
    version: count('The version that it brings', 3),
  },
  { title: 'Rollout of an event' },
);

const CauseRetry = Type.Object(
  {
    id: Uuid('Its id', exampleId),
    cause: text('The cause that the connections have in common', '0f343b0931126a20f133d67c2b018a3b'),
    message: orNull('string', 'What they failed with, as one of them told it', 'The password is wrong.'),
  },
  { title: 'Cause retry of an event' },
);

const OperatorToken = Type.Object(
  {
    id: Uuid('Its id', exampleId),
    name: text('Its name', 'backend'),
    permission: Enumeration(operatorPermissions, { description: 'What it may do' }),
  },
  { title: 'Operator token of an event' },
);

const ConsoleSession = Type.Object(
  {
    id: Uuid('Its id', exampleId),
    kind: Enumeration(['token', 'link', 'oidc'], { description: 'How it began' }),
    label: text('Who signed in', 'backend'),
    permission: Enumeration(operatorPermissions, { description: 'What it may do' }),
  },
  { title: 'Console session of an event' },
);

const ConsoleLink = Type.Object(
  {
    id: Uuid('Its id', exampleId),
    permission: Enumeration(operatorPermissions, { description: 'What its session may do' }),
  },
  { title: 'Console link of an event' },
);

const Tag = Type.Object({ id: Uuid('Its id', exampleId), name: text('Its name', 'crm') }, { title: 'Tag of an event' });
const Key = Type.Object({ id: text('Its id', 'k0123456789abcde') }, { title: 'Key of an event' });

const Definition = Type.Object(
  {
    id: Uuid('Its id', exampleId),
    kind: Enumeration(['source', 'destination'], { description: 'Which kind of connector' }),
    name: text('Its name', 'Our CRM'),
  },
  { title: 'Definition of an event' },
);

const usedUp = {
  quota: Enumeration(quotaNames, { description: 'Which quota' }),
  limit: count('The limit', 1000),
  used: count('How much is used', 800),
  period_ends_at: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'date-time',
    description: 'When counting begins anew; null where nothing is counted by day or month',
  }),
};

const WebhookEndpoint = Type.Object(
  {
    id: Uuid('Its id', exampleId),
    origin: text('Where it leads to', 'https://app.example.com'),
    description: orNull('string', 'What it is for', 'billing'),
  },
  { title: 'Webhook endpoint of an event' },
);

const OAuthClient = Type.Object(
  {
    id: Uuid('Its id', exampleId),
    name: text('Its name', 'HubSpot'),
    provider: orNull('string', 'The known provider, where it is one', 'hubspot'),
  },
  { title: 'OAuth client of an event' },
);

const SignIn = Type.Object(
  {
    id: Uuid('Its id', exampleId),
    source_template_id: Uuid('The template of the source', exampleId),
    source_id: orNull('string', 'The source that is connected again; null: a new one', exampleId),
    by_link: Type.Boolean({ description: 'Whether it was begun with a link that an operator has sent' }),
  },
  { title: 'Sign-in of an event' },
);

const Credential = Type.Object(
  {
    id: Uuid('Its id', exampleId),
    oauth_client_id: Type.Optional(Uuid('The OAuth client; customers do not see it', exampleId)),
    source_template_id: Uuid('The template that its customer signed in for', exampleId),
  },
  { title: 'Credential of an event' },
);

const changed = (example: string) =>
  Type.Array(Type.String(), { description: 'Which members have changed', examples: [[example]] });

type OfWorkspace = boolean | 'sometimes';

interface Kind<Data extends TObject = TObject> {
  /** When it happens, for the reference. */
  when: string;
  data: Data;
  /** It is about a workspace, whose id and name every entry then has. */
  ofWorkspace: OfWorkspace;
  /** An entry for the audit alone is no event: it has no position among the events, and nobody is told of it. */
  isEvent: boolean;
  /** Scoped tokens of the workspace read it. */
  forCustomers: boolean;
  /** Why its entries have no patch. Undefined: every entry says what was before and after. */
  noPatchBecause: Unpatched;
}

/** The reasons why entries have no patch. There are no others. */
type Unpatched = undefined | keyof typeof reasonsWithoutPatch;
export const reasonsWithoutPatch = {
  'of data': 'tells of data that moved, or of counts; no setting is other than before',
  'of health': 'tells what the service has noticed; no setting is other than before',
  'of the trail': 'tells of the trail itself, or of a request that changed nothing',
  'of encryption': 'the stored secrets are the same as before, encrypted with another key',
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
  'workspace.adopted': kind('A workspace that the platform had already is known here now.', {}, ofWorkspace),
  'workspace.rename_requested': kind(
    'Somebody wants a workspace to have another name. It has the name once the platform has it.',
    { wanted_name: text('The wanted name', 'acme-ltd') },
    { ofWorkspace: true, isEvent: false },
  ),
  'workspace.renamed': kind(
    'A workspace has another name, here or by somebody on the platform.',
    { previous_name: text('Its name before', 'acme-inc') },
    ofWorkspace,
  ),
  'workspace.deactivated': kind('A workspace was deactivated: no sync runs in it.', {}, shared),
  'workspace.activated': kind('A workspace was activated.', {}, shared),
  'workspace.deletion_requested': kind(
    'Somebody deletes a workspace. Its tokens are refused from now on.',
    {},
    { ofWorkspace: true, isEvent: false },
  ),
  'workspace.deleted': kind('A workspace is deleted, with everything in it.', {}, ofWorkspace),

  'source.created': kind('A customer, or an operator, connected a source.', { source: Source }, shared),
  'source.updated': kind(
    'The name, the configuration or the version of the template of a source has changed.',
    { source: Source, changed: changed('name') },
    shared,
  ),
  'source.deletion_requested': kind(
    'Somebody deletes a source.',
    { source: Source },
    { ofWorkspace: true, isEvent: false },
  ),
  'source.deleted': kind('A source is deleted, with its connections.', { source: Source }, shared),
  'source.needs_attention': kind(
    'Somebody has to do something, or no data arrives: sign in again, for example, or correct the configuration.',
    {
      source: Source,
      attention_by: Enumeration(['operator', 'customer'], { description: 'Who has to do something' }),
      problem: Failure,
    },
    ofHealth,
  ),
  'source.recovered': kind('Nobody has to do anything about the source any more.', { source: Source }, ofHealth),

  'connection.created': kind('A source has a new connection to a destination.', { connection: Connection }, shared),
  'connection.updated': kind(
    'The schedule, the streams, the status or the version of the template of a connection has changed.',
    { connection: Connection, changed: changed('cron_expression') },
    shared,
  ),
  'connection.deleted': kind('A connection is deleted.', { connection: Connection }, shared),

  'sync.started': kind('A sync has begun.', { connection: Connection, job: Job }, ofData),
  'sync.succeeded': kind(
    'A sync has ended well.',
    {
      ...ended,
      warnings: Type.Array(
        Type.Object({
          stream: text('The stream', 'orders'),
          kind: text('What happened to values; `skipped` for whole records that are too large', 'shortened'),
          count: count('How many values or records', 3),
        }),
        { description: 'Values and records that did not arrive as the source gave them; at most 100' },
      ),
    },
    ofData,
  ),
  'sync.failed': kind(
    'A sync has failed, after all its attempts.',
    {
      ...ended,
      reason: Failure,
      first_error: Type.Union([Failure, Type.Null()], {
        description: 'The first failure since the last success of the connection',
      }),
      failures_in_a_row: count('How many syncs have failed since the last success', 2),
    },
    ofData,
  ),
  'sync.recovered': kind(
    'A sync has succeeded after one or more syncs of its connection had failed.',
    {
      connection: Connection,
      job: Job,
      failures_in_a_row: count('How many syncs had failed', 2),
      failing_since: Timestamp('When the first of them failed'),
    },
    ofData,
  ),
  'sync.cancelled': kind('A sync was cancelled.', ended, ofData),

  'template.published': kind(
    'A template has a new version. The first version is its beginning.',
    {
      template: Template,
      version: count('The number of the version', 3),
      copy_of: orNull('integer', 'The version that it repeats, after a rollback', 1),
    },
    ofOrganization,
  ),
  'template.deleted': kind('A template is deleted.', { template: Template }, ofOrganization),
  'template.rollout_started': kind(
    'A version is on its way to what was made from the template before; or, with another action, what was made from a deleted template is being paused or deleted.',
    { template: Template, rollout: Rollout, workspaces: count('How many workspaces it reaches', 40) },
    ofOrganization,
  ),
  'template.rollout_paused': kind(
    'A rollout waits until it is resumed.',
    { template: Template, rollout: Rollout, reason: orNull<string>('string', 'Why') },
    { ofWorkspace: false, isEvent: false },
  ),
  'template.rollout_resumed': kind(
    'A rollout goes on.',
    { template: Template, rollout: Rollout },
    { ofWorkspace: false, isEvent: false },
  ),
  'template.rollout_stopped': kind(
    'A rollout has ended before it reached every workspace.',
    { template: Template, rollout: Rollout, reason: orNull<string>('string', 'Why') },
    ofOrganization,
  ),
  'template.rollout_finished': kind(
    'A rollout has reached every workspace.',
    { template: Template, rollout: Rollout },
    ofOrganization,
  ),

  'cause.retry_started': kind(
    'All connections that fail for one reason are being tried again.',
    { retry: CauseRetry, connections: count('How many connections', 200) },
    ofOrganization,
  ),
  'cause.retry_stopped': kind(
    'A retry of a cause has ended before every connection had its turn.',
    { retry: CauseRetry, reason: orNull<string>('string', 'Why') },
    ofOrganization,
  ),
  'cause.retry_finished': kind(
    'Every connection of a retry of a cause has had its turn. Syncs that it started may still run.',
    { retry: CauseRetry },
    ofOrganization,
  ),

  'view_token.created': kind(
    'Somebody looks at the widget as the customer of a workspace sees it. The token reads and cannot write.',
    {
      token_id: text('The `jti` of the token', '1.aaaaaaaaaaaaaaaaaaaaaa'),
      expires_at: Timestamp('Until when it works'),
    },
    ofWorkspace,
  ),
  'token.revoked': kind(
    'A scoped or widget token, or every token of a workspace, was revoked.',
    {
      all: Type.Boolean({ description: 'Whether every token issued so far was revoked' }),
      token_id: orNull(
        'string',
        'The `jti` of the token; null where every token was revoked',
        '1.aaaaaaaaaaaaaaaaaaaaaa',
      ),
    },
    ofWorkspace,
  ),
  'operator_token.created': kind('An operator token was made.', { operator_token: OperatorToken }, ofOrganization),
  'operator_token.revoked': kind(
    'An operator token was revoked.',
    { operator_token: OperatorToken, ends_at: Timestamp('From when it is refused') },
    ofOrganization,
  ),

  'quota.updated': kind(
    'The quotas of the organization have changed or, where a workspace is named, those of that workspace.',
    {
      quotas: Type.Record(Type.String(), Type.Unsafe<number | null>({ type: ['integer', 'null'] }), {
        description: 'The limits by name, as they are set there now; null is no limit',
        examples: [{ sources: 10 }],
      }),
    },
    { ofWorkspace: 'sometimes' },
  ),
  'quota.warning': kind('A workspace has used four fifths of a quota.', usedUp, ofData),
  'quota.reached': kind('A workspace has used up a quota.', usedUp, ofData),

  'key.created': kind('A signing key was made and published.', { key: Key }, ofOrganization),
  'key.retired': kind('A signing key signs no more. Tokens that it signed stay valid.', { key: Key }, ofOrganization),
  'key.removed': kind('A signing key was removed. Tokens that it signed are refused.', { key: Key }, ofOrganization),
  'key.encryption_rotated': kind(
    'The key that encrypts stored secrets was replaced.',
    { secrets: count('How many secrets were encrypted anew', 120) },
    { ofWorkspace: false, noPatchBecause: 'of encryption' },
  ),

  'tag.created': kind('A tag of templates was made.', { tag: Tag }, ofOrganization),
  'tag.renamed': kind(
    'A tag has another name, on every template.',
    { tag: Tag, previous_name: text('Its name before', 'sales') },
    ofOrganization,
  ),
  'tag.deleted': kind('A tag was deleted, and taken off every template.', { tag: Tag }, ofOrganization),

  'definition.created': kind(
    'A connector was added: by the command line, or as a manifest of the organization.',
    { definition: Definition },
    ofOrganization,
  ),
  'definition.updated': kind(
    'A connector of the organization has another name, icon or manifest.',
    { definition: Definition, changed: changed('manifest') },
    ofOrganization,
  ),
  'definition.deleted': kind('A connector that was added was removed.', { definition: Definition }, ofOrganization),

  'webhook_endpoint.created': kind('A webhook endpoint was made.', { webhook_endpoint: WebhookEndpoint }, sometimes),
  'webhook_endpoint.updated': kind(
    'The settings of a webhook endpoint have changed, or its secret was rotated.',
    { webhook_endpoint: WebhookEndpoint, changed: changed('types') },
    sometimes,
  ),
  'webhook_endpoint.deleted': kind('A webhook endpoint was deleted.', { webhook_endpoint: WebhookEndpoint }, sometimes),
  'webhook_endpoint.failing': kind(
    'A webhook endpoint has done nothing but fail for a day. It is disabled if that goes on.',
    {
      webhook_endpoint: WebhookEndpoint,
      failing_since: Timestamp('Since when'),
      disabled_from: Timestamp('When it will be disabled'),
      error: orNull('string', 'The last failure', 'The receiver answered with 503.'),
    },
    { ...sometimes, noPatchBecause: 'of health' },
  ),
  'webhook_endpoint.disabled': kind(
    'A webhook endpoint gets no more events: it answered 410, or did nothing but fail for five days.',
    {
      webhook_endpoint: WebhookEndpoint,
      reason: Enumeration(['gone', 'failing'], { description: 'Why' }),
      error: orNull('string', 'The last failure', 'The receiver answered with 410.'),
    },
    sometimes,
  ),
  'webhook_endpoint.recovered': kind(
    'A webhook endpoint that was said to be failing has accepted an event again.',
    { webhook_endpoint: WebhookEndpoint, failing_since: Timestamp('Since when it had failed') },
    { ...sometimes, noPatchBecause: 'of health' },
  ),

  'sign_in.created': kind('A customer wants to sign in with a provider.', { sign_in: SignIn }, ofSignIn),
  'sign_in.started': kind('A customer was sent to the provider.', { sign_in: SignIn }, ofSignIn),
  'sign_in.returned': kind('A customer has come back from the provider.', { sign_in: SignIn }, ofSignIn),
  'sign_in.unconfirmed': kind(
    'A customer has signed in with another account than before. Nothing is used until the customer confirms it.',
    { sign_in: SignIn },
    ofSignIn,
  ),
  'sign_in.connected': kind(
    'A customer has signed in.',
    {
      sign_in: SignIn,
      credential_id: orNull('string', 'What came of it; null after a test of an operator', exampleId),
    },
    ofSignIn,
  ),
  'sign_in.failed': kind(
    'A sign-in has failed, or took too long.',
    {
      sign_in: SignIn,
      failure: Enumeration(flowFailures, { description: 'Why' }),
      missing_scopes: Type.Array(Type.String(), { description: 'What is needed and was not granted' }),
      said: orNull('string', 'What the provider said; customers do not see it', 'The app is not approved.'),
    },
    ofWorkspace,
  ),
  'sign_in_link.created': kind(
    'An operator made a link with which a customer connects a source, or connects it again.',
    { sign_in: SignIn, expires_at: Timestamp('Until when it works') },
    ofWorkspace,
  ),

  'oauth_client.created': kind('An OAuth client was made.', { oauth_client: OAuthClient }, ofOrganization),
  'oauth_client.updated': kind(
    'The settings of an OAuth client have changed, or its secret was rotated.',
    { oauth_client: OAuthClient, changed: changed('client_secret') },
    ofOrganization,
  ),
  'oauth_client.secret_expiring': kind(
    'The secret of an OAuth client ends soon. Told 30 days, 7 days and 1 day ahead, once each.',
    {
      oauth_client: OAuthClient,
      expires_at: Timestamp('When it ends'),
      days: Type.Integer({ description: 'How many days are left at most: 30, 7 or 1', examples: [7] }),
    },
    { ...ofOrganization, noPatchBecause: 'of health' },
  ),
  'oauth_client.deleted': kind('An OAuth client was deleted.', { oauth_client: OAuthClient }, ofOrganization),

  'credential.connected': kind(
    'A customer has signed in with a provider, for the first time or again.',
    { credential: Credential, again: Type.Boolean({ description: 'Whether the customer had signed in before' }) },
    shared,
  ),
  'credential.revoked': kind(
    'A sign-in has ended: it was deleted, or the provider accepts its tokens no more.',
    {
      credential: Credential,
      reason: Enumeration(['deleted', 'unused', 'revoked', 'uncertain', 'expired', 'scopes_missing'], {
        description:
          '`deleted`: here, with its last source or by an operator. `unused`: no source was made with it within a day. `revoked`: by the provider. `uncertain`: answers of the provider were lost. `expired`: there was nothing to refresh it with. `scopes_missing`: a scope that the template requires is no longer granted',
      }),
    },
    shared,
  ),
  'credential.expiring': kind(
    'A sign-in ends within a week, and cannot be renewed without the customer.',
    { credential: Credential, expires_at: Timestamp('When it ends') },
    ofHealth,
  ),

  'console_session.created': kind(
    'Somebody signed in to the console.',
    {
      console_session: ConsoleSession,
      operator_token_id: orNull('string', 'The operator token that it began with', exampleId),
      console_link_id: orNull('string', 'The link that it began with', exampleId),
    },
    ofOrganization,
  ),
  'console_session.ended': kind(
    'A session of the console was ended, before its time or its operator token ended.',
    {
      console_session: ConsoleSession,
      reason: Enumeration(['signed_out', 'replaced', 'ended'], {
        description:
          '`signed_out`: by its user. `replaced`: by another sign-in of the same browser. `ended`: by an administrator',
      }),
    },
    ofOrganization,
  ),
  'console_link.created': kind(
    'A link was made that lets one person into the console, once.',
    { console_link: ConsoleLink, expires_at: Timestamp('Until when it works') },
    ofOrganization,
  ),

  'audit.checkpoint': kind(
    'The audit trail up to a position was signed. Endpoints get it if they ask for `audit.checkpoint` or `audit.*`. Keep it: it proves later that nothing before it was changed.',
    {
      organization_id: Uuid('The organization', exampleId),
      position: count('The last entry of the trail that it covers', 1042),
      hash: text('The hash of that entry', '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'),
      signed_at: Timestamp('When it was signed'),
      key_id: text('Which key signed it', 'k0123456789abcde'),
      cut: checkpointCut,
      signature: text('Ed25519, in base64', 'c2lnbmF0dXJl'),
    },
    { ofWorkspace: false, noPatchBecause: 'of the trail' },
  ),
  'audit.key_created': kind('A key that signs checkpoints of the audit trail was made.', { key: Key }, ofOrganization),
  'audit.exported': kind(
    'Somebody exported the audit trail.',
    { format: Enumeration(['jsonl', 'csv'], { description: 'In which form' }) },
    { ofWorkspace: false, isEvent: false, noPatchBecause: 'of the trail' },
  ),
  'audit.erased': kind(
    'Somebody erased personal fields of the audit trail.',
    {
      by: Type.Array(Type.String(), { description: 'What chose the entries', examples: [['workspace_id']] }),
      fields: Type.Array(Type.String(), { description: 'What was erased', examples: [['address']] }),
      count: count('How many values', 12),
      positions: Type.Optional(
        Type.Unsafe<Record<string, string>>({
          type: 'object',
          additionalProperties: { type: 'string' },
          description: 'The entries that lost the value, for each field. Earlier versions did not record them',
          examples: [{ address: '3,7-9' }],
        }),
      ),
    },
    { ofWorkspace: 'sometimes', isEvent: false, noPatchBecause: 'of the trail' },
  ),
  'request.refused': kind(
    'A request was refused although its token works: it asked for something that it may not do, or came from another origin than its page.',
    {
      method: text('The method', 'POST'),
      route: text('The route', '/api/v1/workspaces/sync'),
      reason: Enumeration(['permission', 'organization', 'origin', 'forbidden'], {
        description: 'What the token lacks: permission to write, the organization, the origin; or anything else',
      }),
      count: count('How many requests; repeated ones are counted for a minute', 1),
    },
    { ofWorkspace: 'sometimes', isEvent: false, noPatchBecause: 'of the trail' },
  ),
  'token.refused': kind(
    'Requests came with no token, or with tokens that do not work. They belong to nobody, so the trail of the first organization of the deployment counts them.',
    {
      count: count('How many requests', 40),
      addresses: count('From how many addresses', 2),
      since: Timestamp('When the first of them came'),
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
