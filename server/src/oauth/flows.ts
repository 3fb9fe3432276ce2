/**
 * Sign-ins of customers with a provider, as the API shows them: beginning one, asking what became of it, and confirming
 * another account. sign-in.ts has what happens in the customer's browser, links.ts the sign-ins that an operator asks for.
 *
 * What always holds: a sign-in belongs to one workspace, one template and one client, and its row says everything about it.
 * Nothing of it travels in `state`. The start address is told once. Its tokens are used only after the customer has
 * agreed to everything that the template needs, with the account of before, or with another one that was confirmed.
 */
import type { CredentialOwner } from '@inlay/contract/credentials';
import type { FlowState, SignIn, StartSignInRequest } from '@inlay/contract/oauth-flows';
import type { TemplateOAuth } from '@inlay/contract/template-oauth';
import type { Cause } from '../cause.ts';
import type { Db } from '../db/open.ts';
import type { OAuthClientRow, OAuthFlowRow } from '../db/tables.ts';
import { AppError, invalidRequest } from '../errors.ts';
import { isoTime } from '../iso-time.ts';
import type { ScopedPrincipal, TemplateFilters } from '../principals.ts';
import { checkValues, WrongValue } from './addresses.ts';
import { findClient } from './clients.store.ts';
import { openClient, providerOf } from './clients.ts';
import type { OAuthContext } from './context.ts';
import { hashOf, newSecret } from './flow-secrets.ts';
import * as flows from './flows.store.ts';

/** A source template, as far as signing in is concerned. */
export interface SignInTemplate {
  id: string;
  name: string;
  /** Undefined: customers enter keys. */
  oauth: TemplateOAuth | undefined;
}

export interface SignInSource {
  id: string;
  templateId: string;
  /** Null: it has a configuration with keys in it. */
  credentialId: string | null;
}

/** What the rules about sign-ins need from other folders. */
export interface FlowsContext extends OAuthContext {
  /** Browsers send neither fetch metadata nor the cookie of a sign-in over plain http, unless to this machine. */
  isSecure: boolean;
  /** Undefined when there is no such template, or when a token with these filters may not use it. */
  findOffered(
    organizationId: string,
    templateId: string,
    filters: TemplateFilters | undefined,
  ): Promise<SignInTemplate | undefined>;
  /** Finds a template even if it is deleted: its sources still need it. */
  findTemplate(organizationId: string, templateId: string): Promise<SignInTemplate | undefined>;
  /** Throws unless the organization has this workspace, and keeps it until the transaction ends. */
  holdWorkspace(tx: Db, organizationId: string, workspaceId: string): Promise<unknown>;
  findSource(organizationId: string, workspaceId: string, id: string): Promise<SignInSource | undefined>;
  /** Whether the page of the widget with this proof was loaded into a frame. */
  isFramed(proof: string, page: { workspaceId: string; allowedOrigin: string }): boolean;
  /** What customers know the operator's product by; undefined: nobody has said it. */
  productOf(flow: Pick<OAuthFlowRow, 'organization_id' | 'origin'>): Promise<string | undefined>;
  /** Who refreshes the tokens from then on. */
  owner: CredentialOwner;
  /** Makes the source of a link that has connected, or connects it again. */
  connectByLink(cause: Cause, flow: OAuthFlowRow): Promise<void>;
  /** How long a customer looks at an empty window before reading that the provider has not answered yet. */
  patienceMs: number;
  /** Wakes the requests that wait for this sign-in. */
  changed: Changes;
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
  const asked = await prepareFlow(ctx, { organizationId, workspaceId }, request, () =>
    ctx.findOffered(organizationId, request.source_template_id, templateFilters),
  );
  const { frame_proof, return_to = null } = request;
  if (return_to !== null) assertMayReturn(asked.oauth, return_to, allowedOrigin);
  const isFramed =
    frame_proof !== undefined &&
    allowedOrigin !== undefined &&
    ctx.isFramed(frame_proof, { workspaceId, allowedOrigin });
  const handle = newSecret();
  const made = await ctx.store.transaction(async (tx) => {
    if ((await flows.countOpenFlows(tx, organizationId, workspaceId)) >= mostOpenFlows) {
      throw new AppError('rate_limited', { retryAfterSeconds: 60 });
    }
    const flow = {
      ...asked.columns,
      id: ctx.runtime.newId(),
      token_id: principal.jti,
      origin: allowedOrigin ?? null,
      is_framed: isFramed ? 1 : 0,
      customer_label: principal.customerLabel ?? null,
      return_to,
      start_hash: hashOf(handle),
    };
    const row = await flows.insertFlow(tx, organizationId, workspaceId, flow, { lifeMs: flowLifeMs });
    await recordState(ctx, tx, row, undefined);
    return row;
  });
  return { ...(await presentFlow(ctx, made)), start_url: startUrl(ctx, handle) };
}

export const startUrl = ({ publicUrl }: Pick<OAuthContext, 'publicUrl'>, handle: string) =>
  `${publicUrl}/oauth/start/${handle}`;

export interface PreparedFlow {
  template: SignInTemplate;
  oauth: TemplateOAuth;
  columns: Pick<OAuthFlowRow, 'oauth_client_id' | 'source_template_id' | 'source_id' | 'scopes' | 'provider_values'>;
}

/** Everything that can be wrong with a sign-in before it begins. */
export async function prepareFlow(
  ctx: Pick<FlowsContext, 'store' | 'sealer' | 'isSecure' | 'findSource' | 'findTemplate'>,
  { organizationId, workspaceId }: { organizationId: string; workspaceId: string },
  request: Pick<StartSignInRequest, 'source_template_id' | 'source_id' | 'values'>,
  findOffered: () => Promise<SignInTemplate | undefined>,
): Promise<PreparedFlow> {
  if (!ctx.isSecure) throw new AppError('sign_in_needs_https');
  const { source_id } = request;
  const source = source_id === undefined ? undefined : await ctx.findSource(organizationId, workspaceId, source_id);
  if (source_id !== undefined && source?.templateId !== request.source_template_id) {
    throw new AppError('source_not_found');
  }
  const template = source ? await ctx.findTemplate(organizationId, source.templateId) : await findOffered();
  if (!template) throw new AppError('source_template_not_found');
  const { oauth } = template;
  if (!oauth) {
    const msg = 'this template has no sign-in; enter its configuration instead';
    throw invalidRequest({ loc: ['body', 'source_template_id'], msg, type: 'value_error' });
  }
  const client = await findClient(ctx.store.db, organizationId, oauth.oauth_client_id);
  if (!client || !(await openClient(ctx, organizationId, client.id, {}))) throw new AppError('sign_in_not_possible');
  const held = source?.credentialId
    ? await flows.findHeld(ctx.store.db, organizationId, workspaceId, source.credentialId)
    : undefined;
  // Of another client: the template has changed since, and the old grant says nothing about the new one.
  const same = held?.oauth_client_id === client.id ? held : undefined;
  const values = request.values ?? (same ? JSON.parse(same.provider_values) : {});
  return {
    template,
    oauth,
    columns: {
      oauth_client_id: client.id,
      source_template_id: template.id,
      source_id: source?.id ?? null,
      scopes: JSON.stringify(scopesToAsk(client, oauth, same ? JSON.parse(same.scopes) : [])),
      provider_values: JSON.stringify(valuesOf(client, values)),
    },
  };
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
export function scopesToAsk(client: OAuthClientRow, oauth: TemplateOAuth, held: readonly string[]): string[] {
  const provider = providerOf(client);
  const wanted = [...(provider.scopes ?? []), ...(oauth.scopes ?? []), ...(oauth.optional_scopes ?? [])];
  if (!provider.adds_up_scopes) return [...new Set([...wanted, ...held])];
  const missing = wanted.filter((scope) => !held.includes(scope));
  return [...new Set(missing.length > 0 ? missing : wanted)];
}

function assertMayReturn(oauth: TemplateOAuth, address: string, allowedOrigin: string | undefined): void {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const listed = (oauth.return_to ?? []).some((one) => URL.canParse(one) && new URL(one).href === url?.href);
  if (url && listed && url.origin === allowedOrigin) return;
  const msg = 'this address is not on the list of the template, or not of the origin of the token';
  throw invalidRequest({ loc: ['body', 'return_to'], msg, type: 'value_error.url' });
}

export interface Waiting {
  waitMs: number;
  /** The state that the caller knows. */
  known: FlowState | undefined;
  ended: AbortSignal;
}

/** Waits for another state, if the caller asks for that. */
export async function awaitFlow(
  ctx: FlowsContext,
  { organizationId, workspaceId }: ScopedPrincipal,
  id: string,
  { waitMs, known, ended }: Waiting,
): Promise<SignIn> {
  const until = ctx.runtime.elapsed() + waitMs;
  let before = known;
  for (;;) {
    const shown = await presentFlow(ctx, found(await flows.findFlow(ctx.store.db, organizationId, workspaceId, id)));
    before ??= shown.state;
    const left = until - ctx.runtime.elapsed();
    const isFinal = shown.state === 'connected' || shown.state === 'failed';
    if (shown.state !== before || isFinal || left <= 0 || ended.aborted) return shown;
    await ctx.changed.wait(id, left, ended);
  }
}

function found(row: OAuthFlowRow | undefined): OAuthFlowRow {
  if (!row) throw new AppError('sign_in_not_found');
  return row;
}

export async function presentFlow(ctx: FlowsContext, row: OAuthFlowRow): Promise<SignIn> {
  const isOpen = row.state !== 'connected' && row.state !== 'failed';
  const isOver = isOpen && row.expires_at <= (await ctx.store.now());
  const state = isOver ? 'failed' : row.state;
  const failure = isOver ? 'expired' : row.failure;
  return {
    id: row.id,
    state,
    credential_id: row.credential_id,
    account: row.account_label,
    previous_account: state === 'unconfirmed' ? await previousAccount(ctx, row) : null,
    missing_scopes: JSON.parse(row.missing_scopes),
    failure,
    message: failure === null ? null : messages[failure],
    expires_at: isoTime(row.expires_at),
  };
}

async function previousAccount(ctx: FlowsContext, row: OAuthFlowRow): Promise<string | null> {
  const held = await heldBySource(ctx, row);
  return held?.account_label ?? null;
}

/** What the source of a sign-in is connected with now, if the same client got it. */
export async function heldBySource(ctx: FlowsContext, row: OAuthFlowRow): Promise<flows.HeldCredential | undefined> {
  const { organization_id, workspace_id, source_id, oauth_client_id } = row;
  const source = source_id === null ? undefined : await ctx.findSource(organization_id, workspace_id, source_id);
  if (!source?.credentialId) return undefined;
  const held = await flows.findHeld(ctx.store.db, organization_id, workspace_id, source.credentialId);
  return held?.oauth_client_id === oauth_client_id ? held : undefined;
}

/** For customers. Nothing here says anything about the operator's side. */
const messages: Record<NonNullable<SignIn['failure']>, string> = {
  denied: 'You did not agree with the provider. Start again to sign in.',
  expired: 'The sign-in took too long. Start again.',
  refused: 'The provider did not accept the sign-in. Start again.',
  unreachable: 'The provider does not answer at the moment. Try again later.',
  scopes_missing: 'Not everything that is needed was granted. Start again, and agree to everything that is asked for.',
  other_account: 'You signed in with another account than before. Confirm that you want to use it.',
  not_possible: 'Signing in is not possible at the moment. Ask the application that you came from.',
};

/** A sign-in, as entries of the log name it. */
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

/** The entry of a sign-in that has come into another state; `before` is undefined for a new one. */
export async function recordState(
  { journal }: Pick<OAuthContext, 'journal'>,
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

/** Lets requests wait until a sign-in has changed. */
export interface Changes {
  wait(flowId: string, ms: number, ended: AbortSignal): Promise<void>;
  tell(flowId: string): void;
}

/** Another replica may make the change: then it is seen with the next look. */
const lookEveryMs = 500;

export function createChanges({ runtime }: Pick<OAuthContext, 'runtime'>): Changes {
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
