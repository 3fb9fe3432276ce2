/** The SQL of `oauth_flows`. */
import { formats } from '@inlay/contract/text/formats';
import { sql } from 'kysely';
import { fromNow, now } from '../../kernel/db/moments.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { CredentialRow, OAuthFlowRow, SourceRow } from '../../kernel/db/tables.ts';

export type NewFlow = Pick<
  OAuthFlowRow,
  | 'id'
  | 'oauth_client_id'
  | 'source_template_id'
  | 'source_id'
  | 'token_id'
  | 'origin'
  | 'is_framed'
  | 'customer_label'
  | 'return_to'
  | 'start_hash'
  | 'scopes'
  | 'provider_values'
> &
  Partial<Pick<OAuthFlowRow, 'sealed_entered' | 'offer_later'>>;

export async function insertFlow(
  tx: Db,
  organizationId: string,
  workspaceId: string,
  flow: NewFlow,
  { lifeMs, isLink = false, isTest = false }: { lifeMs: number; isLink?: boolean; isTest?: boolean },
): Promise<OAuthFlowRow> {
  return await tx
    .insertInto('oauth_flows')
    .values({
      sealed_entered: '',
      offer_later: 0,
      ...flow,
      organization_id: organizationId,
      workspace_id: workspaceId,
      state: 'created',
      state_hash: null,
      cookie_hash: null,
      sealed_secrets: '',
      issuer: null,
      credential_id: null,
      account_label: null,
      missing_scopes: '[]',
      failure: null,
      failure_detail: null,
      link_until: isLink ? fromNow(lifeMs) : null,
      is_test: isTest ? 1 : 0,
      created_at: now,
      expires_at: fromNow(lifeMs),
      ended_at: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function findFlow(
  db: Db,
  organizationId: string,
  workspaceId: string,
  id: string,
): Promise<OAuthFlowRow | undefined> {
  return await db
    .selectFrom('oauth_flows')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** A test of an operator, in whichever workspace. */
export async function findTestFlow(db: Db, organizationId: string, id: string): Promise<OAuthFlowRow | undefined> {
  return await db
    .selectFrom('oauth_flows')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('is_test', '=', 1)
    .executeTakeFirst();
}

/** How many flows of a workspace are under way. Links do not count: operators make them. */
export async function countOpenFlows(db: Db, organizationId: string, workspaceId: string): Promise<number> {
  const { count } = await db
    .selectFrom('oauth_flows')
    .select(sql<number>`count(*)`.as('count'))
    .where('organization_id', '=', organizationId)
    .where('workspace_id', '=', workspaceId)
    .where('state', 'in', ['created', 'started'])
    .where('link_until', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** The start URL is the only proof of identity of its visitor. */
export async function findFlowByStart(db: Db, startHash: string): Promise<OAuthFlowRow | undefined> {
  return await db.selectFrom('oauth_flows').selectAll().where('start_hash', '=', startHash).executeTakeFirst();
}

/** `state` is the only proof of identity of a visitor who returns from a provider. */
export async function findFlowByState(db: Db, stateHash: string): Promise<OAuthFlowRow | undefined> {
  return await db.selectFrom('oauth_flows').selectAll().where('state_hash', '=', stateHash).executeTakeFirst();
}

/** Only the browser that started the flow has its cookie. The id is from the address of a page, so it may be any text. */
export async function findFlowByCookie(db: Db, id: string, cookieHash: string): Promise<OAuthFlowRow | undefined> {
  if (formats.uuid?.fault(id) !== undefined) return undefined;
  return await db
    .selectFrom('oauth_flows')
    .selectAll()
    .where('id', '=', id)
    .where('cookie_hash', '=', cookieHash)
    .executeTakeFirst();
}

export type Started = Pick<OAuthFlowRow, 'state_hash' | 'cookie_hash' | 'sealed_secrets' | 'issuer'>;

/**
 * Undefined: it cannot be started any more. It can be started once; by the same browser again, which has gone back; and a
 * link until it has connected once.
 */
export async function startFlow(
  tx: Db,
  organizationId: string,
  id: string,
  started: Started,
  lifeMs: number,
): Promise<OAuthFlowRow | undefined> {
  return await tx
    .updateTable('oauth_flows')
    .set({
      ...started,
      state: 'started',
      failure: null,
      failure_detail: null,
      missing_scopes: '[]',
      account_label: null,
      ended_at: null,
      expires_at: fromNow(lifeMs),
    })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where((is) =>
      is.or([
        is.and([
          is('link_until', 'is', null),
          is('expires_at', '>', now),
          is.or([
            is('state', '=', 'created'),
            is.and([is('state', '=', 'started'), is('cookie_hash', '=', started.cookie_hash)]),
          ]),
        ]),
        is.and([is('link_until', '>', now), is('state', 'in', ['created', 'started', 'failed'])]),
      ]),
    )
    .returningAll()
    .executeTakeFirst();
}

/**
 * Uses the state up. Undefined: someone else has, or it is too late. `lifeMs` is how long the provider may take: a process that
 * ends meanwhile leaves a flow that nobody continues.
 */
export async function takeFlow(
  tx: Db,
  organizationId: string,
  id: string,
  stateHash: string,
  lifeMs: number,
): Promise<OAuthFlowRow | undefined> {
  return await tx
    .updateTable('oauth_flows')
    .set({ state: 'exchanging', expires_at: fromNow(lifeMs) })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('state', '=', 'started')
    .where('state_hash', '=', stateHash)
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst();
}

export type Outcome = Pick<OAuthFlowRow, 'state'> &
  Partial<
    Pick<
      OAuthFlowRow,
      'credential_id' | 'account_label' | 'missing_scopes' | 'failure' | 'failure_detail' | 'sealed_secrets'
    >
  > & {
    /** How long there is from now, where it has not ended yet. */
    lifeMs?: number;
  };

/** Undefined: it is no longer in the state in which it was. */
export async function endFlow(
  tx: Db,
  organizationId: string,
  id: string,
  from: OAuthFlowRow['state'],
  { lifeMs, ...outcome }: Outcome,
): Promise<OAuthFlowRow | undefined> {
  return await tx
    .updateTable('oauth_flows')
    .set({
      sealed_secrets: '',
      ...outcome,
      ...(lifeMs === undefined ? { ended_at: now } : { expires_at: fromNow(lifeMs) }),
    })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('state', '=', from)
    .returningAll()
    .executeTakeFirst();
}

export type SourceOfFlow = Pick<
  SourceRow,
  'id' | 'organization_id' | 'workspace_id' | 'source_template_id' | 'credential_id'
>;

/** The source that a flow connects again. Null instead of a credential: it has a configuration with keys in it. */
export async function findSource(
  db: Db,
  organizationId: string,
  workspaceId: string,
  id: string,
): Promise<SourceOfFlow | undefined> {
  return await db
    .selectFrom('sources')
    .select(['id', 'organization_id', 'workspace_id', 'source_template_id', 'credential_id'])
    .where('organization_id', '=', organizationId)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('lifecycle', '=', 'live')
    .executeTakeFirst();
}

/** Gives what is deleted. */
export async function deleteFlows(
  tx: Db,
  { organizationId, workspaceId }: { organizationId: string; workspaceId: string },
): Promise<OAuthFlowRow[]> {
  return await tx
    .deleteFrom('oauth_flows')
    .where('organization_id', '=', organizationId)
    .where('workspace_id', '=', workspaceId)
    .returningAll()
    .execute();
}

/**
 * Credentials whose flow no page remembers, and whose source is yet to be made. Newest first. Only a few are left without a source at a time. `origin`: that of the pages the caller's token is for.
 */
export async function listUnusedCredentials(
  db: Db,
  organizationId: string,
  workspaceId: string,
  { templateId, origin }: { templateId: string | undefined; origin: string | undefined },
): Promise<CredentialRow[]> {
  let query = db
    .selectFrom('credentials')
    .selectAll('credentials')
    .where('credentials.organization_id', '=', organizationId)
    .where('credentials.workspace_id', '=', workspaceId)
    .where('credentials.state', '=', 'connected')
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('oauth_flows')
          .select('oauth_flows.id')
          .where('oauth_flows.organization_id', '=', organizationId)
          .where('oauth_flows.workspace_id', '=', workspaceId)
          .whereRef('oauth_flows.credential_id', '=', 'credentials.id')
          .where((is) =>
            is.or([
              is('oauth_flows.link_until', 'is not', null),
              is.and([
                is('oauth_flows.offer_later', '=', 1),
                ...(origin === undefined
                  ? []
                  : [is.or([is('oauth_flows.origin', 'is', null), is('oauth_flows.origin', '=', origin)])]),
              ]),
            ]),
          )
          .where('oauth_flows.source_id', 'is', null),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('sources')
            .select('sources.id')
            .where('sources.organization_id', '=', organizationId)
            .where('sources.workspace_id', '=', workspaceId)
            .whereRef('sources.credential_id', '=', 'credentials.id')
            .where('sources.deleted_at', 'is', null),
        ),
      ),
    )
    .orderBy('credentials.signed_in_at', 'desc')
    .orderBy('credentials.id')
    .limit(100);
  if (templateId !== undefined) query = query.where('credentials.source_template_id', '=', templateId);
  return await query.execute();
}
