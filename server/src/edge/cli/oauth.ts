/** `inlay oauth test`: an operator signs in as a customer would, and reads what came back. */
import type { TestReport } from '../../credentials/sign-in/flow-secrets.ts';
import {
  failureWords,
  missingIn,
  type RevocationOfTest,
  readRevocation,
  readTest,
  startTest,
  type TestOutcome,
} from '../../credentials/sign-in/test-flows.ts';
import { byCommandLine } from '../../kernel/cause.ts';
import { readConfig } from '../../kernel/config/config.ts';
import { AppError, OperatorError } from '../../kernel/errors.ts';
import { systemRuntime } from '../../kernel/runtime.ts';
import { createJournal } from '../../log/events/journal.ts';
import { findOldestWorkspaceId } from '../../tenancy/workspaces/live-workspaces.ts';
import { chosenOrganization, openOwnSealer, withStoreAsItIs } from './opened-store.ts';
import { print, printJson } from './output.ts';

interface Options {
  organization?: string;
  value?: string[];
  json?: true;
}

const lookEveryMs = 1_000;
/** More than the service takes to look for tokens that have ended, and to ask a slow provider. */
const patienceMs = 30_000;

export async function testSignIn(templateId: string, options: Options): Promise<void> {
  const { config } = readConfig(process.env);
  try {
    await withStoreAsItIs(async (store) => {
      const organizationId = await chosenOrganization(store, options);
      const workspaceId = await findOldestWorkspaceId(store, organizationId);
      if (workspaceId === undefined) {
        throw new OperatorError('No workspaces yet. Request a scoped token for a customer first; that creates one.');
      }
      const ctx = {
        ...{ store, runtime: systemRuntime, publicUrl: config.publicUrl },
        sealer: await openOwnSealer(store),
        journal: createJournal({ runtime: systemRuntime, cause: byCommandLine }),
      };
      const place = { organizationId, workspaceId };
      const { id, url } = await startTest(ctx, place, templateId, valuesOf(options.value ?? []));
      if (!options.json) {
        print(
          'Make sure that the service is running, then open this URL and sign in within ten minutes:',
          '',
          `  ${url}`,
          '',
        );
      } else printJson({ start_url: url });
      let outcome: TestOutcome = { kind: 'open' };
      while (outcome.kind === 'open') {
        await systemRuntime.sleep(lookEveryMs);
        outcome = await readTest(ctx, place, id);
      }
      const { leftoverId } = outcome;
      const revocation = leftoverId === undefined ? undefined : await untilTold(ctx, place, leftoverId);
      const fate = revocation ? ` ${fateOf(revocation)}` : '';
      if (outcome.kind === 'failed') throw new OperatorError(`${failureWords(outcome)}${fate}`);
      if (options.json) printJson({ ...outcome.report, revocation: revocation?.state ?? null });
      else showReport(outcome.report, `Nothing was connected.${fate}`);
    });
  } catch (error) {
    throw error instanceof AppError ? inWords(error) : error;
  }
}

/** The service revokes the tokens and retries for longer than anyone wants to wait here. */
async function untilTold(
  ctx: Parameters<typeof readRevocation>[0],
  place: Parameters<typeof readRevocation>[1],
  leftoverId: string,
): Promise<RevocationOfTest> {
  for (let waitedMs = 0; ; waitedMs += lookEveryMs) {
    const revocation = await readRevocation(ctx, place, leftoverId);
    const isKnown = revocation.state !== 'due' || revocation.error !== null;
    if (isKnown || waitedMs >= patienceMs) return revocation;
    await systemRuntime.sleep(lookEveryMs);
  }
}

/** What has become of the tokens. */
function fateOf({ state, error }: RevocationOfTest): string {
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
      if (at < 1) throw new OperatorError(`--value must be NAME=VALUE, not ${one}.`);
      return [one.slice(0, at), one.slice(at + 1)];
    }),
  );
}

function showReport(report: TestReport, inTheEnd: string) {
  const { asked, granted, account, canTellAccounts, expiresInSeconds, hasRefreshToken, taken } = report;
  const left = missingIn(report);
  print(
    `Signed in${account === null ? '' : ` as ${account}`}.`,
    '',
    `  Scopes requested  ${asked.join(' ') || '(none)'}`,
    `  Scopes granted    ${granted === null ? 'not reported by the provider; assumed as requested' : granted.join(' ') || '(none)'}`,
    ...(left.length > 0 ? [`  Not granted       ${left.join(' ')}`] : []),
    `  Access token      ${expiresInSeconds === null ? 'expiry not reported by the provider' : `expires in ${expiresInSeconds} seconds`}`,
    `  Refresh token     ${hasRefreshToken ? 'yes' : 'no; customers must sign in again when the access token expires'}`,
    `  Account           ${canTellAccounts ? 'identified; a sign-in with a different account is detected' : 'not identified; a sign-in with a different account is not detected'}`,
    ...(taken.length > 0 ? [`  Values            ${taken.join(' ')}`] : []),
    '',
    inTheEnd,
  );
}

function inWords({ code, facts }: AppError): OperatorError {
  switch (code) {
    case 'source_template_not_found':
      return new OperatorError('Source template not found. Check the ID.');
    case 'sign_in_needs_https':
      return new OperatorError('Sign-in requires https. Set INLAY_PUBLIC_URL to an https URL.');
    case 'sign_in_not_possible':
      return new OperatorError("The template's OAuth client was deleted, or its secret must be entered again.");
    case 'invalid_request':
      return new OperatorError(
        'faults' in facts ? facts.faults.map(({ loc, msg }) => `${loc.at(-1)}: ${msg}`).join('\n') : code,
      );
    default:
      return new OperatorError(`The sign-in could not start (${code}).`);
  }
}
