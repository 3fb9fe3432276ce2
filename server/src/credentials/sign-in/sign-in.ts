/**
 * What happens in the browser of a customer who signs in: the start page, which sends the customer to the provider, and the
 * callback, to which the provider sends the customer back.
 *
 * What always holds: nobody is sent to a provider without a click of their own, in a widget within its product or on our
 * page that asks. The `state` is used up, in a transaction of its own, before the code is sent anywhere. Only the browser that
 * started a flow can end it, at the redirect address of the client that it was started with. Neither code, state nor token is
 * logged, or part of an address that stays in the history.
 */
import type { FlowFailure, SignIn } from '@inlay/contract/credentials/oauth-flows';
import { signInOf } from '../../catalog/forms/sign-in.ts';
import { findAnySourceTemplate } from '../../catalog/templates/source-templates.ts';
import type { Cause } from '../../kernel/cause.ts';
import type { Db } from '../../kernel/db/open.ts';
import type { OAuthClientRow, OAuthFlowRow } from '../../kernel/db/tables.ts';
import { AppError } from '../../kernel/errors.ts';
import type { ScopedPrincipal } from '../../kernel/principals.ts';
import { causedBy } from '../../log/events/journal.ts';
import { holdLiveWorkspace } from '../../tenancy/workspaces/live-workspaces.ts';
import { findClient } from '../clients/clients.store.ts';
import { openClient, providerNameOf, redirectUrl } from '../clients/clients.ts';
import { accountIdOf, askAccount, readAccount, takenValues } from '../provider/account.ts';
import {
  CallbackRefused,
  exchangeCode,
  newVerifier,
  type OpenClient,
  signInAddress,
  type TokenResult,
  usesPkce,
} from '../provider/requests.ts';
import { coveredScopes, longestDescription, type Tokens, textIn } from '../provider/token-answers.ts';
import { type GivenTokens, recordCredential, recordLeftover, renewCredential } from '../tokens/credentials.ts';
import { type FlowSecrets, hashOf, newSecret, openFlow, sealFlow, type TestReport } from './flow-secrets.ts';
import * as flows from './flows.store.ts';
import {
  credentialOfSource,
  type FlowsContext,
  flowLifeMs,
  getOwnFlow,
  placeOf,
  presentFlow,
  recordState,
} from './flows.ts';

/** What the customer's browser sends. */
export interface Visit {
  cookie(name: string): string | undefined;
}

/** More than all requests to a provider together may take. After that the flow is over, and the customer can start again. */
const exchangeLifeMs = 2 * 60_000;

export const cookieName = (flowId: string) => `__Host-inlay-sign-in-${flowId}`;

/** What the page that asks has to name. */
export interface Question {
  flow: OAuthFlowRow;
  provider: string;
  scopes: readonly string[];
  /** Where the customer goes next. */
  providerOrigin: string;
}

export type Opened =
  /** The address was never given, is too old, or was used. */
  | { kind: 'over' }
  /** The client cannot be used at the moment. */
  | { kind: 'impossible' }
  | ({ kind: 'question' } & Question);

/** What a start address leads to. Nothing is changed, unless nobody can sign in with the client. */
export async function openStart(ctx: FlowsContext, handle: string, visit: Visit): Promise<Opened> {
  const flow = await flows.findFlowByStart(ctx.store.db, hashOf(handle));
  if (!flow || !canStart(flow, await ctx.store.now(), visit)) return { kind: 'over' };
  const usable = await clientOf(ctx, flow);
  if (!usable) {
    await giveUp(ctx, flow);
    return { kind: 'impossible' };
  }
  const address = await signInAddress(usable.client, { redirectUrl: '', state: '', scopes: [], verifier: undefined });
  return {
    kind: 'question',
    flow,
    provider: providerNameOf(usable.row),
    scopes: JSON.parse(flow.scopes),
    providerOrigin: new URL(address).origin,
  };
}

/** The same as the statement that starts it decides once more. */
function canStart(flow: OAuthFlowRow, now: number, visit: Visit): boolean {
  if (flow.link_until !== null) {
    return flow.link_until > now && ['created', 'started', 'failed'].includes(flow.state);
  }
  if (flow.expires_at <= now) return false;
  const cookie = visit.cookie(cookieName(flow.id));
  // The same browser has gone back.
  const isBack = flow.state === 'started' && cookie !== undefined && hashOf(cookie) === flow.cookie_hash;
  return flow.state === 'created' || isBack;
}

interface UsableClient {
  row: OAuthClientRow;
  client: OpenClient;
}

async function clientOf(ctx: FlowsContext, flow: OAuthFlowRow): Promise<UsableClient | undefined> {
  const { organization_id, oauth_client_id } = flow;
  const row = await findClient(ctx.store.db, organization_id, oauth_client_id);
  const client = row && (await openClient(ctx, organization_id, row.id, JSON.parse(flow.provider_values)));
  return row && client && { row, client };
}

/** So that the widget need not wait. A link can be tried again after the operator has fixed the client. */
async function giveUp(ctx: FlowsContext, flow: OAuthFlowRow): Promise<void> {
  if (flow.link_until !== null) return;
  await end(byVisitor(ctx, flow), flow, flow.state, { state: 'failed', failure: 'not_possible' });
}

/** Undefined: it cannot be started any more. `cookie` is the value of the cookie that the browser has or gets. */
export async function goToProvider(ctx: FlowsContext, flow: OAuthFlowRow, cookie: string): Promise<string | undefined> {
  const usable = await clientOf(ctx, flow);
  if (!usable) return undefined;
  const { client, row } = usable;
  const scopes: string[] = JSON.parse(flow.scopes);
  const state = newSecret();
  const secrets: FlowSecrets = {
    verifier: usesPkce(client.provider) ? newVerifier() : undefined,
    // Without a known issuer an ID token is not read, so nothing could repeat the nonce.
    nonce: scopes.includes('openid') && client.issuer !== null ? newSecret() : undefined,
  };
  const started = await ctx.store.transaction(async (tx) => {
    const changed = await flows.startFlow(
      tx,
      flow.organization_id,
      flow.id,
      {
        state_hash: hashOf(state),
        cookie_hash: hashOf(cookie),
        sealed_secrets: sealFlow(ctx.sealer, flow.id, secrets),
        issuer: client.issuer,
      },
      flowLifeMs,
    );
    // Navigating back and forth starts the same flow several times; the event is recorded once for each state.
    if (changed) await recordState(byVisitor(ctx, changed), tx, changed, flow.state);
    return changed;
  });
  if (!started) return undefined;
  ctx.changed.tell(flow.id);
  const { verifier, nonce } = secrets;
  return await signInAddress(client, { redirectUrl: redirectUrl(ctx.publicUrl, row), state, scopes, verifier, nonce });
}

/** Who opened the page is known by the flow alone. */
export function byVisitor(ctx: FlowsContext, flow: OAuthFlowRow): FlowsContext {
  const actor: Cause['actor'] =
    flow.is_test === 1
      ? { kind: 'command_line', id: null, name: null }
      : flow.token_id === null
        ? { kind: 'sign_in_link', id: flow.id, name: null }
        : { kind: 'scoped_token', id: flow.token_id, name: null };
  return causedBy(ctx, { ...ctx.journal.cause, actor });
}

export interface CameBack {
  flow: OAuthFlowRow;
  /** Until the provider has been asked. A provider may take long. */
  ended: Promise<OAuthFlowRow>;
}

/**
 * The customer is back. Undefined: this address belongs to no flow of this browser, or to one that has ended already;
 * then nothing is changed, and nothing is sent anywhere.
 */
export async function comeBack(
  ctx: FlowsContext,
  callbackKey: string,
  params: URLSearchParams,
  visit: Visit,
): Promise<CameBack | undefined> {
  const state = params.get('state') ?? '';
  const known = await flows.findFlowByState(ctx.store.db, hashOf(state));
  const cookie = known && visit.cookie(cookieName(known.id));
  if (!known || cookie === undefined || hashOf(cookie) !== known.cookie_hash) return undefined;
  const row = await findClient(ctx.store.db, known.organization_id, known.oauth_client_id);
  // The address of another client: a provider that is not the one to which the customer was sent.
  if (row?.callback_key !== callbackKey) return undefined;
  const taken = await ctx.store.transaction(async (tx) => {
    const changed = await flows.takeFlow(tx, known.organization_id, known.id, hashOf(state), exchangeLifeMs);
    if (changed) await recordState(byVisitor(ctx, changed), tx, changed, 'started');
    return changed;
  });
  if (!taken) return undefined;
  ctx.changed.tell(taken.id);
  const by = byVisitor(ctx, taken);
  return { flow: taken, ended: exchange(by, taken, params, state).catch((error) => breakOff(by, taken, error)) };
}

/** Whatever goes wrong here, the customer need not wait for the end of the time. */
async function breakOff(ctx: FlowsContext, flow: OAuthFlowRow, err: unknown): Promise<OAuthFlowRow> {
  ctx.log.error({ err, flowId: flow.id }, 'Sign-in failed unexpectedly');
  return await fail(
    ctx,
    flow,
    'not_possible',
    'The sign-in failed because of an internal error. See the log for details.',
  );
}

async function exchange(
  ctx: FlowsContext,
  flow: OAuthFlowRow,
  params: URLSearchParams,
  state: string,
): Promise<OAuthFlowRow> {
  const usable = await clientOf(ctx, flow);
  if (!usable) return await fail(ctx, flow, 'not_possible');
  // As it was promised when the customer was sent there.
  const client: OpenClient = { ...usable.client, issuer: flow.issuer };
  const { verifier, nonce } = openFlow(ctx.sealer, flow);
  let result: TokenResult;
  try {
    const signIn = { redirectUrl: redirectUrl(ctx.publicUrl, usable.row), state, verifier, nonce };
    result = await exchangeCode(ctx.network, client, params, signIn);
  } catch (error) {
    if (!(error instanceof CallbackRefused)) throw error;
    const isDenied = ['access_denied', 'user_denied', 'consent_required', 'interaction_required'].includes(error.code);
    return await fail(ctx, flow, isDenied ? 'denied' : 'refused', `${error.code}: ${error.message}`);
  }
  const secrets = [params.get('code'), state, verifier, nonce, ...client.secrets];
  switch (result.kind) {
    case 'tokens':
      return await accept(ctx, flow, { ...usable, client }, result, params);
    case 'refused': {
      const said = withoutSecrets(`${result.code}: ${result.description ?? ''}`, secrets);
      ctx.log.warn({ flowId: flow.id, said }, 'Sign-in refused by provider');
      const isOurs = ['invalid_client', 'unauthorized_client'].includes(result.code);
      return await fail(ctx, flow, isOurs ? 'not_possible' : 'refused', said);
    }
    case 'unavailable':
    case 'not_sent':
    case 'lost': {
      const said = withoutSecrets(result.reason, secrets);
      ctx.log.warn({ flowId: flow.id, said }, 'Provider returned no tokens');
      // Not a failure, but no usable tokens either: trying again later does not help.
      const isUseless = result.kind === 'unavailable' && result.status < 400;
      return await fail(ctx, flow, isUseless ? 'refused' : 'unreachable', said);
    }
  }
}

/** Some providers repeat what they were sent. */
function withoutSecrets(text: string, secrets: readonly (string | null | undefined)[]): string {
  return secrets.reduce<string>((said, secret) => (secret ? said.replaceAll(secret, '…') : said), text);
}

/** The provider has given tokens. */
async function accept(
  ctx: FlowsContext,
  flow: OAuthFlowRow,
  { row, client }: UsableClient,
  tokens: Tokens,
  params: URLSearchParams,
): Promise<OAuthFlowRow> {
  const before = await credentialOfSource(ctx, flow);
  const addedTo: string[] = before && client.provider.adds_up_scopes ? JSON.parse(before.scopes) : [];
  const granted = [...new Set([...addedTo, ...(tokens.scopes ?? (JSON.parse(flow.scopes) as string[]))])];
  const template = await findAnySourceTemplate(ctx, flow.organization_id, flow.source_template_id);
  const covered = coveredScopes(client.provider, granted);
  const missing = ((template && signInOf(template))?.scopes ?? []).filter((scope) => !covered.includes(scope));
  const told = { tokens, redirect: params, account: await askAccount(ctx.network, client, tokens) };
  const account = readAccount(client.provider, told);
  const given: GivenTokens = {
    accessToken: tokens.accessToken,
    refreshToken: tokens.refreshToken,
    expiresInSeconds: tokens.expiresInSeconds,
    scopes: granted,
    values: JSON.parse(flow.provider_values),
    taken: takenValues(client.provider, told),
    accountId: accountIdOf(ctx.sealer, row, account),
    accountLabel: account.label,
  };
  if (missing.length > 0) {
    const failure = { state: 'failed', failure: 'scopes_missing', missing_scopes: JSON.stringify(missing) } as const;
    return await end(ctx, flow, 'exchanging', failure, given);
  }
  if (flow.is_test === 1) {
    const report = {
      asked: JSON.parse(flow.scopes),
      granted: tokens.scopes ? coveredScopes(client.provider, tokens.scopes) : null,
      account: account.label,
      canTellAccounts: account.subject !== null,
      expiresInSeconds: tokens.expiresInSeconds ?? null,
      hasRefreshToken: tokens.refreshToken !== undefined,
      taken: Object.keys(given.taken),
    };
    const outcome = { state: 'connected', account_label: account.label } as const;
    return await end(ctx, flow, 'exchanging', outcome, given, report);
  }
  // An account that cannot be distinguished from the previous one needs confirmation too.
  if (before && before.account_id !== null && before.account_id !== given.accountId) {
    const outcome = {
      state: 'unconfirmed',
      failure: 'other_account',
      account_label: account.label,
      sealed_secrets: sealFlow(ctx.sealer, flow.id, { given, receivedAt: await ctx.store.now() }),
      lifeMs: flowLifeMs,
    } as const;
    return await end(ctx, flow, 'exchanging', outcome);
  }
  try {
    return await connect(ctx, flow, 'exchanging', given);
  } catch (error) {
    // The workspace was deleted while the customer signed in; or it took too long, which someone has noted already.
    const code = error instanceof AppError ? error.code : undefined;
    if (code === undefined && !(error instanceof EndedMeanwhile)) throw error;
    const failure = { state: 'failed', failure: 'not_possible', failure_detail: code ?? null } as const;
    return await end(ctx, flow, 'exchanging', failure, given);
  }
}

/** Someone else has ended the flow, for example because it took too long. */
export class EndedMeanwhile extends Error {}

/** Keeps the tokens, and ends the flow. Throws EndedMeanwhile. */
export async function connect(
  ctx: FlowsContext,
  flow: OAuthFlowRow,
  from: OAuthFlowRow['state'],
  given: GivenTokens,
): Promise<OAuthFlowRow> {
  const { organization_id: organizationId, workspace_id: workspaceId } = flow;
  const before = await credentialOfSource(ctx, flow);
  const connected = await ctx.store.transaction(async (tx) => {
    await holdLiveWorkspace(tx, organizationId, workspaceId);
    const credential = before
      ? await renewCredential(ctx, tx, { organizationId, workspaceId, credentialId: before.id }, given)
      : await recordCredential(ctx, tx, {
          ...given,
          organizationId,
          workspaceId,
          oauthClientId: flow.oauth_client_id,
          sourceTemplateId: flow.source_template_id,
          grant: 'authorization_code',
        });
    const ended = await endIn(ctx, tx, flow, from, {
      state: 'connected',
      credential_id: credential.id,
      account_label: given.accountLabel,
      failure: null,
    });
    if (!ended) throw new EndedMeanwhile(`The flow ${flow.id} has ended meanwhile.`);
    return ended;
  });
  ctx.changed.tell(flow.id);
  if (connected.link_until !== null) await ctx.users.connectByLink(ctx.journal.cause, connected);
  return connected;
}

const fail = (ctx: FlowsContext, flow: OAuthFlowRow, failure: FlowFailure, said: string | null = null) =>
  end(ctx, flow, 'exchanging', { state: 'failed', failure, failure_detail: textIn(said, longestDescription) ?? null });

/**
 * Gives the flow as it is then: someone else may have ended it. `unused`: tokens that nobody will use, and that are
 * revoked. `report`: of a test of an operator.
 */
async function end(
  ctx: FlowsContext,
  flow: OAuthFlowRow,
  from: OAuthFlowRow['state'],
  outcome: flows.Outcome,
  unused?: GivenTokens,
  report?: TestReport,
): Promise<OAuthFlowRow> {
  const isTest = flow.is_test === 1;
  const ended = await ctx.store.transaction(async (tx) => {
    const leftoverId = unused && (await recordLeftover(ctx, tx, { ...unused, ...placeOf(flow) }, { isTest }));
    const secrets = isTest && { sealed_secrets: sealFlow(ctx.sealer, flow.id, { report, leftoverId }) };
    const now = await endIn(ctx, tx, flow, from, { ...outcome, ...secrets });
    return now ?? (await flows.findFlow(tx, flow.organization_id, flow.workspace_id, flow.id)) ?? flow;
  });
  ctx.changed.tell(flow.id);
  return ended;
}

async function endIn(
  ctx: FlowsContext,
  tx: Db,
  flow: OAuthFlowRow,
  from: OAuthFlowRow['state'],
  outcome: flows.Outcome,
): Promise<OAuthFlowRow | undefined> {
  const ended = await flows.endFlow(tx, flow.organization_id, flow.id, from, outcome);
  if (ended) await recordState(ctx, tx, ended, from);
  return ended;
}

/** The flow that this browser has started. */
export async function findOwnFlow(ctx: FlowsContext, flowId: string, visit: Visit): Promise<OAuthFlowRow | undefined> {
  const cookie = visit.cookie(cookieName(flowId));
  return cookie === undefined ? undefined : await flows.findFlowByCookie(ctx.store.db, flowId, hashOf(cookie));
}

/** A customer has signed in with another account than before, and wants to use it. */
export async function confirmFlow(ctx: FlowsContext, principal: ScopedPrincipal, id: string): Promise<SignIn> {
  return await presentFlow(ctx, await useOtherAccount(ctx, await getOwnFlow(ctx, principal, id)));
}

/** The caller has made sure that the customer may confirm this flow. */
export async function useOtherAccount(ctx: FlowsContext, flow: OAuthFlowRow): Promise<OAuthFlowRow> {
  const now = await ctx.store.now();
  const { given, receivedAt = now } = openFlow(ctx.sealer, flow);
  if (flow.state !== 'unconfirmed' || flow.expires_at <= now || !given) throw new AppError('sign_in_not_unconfirmed');
  const { expiresInSeconds } = given;
  const waitedSeconds = Math.ceil((now - receivedAt) / 1000);
  try {
    return await connect(ctx, flow, 'unconfirmed', {
      ...given,
      // The token has become older while the customer thought about it.
      expiresInSeconds: expiresInSeconds === undefined ? undefined : Math.max(1, expiresInSeconds - waitedSeconds),
    });
  } catch (error) {
    if (error instanceof EndedMeanwhile) throw new AppError('sign_in_not_unconfirmed');
    throw error;
  }
}
