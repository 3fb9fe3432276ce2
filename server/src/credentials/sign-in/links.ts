/**
 * Links with which a customer signs in without a widget: to connect a source of a template, or to connect a source again.
 *
 * Invariants: a link is a flow that an operator has started. Its visitor must consent first. It can be tried
 * until it expires, and connects once.
 */
import type { CreateSignInLinkRequest, SignInLink } from '@inlay/contract/credentials/oauth-flows';
import { findOfferedSourceTemplate } from '../../catalog/templates/source-templates.ts';
import { AppError, invalidRequest } from '../../kernel/errors.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import { holdLiveWorkspace } from '../../tenancy/workspaces/live-workspaces.ts';
import { hashOf, newSecret } from './flow-secrets.ts';
import * as flows from './flows.store.ts';
import { aboutFlow, type FlowsContext, prepareFlow, startUrl } from './flows.ts';

const usualSeconds = 7 * 86_400;

export async function createLink(
  ctx: FlowsContext,
  organizationId: string,
  request: CreateSignInLinkRequest,
): Promise<SignInLink> {
  const { workspace_id: workspaceId, source_id, values, customer_label = null } = request;
  if ((request.source_template_id === undefined) === (source_id === undefined)) {
    const msg = 'send either source_template_id or source_id';
    throw invalidRequest({ loc: ['body', 'source_template_id'], msg, type: 'value_error' });
  }
  // First: a workspace of someone else is answered as one that does not exist, whatever else is wrong.
  await ctx.store.transaction((tx) => holdLiveWorkspace(tx, organizationId, workspaceId));
  const source =
    source_id === undefined ? undefined : await flows.findSource(ctx.store.db, organizationId, workspaceId, source_id);
  if (source_id !== undefined && !source) throw new AppError('source_not_found');
  const source_template_id = source?.source_template_id ?? request.source_template_id ?? '';
  const asked = await prepareFlow(
    ctx,
    { organizationId, workspaceId },
    { source_template_id, ...(source && { source_id: source.id }), ...(values && { values }) },
    await findOfferedSourceTemplate(ctx, organizationId, source_template_id, undefined),
  );
  const handle = newSecret();
  const lifeMs = (request.expires_in_seconds ?? usualSeconds) * 1000;
  const made = await ctx.store.transaction(async (tx) => {
    await holdLiveWorkspace(tx, organizationId, workspaceId);
    const flow = {
      ...asked.columns,
      id: ctx.runtime.newId(),
      token_id: null,
      origin: null,
      is_framed: 0,
      customer_label,
      return_to: null,
      start_hash: hashOf(handle),
    };
    const row = await flows.insertFlow(tx, organizationId, workspaceId, flow, { lifeMs, isLink: true });
    await ctx.journal.record(tx, organizationId, {
      type: 'sign_in_link.created',
      workspaceId,
      data: { sign_in: aboutFlow(row), expires_at: isoTime(row.expires_at) },
      change: { before: undefined, after: { state: row.state, customer_label, expires_at: isoTime(row.expires_at) } },
    });
    return row;
  });
  return { id: made.id, url: startUrl(ctx, handle), expires_at: isoTime(made.expires_at) };
}
