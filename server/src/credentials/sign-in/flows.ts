/**
 * Flows: one flow is one attempt of a customer to sign in with a provider. Here is what the API shows of them: starting one,
 * reading its outcome, and how each ends with its workspace. sign-in.ts has what happens in the customer's browser,
 * links.ts the flows that an operator starts, test-flows.ts those that connect nothing.
 *
 * Invariants: a flow belongs to one workspace, one template and one client, and its row is its whole state; `state`
 * contains none of it. The start URL is returned once. Its tokens are used only after the customer has granted
 * everything that the template requires, with the same account as before or with a different one that was confirmed.
 */
import { maskSecrets, replaceSecrets } from '@inlay/contract/catalog/connector-configuration';
import type { TemplateOAuth } from '@inlay/contract/catalog/template-oauth';
import type { EnteredSource, FlowState, SignIn, StartSignInRequest } from '@inlay/contract/credentials/oauth-flows';
import { definitionOf, findDefinition } from '../../catalog/definitions/definitions.ts';
import { signInOf } from '../../catalog/forms/sign-in.ts';
import {
  findAnySourceTemplate,
  findOfferedSourceTemplate,
  type SourceTemplate,
} from '../../catalog/templates/source-templates.ts';
import { isLoopback } from '../../kernel/config/config.ts';
import type { Db, Store } from '../../kernel/db/open.ts';
import type { CredentialRow, OAuthClientRow, OAuthFlowRow } from '../../kernel/db/tables.ts';
import { AppError, invalidRequest } from '../../kernel/errors.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { ScopedPrincipal } from '../../kernel/principals.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { Sealer } from '../../kernel/sealing.ts';
import type { Journal } from '../../log/events/journal.ts';
import { findOrganization } from '../../tenancy/organizations/organizations.ts';
import type { FrameProofs } from '../../tenancy/tokens/frame-proofs.ts';
import { findClient } from '../clients/clients.store.ts';
import { openClient, providerOf } from '../clients/clients.ts';
import type { OAuthContext, RecordContext } from '../context.ts';
import { checkValues, WrongValue } from '../provider/addresses.ts';
import * as credentials from '../tokens/credentials.store.ts';
import { recordEnd, recordLeftover } from '../tokens/credentials.ts';
import { hashOf, newSecret, openEntered, openFlow, sealEntered } from './flow-secrets.ts';
import * as flows from './flows.store.ts';

export interface FlowsContext extends OAuthContext {
  /** Whether the page of a widget was loaded into a frame. */
  frameProofs: FrameProofs;
  /** Wakes the requests that wait for a flow. */
  changed: Changes;
  /** How long a customer looks at an empty window before reading that the provider has not answered yet. */
  patienceMs?: number | undefined;
}

/** How long a start address, and later a `state`, can be used. */
export const flowLifeMs = 10 * 60_000;
/** More at a time no customer needs; a program that goes wrong must not fill the store. */
const mostOpenFlows = 50;

export async function startFlow(
  ctx: FlowsContext,
  principal: ScopedPrincipal,
  request: StartSignInRequest,
): Promise<SignIn> {
  const { organizationId, workspaceId, allowedOrigin, templateFilters } = principal;
  const offered = await findOfferedSourceTemplate(ctx, organizationId, request.source_template_id, templateFilters);
  const asked = await prepareFlow(ctx, { organizationId, workspaceId }, request, offered);
  const { frame_proof, return_to = null, offer_later = false } = request;
  if (return_to !== null) assertMayReturn(asked.oauth, return_to, allowedOrigin);
  const isFramed =
    frame_proof !== undefined &&
    allowedOrigin !== undefined &&
    ctx.frameProofs.isValid(frame_proof, { workspaceId, allowedOrigin });
  const handle = newSecret();
  const id = ctx.runtime.newId();
  const sealed_entered = sealEntered(ctx.sealer, id, await enteredIn(ctx, organizationId, request));
  const made = await ctx.store.transaction(async (tx) => {
    if ((await flows.countOpenFlows(tx, organizationId, workspaceId)) >= mostOpenFlows) {
      throw new AppError('rate_limited', { retryAfterSeconds: 60 });
    }
    const flow = {
      ...asked.columns,
      id,
      token_id: principal.jti,
      origin: allowedOrigin ?? null,
      is_framed: isFramed ? 1 : 0,
      customer_label: principal.customerLabel ?? null,
      return_to,
      start_hash: hashOf(handle),
      sealed_entered,
      offer_later: offer_later || return_to !== null ? 1 : 0,
    };
    const row = await flows.insertFlow(tx, organizationId, workspaceId, flow, { lifeMs: flowLifeMs });
    await recordState(ctx, tx, row, undefined);
    return row;
  });
  return { ...(await presentFlow(ctx, made)), start_url: startUrl(ctx, handle) };
}

/** What may be kept of what the customer has entered: no secrets, and nothing while nobody knows what is secret. */
async function enteredIn(
  ctx: FlowsContext,
  organizationId: string,
  { source_template_id, source_id, entered }: StartSignInRequest,
): Promise<EnteredSource | undefined> {
  if (!entered?.source_config) return entered;
  const { source_config: given, ...rest } = entered;
  const template = await findAnySourceTemplate(ctx, organizationId, source_template_id);
  const definition = template && (await findDefinition(ctx, definitionOf(template)));
  if (!definition) return rest;
  const { connectionSpecification: schema } = definition.specification;
  // A source has its secrets already: they are masked.
  const source_config =
    source_id === undefined ? replaceSecrets(schema, given, () => undefined) : maskSecrets(schema, given);
  return { ...rest, source_config };
}

export const startUrl = ({ publicUrl }: { publicUrl: string }, handle: string) => `${publicUrl}/oauth/start/${handle}`;

export interface PreparedFlow {
  oauth: TemplateOAuth;
  columns: Pick<OAuthFlowRow, 'oauth_client_id' | 'source_template_id' | 'source_id' | 'scopes' | 'provider_values'>;
}

/** Everything that can be wrong with a flow before it begins. `offered`: the template, where it is not that of a source. */
export async function prepareFlow(
  ctx: { store: Store; sealer: Sealer; publicUrl: string },
  { organizationId, workspaceId }: { organizationId: string; workspaceId: string },
  request: Pick<StartSignInRequest, 'source_template_id' | 'source_id' | 'values'>,
  offered: SourceTemplate | undefined,
): Promise<PreparedFlow> {
  if (!isSecureAddress(ctx.publicUrl)) throw new AppError('sign_in_needs_https');
  const { db } = ctx.store;
  const { source_id } = request;
  const source =
    source_id === undefined ? undefined : await flows.findSource(db, organizationId, workspaceId, source_id);
  if (source_id !== undefined && source?.source_template_id !== request.source_template_id) {
    throw new AppError('source_not_found');
  }
  const template = source ? await findAnySourceTemplate(ctx, organizationId, source.source_template_id) : offered;
  if (!template) throw new AppError('source_template_not_found');
  const oauth = signInOf(template);
  if (!oauth) {
    const msg = 'this template has no sign-in; send its configuration instead';
    throw invalidRequest({ loc: ['body', 'source_template_id'], msg, type: 'value_error' });
  }
  const client = await findClient(db, organizationId, oauth.oauth_client_id);
  if (!client || !(await openClient(ctx, organizationId, client.id, {}))) throw new AppError('sign_in_not_possible');
  const before = source && (await credentialOf(db, source, client.id));
  const values = request.values ?? (before ? JSON.parse(before.provider_values) : {});
  return {
    oauth,
    columns: {
      oauth_client_id: client.id,
      source_template_id: template.id,
      source_id: source?.id ?? null,
      scopes: JSON.stringify(scopesToAsk(client, oauth, before ? JSON.parse(before.scopes) : [])),
      provider_values: JSON.stringify(valuesOf(client, values)),
    },
  };
}

/** Browsers keep the cookie of a flow, and send fetch metadata, only over https or on this machine. */
function isSecureAddress(publicUrl: string): boolean {
  const { protocol, hostname } = new URL(publicUrl);
  return protocol === 'https:' || isLoopback(hostname);
}

function valuesOf(client: OAuthClientRow, given: Record<string, string>): Record<string, string> {
  try {
    return checkValues(providerOf(client), given);
  } catch (error) {
    if (!(error instanceof WrongValue)) throw error;
    throw invalidRequest(
      ...error.faults.map(({ name, message }) => ({
        loc: ['body', 'values', name],
        msg: message,
        type: 'value_error' as const,
      })),
    );
  }
}

/**
 * Together with what was granted before, because a new grant takes the place of the old one. A provider that adds grants up
 * is asked only for what is missing.
 */
function scopesToAsk(client: OAuthClientRow, oauth: TemplateOAuth, granted: readonly string[]): string[] {
  const provider = providerOf(client);
  const wanted = [...(provider.scopes ?? []), ...(oauth.scopes ?? []), ...(oauth.optional_scopes ?? [])];
  if (!provider.adds_up_scopes) return [...new Set([...wanted, ...granted])];
  const missing = wanted.filter((scope) => !granted.includes(scope));
  return [...new Set(missing.length > 0 ? missing : wanted)];
}

function assertMayReturn(oauth: TemplateOAuth, address: string, allowedOrigin: string | undefined): void {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const listed = (oauth.return_to ?? []).some((one) => URL.canParse(one) && new URL(one).href === url?.href);
  if (url && listed && url.origin === allowedOrigin) return;
  const msg = "this URL is not on the template's list, or not on the token's origin";
  throw invalidRequest({ loc: ['body', 'return_to'], msg, type: 'value_error.url' });
}

export interface Waiting {
  waitMs: number;
  /** The state that the caller knows. */
  known: FlowState | undefined;
  ended: AbortSignal;
}

/**
 * A flow of the caller's workspace. A token for pages of another origin than the one it was begun from finds nothing: its
 * id is part of addresses, and addresses are mailed.
 */
export async function getOwnFlow(
  ctx: FlowsContext,
  { organizationId, workspaceId, allowedOrigin }: ScopedPrincipal,
  id: string,
): Promise<OAuthFlowRow> {
  const row = await flows.findFlow(ctx.store.db, organizationId, workspaceId, id);
  const isElsewhere = row !== undefined && row.origin !== null && ![undefined, row.origin].includes(allowedOrigin);
  if (!row || isElsewhere) throw new AppError('sign_in_not_found');
  return row;
}

/** Waits for another state, if the caller asks for that. */
export async function awaitFlow(
  ctx: FlowsContext,
  principal: ScopedPrincipal,
  id: string,
  { waitMs, known, ended }: Waiting,
): Promise<SignIn> {
  const until = ctx.runtime.elapsed() + waitMs;
  let before = known;
  for (;;) {
    const shown = await presentFlow(ctx, await getOwnFlow(ctx, principal, id));
    before ??= shown.state;
    const left = until - ctx.runtime.elapsed();
    const isFinal = shown.state === 'connected' || shown.state === 'failed';
    if (shown.state !== before || isFinal || left <= 0 || ended.aborted) return shown;
    await ctx.changed.wait(id, left, ended);
  }
}

export async function presentFlow(ctx: FlowsContext, row: OAuthFlowRow): Promise<SignIn> {
  const isOpen = row.state !== 'connected' && row.state !== 'failed';
  const isOver = isOpen && row.expires_at <= (await ctx.store.now());
  const state = isOver ? 'failed' : row.state;
  const failure = isOver ? 'expired' : row.failure;
  const { credential_id } = row;
  const users = await credentials.listUsers(
    ctx.store.db,
    row.organization_id,
    credential_id === null ? [] : [credential_id],
  );
  const [used_by = null] = users.get(credential_id ?? '') ?? [];
  return {
    id: row.id,
    state,
    source_template_id: row.source_template_id,
    source_id: row.source_id,
    used_by,
    values: JSON.parse(row.provider_values),
    entered: openEntered(ctx.sealer, row),
    credential_id,
    account: row.account_label,
    previous_account: state === 'unconfirmed' ? await previousAccount(ctx, row) : null,
    missing_scopes: JSON.parse(row.missing_scopes),
    failure,
    message: failure === null ? null : messages[failure],
    expires_at: isoTime(row.expires_at),
  };
}

export async function previousAccount(ctx: FlowsContext, flow: OAuthFlowRow): Promise<string | null> {
  return (await credentialOfSource(ctx, flow))?.account_label ?? null;
}

/** What the source of a flow is connected with now. */
export async function credentialOfSource(
  { store: { db } }: { store: Store },
  {
    organization_id,
    workspace_id,
    source_id,
    oauth_client_id,
  }: Pick<OAuthFlowRow, 'organization_id' | 'workspace_id' | 'source_id' | 'oauth_client_id'>,
): Promise<CredentialRow | undefined> {
  const source = source_id === null ? undefined : await flows.findSource(db, organization_id, workspace_id, source_id);
  return source && (await credentialOf(db, source, oauth_client_id));
}

/** Undefined if another client got it: the template has changed since, and its grant says nothing about a new one. */
async function credentialOf(
  db: Db,
  { organization_id: organizationId, workspace_id: workspaceId, credential_id: credentialId }: flows.SourceOfFlow,
  oauthClientId: string,
): Promise<CredentialRow | undefined> {
  if (credentialId === null) return undefined;
  const row = await credentials.findCredential(db, { organizationId, workspaceId, credentialId });
  return row?.state !== 'ended' && row?.oauth_client_id === oauthClientId ? row : undefined;
}

/** What customers know the operator's product by; undefined: nobody has said it. */
export async function productOf(
  { store }: FlowsContext,
  { organization_id, origin }: OAuthFlowRow,
): Promise<string | undefined> {
  const { name } = (await findOrganization(store, organization_id)) ?? {};
  // The first organization is made without a name of its own.
  if (name !== undefined && name !== 'default') return name;
  return origin === null ? undefined : new URL(origin).host;
}

/** For customers. Nothing here says anything about the operator's side. */
const messages: Record<NonNullable<SignIn['failure']>, string> = {
  denied: 'You did not agree to connect your account. Start again to sign in.',
  expired: 'The sign-in took too long. Start again.',
  refused: 'The provider rejected the sign-in. Start again.',
  unreachable: "The provider isn't responding. Try again later.",
  scopes_missing: 'Some required permissions were not granted. Start again and agree to all of them.',
  other_account: 'You signed in with a different account than before. Confirm that you want to use it.',
  not_possible: 'Sign-in is not available right now. Contact the support of the application.',
};

/** A flow, as entries of the log name it: there it is a `sign_in`. */
export const aboutFlow = ({ id, source_template_id, source_id, link_until }: OAuthFlowRow) => ({
  id,
  source_template_id,
  source_id,
  by_link: link_until !== null,
});

/** What its tokens belong to. */
export const placeOf = (flow: OAuthFlowRow) => ({
  organizationId: flow.organization_id,
  workspaceId: flow.workspace_id,
  oauthClientId: flow.oauth_client_id,
  sourceTemplateId: flow.source_template_id,
});

/** Records that a flow has come into another state; `before` is undefined for a new one. */
export async function recordState(
  { journal }: { journal: Journal },
  tx: Db,
  row: OAuthFlowRow,
  before: FlowState | undefined,
): Promise<void> {
  const { organization_id, workspace_id: workspaceId, failure } = row;
  const sign_in = aboutFlow(row);
  const change = { before: before && { state: before }, after: { state: row.state } };
  const entry = { workspaceId, change } as const;
  switch (row.state) {
    case 'created':
      return await journal.record(tx, organization_id, { type: 'sign_in.created', ...entry, data: { sign_in } });
    case 'started':
      return await journal.record(tx, organization_id, { type: 'sign_in.started', ...entry, data: { sign_in } });
    case 'exchanging':
      return await journal.record(tx, organization_id, { type: 'sign_in.returned', ...entry, data: { sign_in } });
    case 'unconfirmed':
      return await journal.record(tx, organization_id, { type: 'sign_in.unconfirmed', ...entry, data: { sign_in } });
    case 'connected': {
      const data = { sign_in, credential_id: row.credential_id };
      return await journal.record(tx, organization_id, { type: 'sign_in.connected', ...entry, data });
    }
    case 'failed': {
      const data = {
        sign_in,
        failure: failure ?? 'refused',
        missing_scopes: JSON.parse(row.missing_scopes) as string[],
        said: row.failure_detail,
      };
      return await journal.record(tx, organization_id, { type: 'sign_in.failed', ...entry, data });
    }
  }
}

/** Lets requests wait until a flow has changed. */
export interface Changes {
  wait(flowId: string, ms: number, ended: AbortSignal): Promise<void>;
  tell(flowId: string): void;
}

/** Another replica may make the change: then it is seen with the next look. */
const lookEveryMs = 500;

export function createChanges(runtime: Runtime): Changes {
  const waiting = new Map<string, Set<AbortController>>();
  return {
    async wait(flowId, ms, ended) {
      const woken = new AbortController();
      const wake = () => woken.abort();
      const all = waiting.get(flowId) ?? new Set();
      waiting.set(flowId, all.add(woken));
      ended.addEventListener('abort', wake, { once: true });
      try {
        await runtime.sleep(Math.min(ms, lookEveryMs), woken.signal);
      } finally {
        ended.removeEventListener('abort', wake);
        all.delete(woken);
        if (all.size === 0) waiting.delete(flowId);
      }
    },
    tell(flowId) {
      for (const woken of waiting.get(flowId) ?? []) woken.abort();
    },
  };
}

/**
 * Ends all sign-ins of a workspace, in the transaction that deletes it: credentials, whether a source used them or not,
 * and open flows. Tokens are revoked at the provider as with every other end (revocation.worker.ts). A later sign-in
 * finds no workspace to connect.
 */
export async function endSignIns(
  ctx: RecordContext,
  tx: Db,
  place: { organizationId: string; workspaceId: string },
): Promise<void> {
  for (const { id: credentialId } of await credentials.listLive(tx, place)) {
    const ref = { ...place, credentialId };
    const before = await credentials.lockCredential(tx, ref);
    const after = await credentials.putEnd(tx, ref);
    if (before && after) await recordEnd(ctx.journal, tx, { before, after }, 'deleted');
  }
  for (const flow of await flows.deleteFlows(tx, place)) {
    // Tokens of an account that nobody has confirmed.
    const { given } = openFlow(ctx.sealer, flow);
    if (given) await recordLeftover(ctx, tx, { ...given, ...placeOf(flow) });
  }
}
