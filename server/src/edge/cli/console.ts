/** The commands about the console: links to sign in with, and who is signed in. */
import type { OperatorPermission } from '@inlay/contract/fields';
import { byCommandLine } from '../../kernel/cause.ts';
import { readConfig } from '../../kernel/config/config.ts';
import type { Store } from '../../kernel/db/open.ts';
import { AppError, OperatorError } from '../../kernel/errors.ts';
import { systemRuntime } from '../../kernel/runtime.ts';
import { createJournal } from '../../log/events/journal.ts';
import { createOperatorTokens } from '../../tenancy/tokens/operator-tokens.ts';
import { makeConsoleLink } from '../console/links.ts';
import { type ConsoleSessions, createConsoleSessions, presentSession } from '../console/sessions.ts';
import { withInlay } from './inlay.ts';
import { chosenOrganization, withStore } from './opened-store.ts';
import { day, print, printJson, table } from './output.ts';

interface Chosen {
  organization?: string;
  json?: true;
}

const journal = createJournal({ runtime: systemRuntime, cause: byCommandLine });

function sessionsOf(store: Store): ConsoleSessions {
  const operatorTokens = createOperatorTokens(store, systemRuntime, journal);
  return createConsoleSessions({ store, runtime: systemRuntime, journal, operatorTokens });
}

export const printLink = (options: Chosen & { permission: OperatorPermission; name: string }) =>
  withStore(async (store) => {
    const { config } = readConfig(process.env);
    if (!config.console) throw new OperatorError('The console is disabled. Set INLAY_CONSOLE=on to enable it.');
    const organizationId = await chosenOrganization(store, options);
    const { permission, name: label } = options;
    const { publicUrl } = config;
    const { url } = await makeConsoleLink(
      { store, runtime: systemRuntime, journal, publicUrl },
      { organizationId, permission, label },
    );
    if (options.json) return printJson({ url });
    print('Sign in to the console with this link. It works once, within 15 minutes:', '', `  ${url}`, '');
    if (config.console.isSecure === undefined) {
      print('Sign-in does not work over plain http. Set INLAY_PUBLIC_URL to an https URL.');
    }
  });

export const showSessions = (options: Chosen) =>
  withInlay(options, async ({ ask }) => {
    const { data: rows } = await ask('GET /console-sessions', {}, async ({ store, organizationId }) => ({
      data: (await sessionsOf(store).list(organizationId)).map(presentSession),
    }));
    if (options.json) return printJson({ data: rows });
    if (rows.length === 0) return print('No one is signed in to the console.');
    table(
      ['ID', { title: 'NAME', isCut: true }, 'SIGN-IN', 'PERMISSION', 'SIGNED IN', 'LAST USED'],
      rows.map((row) => [row.id, row.label, row.kind, row.permission, day(row.created_at), day(row.last_used_at)]),
    );
  });

export const endSession = (id: string, options: Chosen) =>
  withInlay(
    options,
    async ({ ask }) => {
      try {
        await ask('DELETE /console-sessions/{console_session_id}', { ids: [id] }, ({ store, organizationId }) =>
          sessionsOf(store).end(organizationId, id, 'ended', byCommandLine),
        );
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'console_session_not_found') throw error;
        throw new OperatorError(`No active session ${id}. See: inlay console sessions`);
      }
      print('Session ended. Running services reject it within two seconds.');
    },
    withStore,
  );
