/**
 * View tokens: an operator sees what a customer sees.
 *
 * Invariants: a view token reads and never writes, whatever the route. It is valid for at most 15 minutes, and only
 * while the console session or operator token that requested it is valid. Each is recorded in the audit trail.
 */
import type { Cause } from '../../kernel/cause.ts';
import type { Store } from '../../kernel/db/open.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { OperatorPrincipal, Viewer } from '../../kernel/principals.ts';
import type { Journal } from '../../log/events/journal.ts';
import type { TokenSubject } from '../../tenancy/tokens/scoped-tokens.ts';
import type { WidgetTokens, widgetSettingsOf } from '../../tenancy/tokens/widget-tokens.ts';

export interface ViewTokensContext {
  store: Store;
  journal: Journal;
  widgetTokens: Pick<WidgetTokens, 'issueView'>;
  /** Throws `workspace_not_found`. */
  subjectOf(organizationId: string, workspaceId: string): Promise<TokenSubject>;
}

export async function makeViewToken(
  { store, journal, widgetTokens, subjectOf }: ViewTokensContext,
  { organizationId, tokenId, session }: OperatorPrincipal,
  workspaceId: string,
  settings: ReturnType<typeof widgetSettingsOf>,
  cause: Cause,
): Promise<ReturnType<WidgetTokens['issueView']>> {
  const subject = await subjectOf(organizationId, workspaceId);
  const viewer: Viewer = session ? { session: session.id } : { operatorToken: tokenId };
  const issued = widgetTokens.issueView(subject, viewer, settings);
  const expires_at = isoTime(issued.expiresAt);
  await store.transaction((tx) =>
    journal.by(cause).record(tx, organizationId, {
      type: 'view_token.created',
      workspaceId,
      data: { token_id: issued.tokenId, expires_at },
      change: { before: undefined, after: { expires_at } },
    }),
  );
  return issued;
}
