/** `inlay oauth test`: an operator signs in as a customer would, and reads what came back. */
import type { OAuthTest, OAuthTestReport } from '@inlay/contract/credentials/oauth-tests';
import { getTest, startTest } from '../../credentials/sign-in/test-flows.ts';
import { byCommandLine } from '../../kernel/cause.ts';
import { readConfig } from '../../kernel/config/config.ts';
import type { Store } from '../../kernel/db/open.ts';
import { AppError, OperatorError } from '../../kernel/errors.ts';
import { systemRuntime } from '../../kernel/runtime.ts';
import { createJournal } from '../../log/events/journal.ts';
import { findOldestWorkspaceId } from '../../tenancy/workspaces/live-workspaces.ts';
import { usageError } from './exit-codes.ts';
import { withInlay } from './inlay.ts';
import { openOwnSealer } from './opened-store.ts';
import { plain, print } from './output.ts';

interface Options {
  organization?: string;
  value?: string[];
  json?: true;
}

const lookEveryMs = 1_000;
/** More than the service takes to look for tokens that have ended, and to ask a slow provider. */
const patienceMs = 30_000;

export async function testSignIn(templateId: string, options: Options): Promise<void> {
  const values = valuesOf(options.value ?? []);
  try {
    await withInlay(options, async ({ ask }) => {
      const body = { source_template_id: templateId, values };
      const { id, start_url } = await ask('POST /integrations/oauth/tests', { body }, ({ store, organizationId }) =>
        startHere(store, organizationId, body),
      );
      if (options.json) print(JSON.stringify({ id, start_url }));
      else {
        print(
          'Make sure that the service is running, then open this URL and sign in within ten minutes:',
          '',
          `  ${start_url}`,
          '',
        );
      }
      const read = () =>
        ask('GET /integrations/oauth/tests/{oauth_test_id}', { ids: [id] }, async ({ store, organizationId }) =>
          getTest({ store, sealer: await openOwnSealer(store) }, organizationId, id),
        );
      let test = await read();
      // The service revokes the tokens afterwards, and retries for longer than anyone wants to wait here.
      const isUnknown = () => test.revocation === 'due' && test.revocation_error === null;
      for (let waitedMs = 0; test.state === 'open' || (isUnknown() && waitedMs < patienceMs); ) {
        await systemRuntime.sleep(lookEveryMs);
        if (test.state !== 'open') waitedMs += lookEveryMs;
        test = await read();
      }
      if (options.json) print(JSON.stringify(test));
      const fate = test.revocation === null ? '' : ` ${fateOf(test.revocation, test.revocation_error)}`;
      if (!test.report) throw new OperatorError(`${test.message}${fate}`);
      if (!options.json) showReport(test.report, `Nothing was connected.${fate}`);
    });
  } catch (error) {
    throw error instanceof AppError ? inWords(error) : error;
  }
}

async function startHere(
  store: Store,
  organizationId: string,
  { source_template_id: templateId, values }: { source_template_id: string; values: Record<string, string> },
): Promise<{ id: string; start_url: string }> {
  const workspaceId = await findOldestWorkspaceId(store, organizationId);
  if (workspaceId === undefined) throw new AppError('workspace_not_found');
  const ctx = {
    ...{ store, runtime: systemRuntime, publicUrl: readConfig(process.env).config.publicUrl },
    sealer: await openOwnSealer(store),
    journal: createJournal({ runtime: systemRuntime, cause: byCommandLine }),
  };
  const { id, url } = await startTest(ctx, { organizationId, workspaceId }, templateId, values);
  return { id, start_url: url };
}

/** What has become of the tokens. */
function fateOf(state: NonNullable<OAuthTest['revocation']>, error: string | null): string {
  switch (state) {
    case 'done':
      return 'The provider revoked the tokens.';
    case 'kept':
      return 'The tokens were not revoked, because a customer uses the same account and could lose access too.';
    case 'impossible':
      return 'The tokens were deleted from Inlay. They could not be revoked at the provider, because it has no revocation_url.';
    case 'failed':
      return `The tokens were deleted from Inlay, but the provider did not revoke them. ${error ?? ''}`.trimEnd();
    case 'due':
      return `The provider has not revoked the tokens yet${error === null ? '' : ` (${error})`}. The service retries automatically.`;
  }
}

/** `subdomain=acme` */
function valuesOf(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((one) => {
      const at = one.indexOf('=');
      if (at < 1) throw usageError(`--value must be NAME=VALUE, not ${one}.`);
      return [one.slice(0, at), one.slice(at + 1)];
    }),
  );
}

function showReport(report: OAuthTestReport, inTheEnd: string) {
  const { account, scopes_asked, scopes_granted: granted, scopes_missing: missing, values } = report;
  const { can_tell_accounts: canTell, expires_in_seconds: seconds, has_refresh_token: hasRefresh } = report;
  print(
    `Signed in${account === null ? '' : ` as ${plain(account)}`}.`,
    '',
    `  Scopes requested  ${scopes_asked.join(' ') || '(none)'}`,
    `  Scopes granted    ${granted === null ? 'not reported by the provider; assumed as requested' : granted.join(' ') || '(none)'}`,
    ...(missing.length > 0 ? [`  Not granted       ${missing.join(' ')}`] : []),
    `  Access token      ${seconds === null ? 'expiry not reported by the provider' : `expires in ${seconds} seconds`}`,
    `  Refresh token     ${hasRefresh ? 'yes' : 'no; customers must sign in again when the access token expires'}`,
    `  Account           ${canTell ? 'identified; a sign-in with a different account is detected' : 'not identified; a sign-in with a different account is not detected'}`,
    ...(values.length > 0 ? [`  Values            ${values.join(' ')}`] : []),
    '',
    inTheEnd,
  );
}

function inWords(error: AppError): Error {
  switch (error.code) {
    case 'source_template_not_found':
      return new OperatorError('Source template not found. Check the ID.');
    case 'sign_in_needs_https':
      return new OperatorError('Sign-in requires https. Set INLAY_PUBLIC_URL to an https URL.');
    case 'sign_in_not_possible':
      return new OperatorError("The template's OAuth client was deleted, or its secret must be entered again.");
    case 'workspace_not_found':
      return new OperatorError('No workspaces yet. Request a scoped token for a customer first; that creates one.');
    default:
      return error;
  }
}
