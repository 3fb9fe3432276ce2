/**
 * Lets an operator test how customers sign in. Nothing is connected: the tokens are inspected and then revoked at the
 * provider.
 */
import type { CredentialRevocation } from '@inlay/contract/credentials/credentials';
import type { FlowFailure } from '@inlay/contract/credentials/oauth-flows';
import type { OAuthTest, OAuthTestReport } from '@inlay/contract/credentials/oauth-tests';
import { findAnySourceTemplate } from '../../catalog/templates/source-templates.ts';
import type { Db, Store } from '../../kernel/db/open.ts';
import type { OAuthFlowRow } from '../../kernel/db/tables.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Sealer } from '../../kernel/sealing.ts';
import type { RecordContext } from '../context.ts';
import { findCredential } from '../tokens/credentials.store.ts';
import { type FlowSecrets, hashOf, newSecret, openFlow, type TestReport } from './flow-secrets.ts';
import * as flows from './flows.store.ts';
import { flowLifeMs, prepareFlow, recordState, startUrl } from './flows.ts';

interface TestContext extends RecordContext {
  store: Store;
  publicUrl: string;
}

/** The row of a flow belongs to a workspace; a test changes nothing there. */
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
  const template = await findAnySourceTemplate(ctx, organizationId, templateId);
  const asked = await prepareFlow(ctx, place, { source_template_id: templateId, values }, template);
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
  ctx: { store: Store; sealer: Sealer },
  { organizationId, workspaceId }: Place,
  id: string,
): Promise<TestOutcome> {
  return await outcomeOf(ctx, await flows.findFlow(ctx.store.db, organizationId, workspaceId, id));
}

async function outcomeOf(
  { store, sealer }: { store: Store; sealer: Sealer },
  row: OAuthFlowRow | undefined,
): Promise<TestOutcome> {
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

/** Whether the provider revoked the tokens of a test. */
export async function readRevocation(
  { store }: { store: Store },
  place: Place,
  leftoverId: string,
): Promise<RevocationOfTest> {
  const row = await findCredential(store.db, { ...place, credentialId: leftoverId });
  return { state: row?.revocation ?? 'done', error: row?.last_error ?? null };
}

/** For an operator, whichever workspace the test was put into. */
export async function getTest(
  ctx: { store: Store; sealer: Sealer },
  organizationId: string,
  id: string,
): Promise<OAuthTest> {
  const row = await flows.findTestFlow(ctx.store.db, organizationId, id);
  if (!row) throw new AppError('sign_in_not_found');
  const outcome = await outcomeOf(ctx, row);
  if (outcome.kind === 'open') {
    return { id, state: 'open', report: null, failure: null, message: null, revocation: null };
  }
  const place = { organizationId, workspaceId: row.workspace_id };
  const { leftoverId } = outcome;
  const revocation = leftoverId === undefined ? null : (await readRevocation(ctx, place, leftoverId)).state;
  if (outcome.kind === 'ended') {
    const report = presentReport(outcome.report);
    return { id, state: 'succeeded', report, failure: null, message: null, revocation };
  }
  const { failure } = outcome;
  return { id, state: 'failed', report: null, failure, message: failureWords(outcome), revocation };
}

function presentReport(report: TestReport): OAuthTestReport {
  const { asked, granted, account, canTellAccounts, expiresInSeconds, hasRefreshToken, taken } = report;
  return {
    account,
    can_tell_accounts: canTellAccounts,
    scopes_asked: asked,
    scopes_granted: granted,
    scopes_missing: missingIn(report),
    expires_in_seconds: expiresInSeconds,
    has_refresh_token: hasRefreshToken,
    values: taken,
  };
}

export function missingIn({ asked, granted }: Pick<TestReport, 'asked' | 'granted'>): string[] {
  return granted ? asked.filter((scope) => !granted.includes(scope)) : [];
}

type FailedTest = Extract<TestOutcome, { kind: 'failed' }>;

const advice: Record<FailedTest['failure'], string> = {
  denied: 'The provider reports that you declined.',
  expired: 'Nobody signed in within ten minutes.',
  refused: 'The provider rejected the sign-in.',
  unreachable: "The provider isn't responding.",
  scopes_missing: 'Some scopes that the template requires were not granted.',
  other_account: 'A different account signed in.',
  not_possible: 'The provider rejected the OAuth client, or the client cannot be used. Check its client ID and secret.',
};

export function failureWords({ failure, said, missing }: FailedTest): string {
  const lacking = missing.length > 0 ? ` Missing: ${missing.join(' ')}.` : '';
  return `${advice[failure]}${lacking}${said ? ` It said: ${said}` : ''}`;
}
