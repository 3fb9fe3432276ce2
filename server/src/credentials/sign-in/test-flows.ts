/**
 * Lets an operator test how customers sign in. Nothing is connected: the tokens are inspected and then revoked at the
 * provider.
 */
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

type TestOutcome =
  | { kind: 'open' }
  | { kind: 'ended'; report: TestReport; leftoverId: string | undefined }
  /** Tokens may have come even so. */
  | { kind: 'failed'; failure: FlowFailure; said: string | null; missing: string[]; leftoverId: string | undefined };

async function outcomeOf({ store, sealer }: { store: Store; sealer: Sealer }, row: OAuthFlowRow): Promise<TestOutcome> {
  const isOver = row.state !== 'connected' && row.expires_at <= (await store.now());
  const { report, leftoverId }: FlowSecrets = openFlow(sealer, row);
  if (report) return { kind: 'ended', report, leftoverId };
  if (!isOver && row.state !== 'failed') return { kind: 'open' };
  const missing: string[] = JSON.parse(row.missing_scopes ?? '[]');
  return { kind: 'failed', failure: row.failure ?? 'expired', said: row.failure_detail, missing, leftoverId };
}

/** Whether the provider revoked the tokens of a test. */
async function readRevocation(
  { store }: { store: Store },
  place: Place,
  leftoverId: string,
): Promise<Pick<OAuthTest, 'revocation' | 'revocation_error'>> {
  const row = await findCredential(store.db, { ...place, credentialId: leftoverId });
  return { revocation: row?.revocation ?? 'done', revocation_error: row?.last_error ?? null };
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
    const nothing = { report: null, failure: null, message: null, revocation: null, revocation_error: null };
    return { id, state: 'open', ...nothing };
  }
  const place = { organizationId, workspaceId: row.workspace_id };
  const { leftoverId } = outcome;
  const untouched = { revocation: null, revocation_error: null };
  const { revocation, revocation_error } =
    leftoverId === undefined ? untouched : await readRevocation(ctx, place, leftoverId);
  if (outcome.kind === 'ended') {
    const report = presentReport(outcome.report);
    return { id, state: 'succeeded', report, failure: null, message: null, revocation, revocation_error };
  }
  const { failure } = outcome;
  return { id, state: 'failed', report: null, failure, message: failureWords(outcome), revocation, revocation_error };
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

function missingIn({ asked, granted }: Pick<TestReport, 'asked' | 'granted'>): string[] {
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

function failureWords({ failure, said, missing }: FailedTest): string {
  const lacking = missing.length > 0 ? ` Missing: ${missing.join(' ')}.` : '';
  return `${advice[failure]}${lacking}${said ? ` It said: ${said}` : ''}`;
}
