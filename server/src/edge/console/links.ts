/**
 * One-time links to the console: for the first sign-in, and for people who have no operator token. The code is in the fragment
 * of the address, which browsers send nowhere; the page spends it when its user says so, never by opening the address.
 *
 * What always holds: a link works once, on whatever replica, and for 15 minutes. It says which organization it is for and what
 * its session may do. Only a hash of the code is stored.
 */
import type { OperatorPermission } from '@inlay/contract/fields';
import type { Cause } from '../../kernel/cause.ts';
import type { Store } from '../../kernel/db/open.ts';
import type { ConsoleLinkRow } from '../../kernel/db/tables.ts';
import { AppError } from '../../kernel/errors.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { Journal } from '../../log/events/journal.ts';
import { findUsableLink, insertLink, spendLink } from './links.store.ts';
import { type ConsoleSessions, hashOf, isSecret, newSecret, type OpenSession, placeOf } from './sessions.ts';

const lifeMs = 15 * 60_000;

interface LinksContext {
  store: Store;
  runtime: Pick<Runtime, 'newId'>;
  journal: Journal;
  publicUrl: string;
}

interface NewLink {
  organizationId: string;
  permission: OperatorPermission;
  /** Whom it is for. */
  label: string;
}

/** Gives the address, which is shown this once. */
export async function makeConsoleLink(
  { store, runtime, journal, publicUrl }: LinksContext,
  { organizationId, permission, label }: NewLink,
): Promise<{ url: string; expiresAt: number }> {
  const code = newSecret();
  const link = await store.transaction(async (tx) => {
    const row = { id: runtime.newId(), hash: hashOf(code), permission, label };
    const made = await insertLink(tx, organizationId, row, lifeMs);
    const data = { console_link: { id: made.id, permission }, expires_at: isoTime(made.expires_at) };
    const change = { before: undefined, after: { permission, label, expires_at: isoTime(made.expires_at) } };
    await journal.record(tx, organizationId, { type: 'console_link.created', data, change });
    return made;
  });
  return { url: `${publicUrl}/console/sign-in#code=${code}`, expiresAt: link.expires_at };
}

interface Spending {
  cause: Cause;
  /** The session that the browser has. */
  present: OpenSession | undefined;
  /** Whether the link may take the place of that session. */
  replace: boolean;
}

/**
 * Throws `console_sign_in_failed` for a code that does not work, and `console_session_present` where the browser has another
 * session; then the link is not used up.
 */
export async function spendConsoleLink(
  ctx: { store: Store; sessions: ConsoleSessions },
  code: string,
  { cause, present, replace }: Spending,
): Promise<Awaited<ReturnType<ConsoleSessions['begin']>>> {
  const link = isSecret(code) ? await findUsableLink(ctx.store.db, hashOf(code)) : undefined;
  if (!link) throw new AppError('console_sign_in_failed');
  if (present && !replace && !isAlike(present, link)) throw new AppError('console_session_present');
  const begun = await ctx.store.transaction(async (tx) => {
    const { organization_id: organizationId, id: linkId, permission, label } = link;
    if (!(await spendLink(tx, organizationId, linkId))) throw new AppError('console_sign_in_failed');
    const session = { organizationId, kind: 'link' as const, permission, label, linkId };
    return await ctx.sessions.begin(tx, session, { cause, replaces: placeOf(present) });
  });
  ctx.sessions.forget();
  return begun;
}

/** Whether nobody would notice the difference. */
function isAlike({ session }: OpenSession, link: ConsoleLinkRow): boolean {
  const { kind, organization_id, permission, label } = session;
  return (
    kind === 'link' &&
    organization_id === link.organization_id &&
    permission === link.permission &&
    label === link.label
  );
}
