/** The SQL of `oauth_flows`. */
import { formats } from '@inlay/contract/formats';
import { sql } from 'kysely';
import { fromNow, now } from '../db/moments.ts';
import type { Db } from '../db/open.ts';
import type { CredentialRow, OAuthFlowRow } from '../db/tables.ts';

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
>;

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

/** How many sign-ins of a workspace are under way. Links do not count: operators make them. */
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

/** Who opens a start address is known by nothing but the address. */
export async function findFlowByStart(db: Db, startHash: string): Promise<OAuthFlowRow | undefined> {
  return await db.selectFrom('oauth_flows').selectAll().where('start_hash', '=', startHash).executeTakeFirst();
}

/** Who comes back from a provider is known by nothing but the state. */
export async function findFlowByState(db: Db, stateHash: string): Promise<OAuthFlowRow | undefined> {
  return await db.selectFrom('oauth_flows').selectAll().where('state_hash', '=', stateHash).executeTakeFirst();
}

/** Only the browser that began the sign-in has its cookie. The id is from the address of a page, so it may be any text. */
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
 * Uses the state up. Undefined: somebody else has, or it is too late. `lifeMs` is how long the provider may take: a process that
 * ends meanwhile leaves a sign-in that nobody goes on with.
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

export type HeldCredential = Pick<
  CredentialRow,
  'id' | 'oauth_client_id' | 'state' | 'scopes' | 'provider_values' | 'account_id' | 'account_label'
>;

/** What a source is connected with. */
export async function findHeld(
  db: Db,
  organizationId: string,
  workspaceId: string,
  credentialId: string,
): Promise<HeldCredential | undefined> {
  return await db
    .selectFrom('credentials')
    .select(['id', 'oauth_client_id', 'state', 'scopes', 'provider_values', 'account_id', 'account_label'])
    .where('organization_id', '=', organizationId)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', credentialId)
    .where('state', '!=', 'ended')
    .executeTakeFirst();
}
