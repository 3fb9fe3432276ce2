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
        throw new OperatorError('There is no workspace yet. Generate a token first, which makes one.');
      }
      const ctx = {
        ...{ store, runtime: systemRuntime, publicUrl: config.publicUrl },
        sealer: await openOwnSealer(store),
        journal: createJournal({ runtime: systemRuntime, cause: byCommandLine }),
      };
      const place = { organizationId, workspaceId };
      const { id, url } = await startTest(ctx, place, templateId, valuesOf(options.value ?? []));
      if (!options.json) {
        print('Open this address within ten minutes, and sign in. The service has to be running.', '', `  ${url}`, '');
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
      else showReport(outcome.report, `Nothing is connected.${fate}`);
    });
  } catch (error) {
    throw error instanceof AppError ? inWords(error) : error;
  }
}

/** The service tells the provider. It tries for longer than anybody wants to wait here. */
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
      return 'The provider has ended the tokens.';
    case 'kept':
      return 'The provider was not told to end the tokens: a customer uses the same account, and may lose the access as well.';
    case 'impossible':
      return 'The tokens were deleted here. They cannot be ended at the provider: no revocation_url is known.';
    case 'failed':
      return `The tokens were deleted here, but the provider did not end them. ${error ?? ''}`.trimEnd();
    case 'due':
      return `The provider has not ended the tokens yet${error === null ? '' : ` (${error})`}. The service tries again by itself.`;
  }
}

/** `subdomain=acme` */
function valuesOf(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((one) => {
      const at = one.indexOf('=');
      if (at < 1) throw new OperatorError(`Write --value NAME=VALUE, not ${one}.`);
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
    `  Scopes asked for  ${asked.join(' ') || '(none)'}`,
    `  Scopes granted    ${granted === null ? 'as asked: the provider does not say it' : granted.join(' ') || '(none)'}`,
    ...(left.length > 0 ? [`  Not granted       ${left.join(' ')}`] : []),
    `  Access token      ${expiresInSeconds === null ? 'the provider does not say when it ends' : `ends in ${expiresInSeconds} seconds`}`,
    `  Refresh token     ${hasRefreshToken ? 'yes' : 'no: customers sign in again when the access token ends'}`,
    `  Account           ${canTellAccounts ? 'told: another account is noticed' : 'not told: another account is not noticed'}`,
    ...(taken.length > 0 ? [`  Values            ${taken.join(' ')}`] : []),
    '',
    inTheEnd,
  );
}

function inWords({ code, facts }: AppError): OperatorError {
  switch (code) {
    case 'source_template_not_found':
      return new OperatorError('There is no source template with this id.');
    case 'sign_in_needs_https':
      return new OperatorError('Signing in needs https. Set INLAY_PUBLIC_URL to an https address.');
    case 'sign_in_not_possible':
      return new OperatorError('The OAuth client of the template was deleted, or its secret has to be given anew.');
    case 'invalid_request':
      return new OperatorError(
        'faults' in facts ? facts.faults.map(({ loc, msg }) => `${loc.at(-1)}: ${msg}`).join('\n') : code,
      );
    default:
      return new OperatorError(`It was refused: ${code}.`);
  }
}
