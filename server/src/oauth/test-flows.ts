/**
 * An operator tries out how customers sign in. Nothing is connected: the tokens are looked at, and the provider is told that
 * they have ended.
 */
import type { CredentialRevocation } from '@inlay/contract/credentials';
import type { FlowFailure } from '@inlay/contract/oauth-flows';
import type { Db } from '../db/open.ts';
import type { OAuthContext } from './context.ts';
import { findCredential } from './credentials.store.ts';
import { type FlowSecrets, hashOf, newSecret, openFlow, type TestReport } from './flow-secrets.ts';
import * as flows from './flows.store.ts';
import { type FlowsContext, flowLifeMs, prepareFlow, recordState, startUrl } from './flows.ts';

type TestContext = Pick<
  FlowsContext,
  'store' | 'sealer' | 'runtime' | 'journal' | 'publicUrl' | 'isSecure' | 'findSource' | 'findTemplate'
>;

/** The row of a sign-in belongs to a workspace; a test changes nothing there. */
interface Place {
  organizationId: string;
  workspaceId: string;
}

export async function startTest(
  ctx: TestContext,
  place: Place,
  templateId: string,
  values: Record<string, string>,
): Promise<{ id: string; url: string }> {
  const { organizationId, workspaceId } = place;
  const asked = await prepareFlow(ctx, place, { source_template_id: templateId, values }, () =>
    ctx.findTemplate(organizationId, templateId),
  );
  const handle = newSecret();
  const flow = {
    ...asked.columns,
    id: ctx.runtime.newId(),
    token_id: null,
    origin: null,
    is_framed: 0,
    customer_label: null,
    return_to: null,
    start_hash: hashOf(handle),
  };
  const insert = async (tx: Db) => {
    const row = await flows.insertFlow(tx, organizationId, workspaceId, flow, { lifeMs: flowLifeMs, isTest: true });
    await recordState(ctx, tx, row, undefined);
  };
  await ctx.store.transaction(insert);
  return { id: flow.id, url: startUrl(ctx, handle) };
}

export type TestOutcome =
  | { kind: 'open' }
  | { kind: 'ended'; report: TestReport; leftoverId: string | undefined }
  /** Tokens may have come even so. */
  | { kind: 'failed'; failure: FlowFailure; said: string | null; missing: string[]; leftoverId: string | undefined };

export async function readTest(
  { store, sealer }: Pick<OAuthContext, 'store' | 'sealer'>,
  { organizationId, workspaceId }: Place,
  id: string,
): Promise<TestOutcome> {
  const row = await flows.findFlow(store.db, organizationId, workspaceId, id);
  const isOver = !row || (row.state !== 'connected' && row.expires_at <= (await store.now()));
  const { report, leftoverId }: FlowSecrets = row ? openFlow(sealer, row) : {};
  if (report) return { kind: 'ended', report, leftoverId };
  if (!isOver && row.state !== 'failed') return { kind: 'open' };
  const missing: string[] = JSON.parse(row?.missing_scopes ?? '[]');
  return { kind: 'failed', failure: row?.failure ?? 'expired', said: row?.failure_detail ?? null, missing, leftoverId };
}

export interface RevocationOfTest {
  state: CredentialRevocation;
  /** What the provider said to the last try that did not work. */
  error: string | null;
}

/** Whether the provider was told that the tokens of a test have ended. */
export async function readRevocation(
  { store }: Pick<OAuthContext, 'store'>,
  place: Place,
  leftoverId: string,
): Promise<RevocationOfTest> {
  const row = await findCredential(store.db, { ...place, credentialId: leftoverId });
  return { state: row?.revocation ?? 'done', error: row?.last_error ?? null };
}
