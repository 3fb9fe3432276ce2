/**
 * Refreshes the tokens of all credentials before they end, in every replica; the lease of a credential lets one of them do
 * it (refresh.ts). Warns about credentials that end and cannot be refreshed.
 */
import { type Repetition, repeatedly } from '../../kernel/background.ts';
import { byWorker } from '../../kernel/cause.ts';
import type { Store } from '../../kernel/db/open.ts';
import type { CredentialRow } from '../../kernel/db/tables.ts';
import { PlatformError } from '../../kernel/platform/platform-port.ts';
import type { OAuthContext } from '../context.ts';
import { makeServiceOwner } from './access.ts';
import * as credentials from './credentials.store.ts';
import { recordExpiring, refOf } from './credentials.ts';
import * as all from './credentials.worker.store.ts';
import { canBeRefreshed, isHandedOver, refresh } from './refresh.ts';

const everyMs = 5_000;
const batch = 200;
const atATime = 20;
/** How long a credential waits whose provider was not asked: its host is left alone for now. */
const waitMs = 30_000;

export interface RefreshWorker extends Repetition {
  /** Does everything that is due now. */
  pass(): Promise<void>;
}

export function createRefreshWorker(ctx: OAuthContext): RefreshWorker {
  const { store, runtime, log } = ctx;

  /** Whether a credential that a platform owns is to be looked after here all the same. */
  async function isOurs(row: CredentialRow): Promise<boolean> {
    const isAsked = await ctx.tokenOwner.isService().catch((err) => {
      if (!(err instanceof PlatformError)) throw err;
      return undefined;
    });
    if (isAsked && (await makeServiceOwner(ctx, refOf(row)))) return true;
    // An earlier version gave its tokens to a platform of ours. What the connector there does not refresh ends for good.
    if (isAsked && !(await isHandedOver(store.db, row))) return true;
    const dueAt = isAsked === undefined ? Math.round((await store.now()) + waitMs * (1 + runtime.random())) : null;
    await credentials.putDue(store.db, refOf(row), row.generation, dueAt);
    return false;
  }

  async function handle(row: CredentialRow): Promise<void> {
    if (row.owner === 'platform' && !(await isOurs(row))) return;
    const now = await store.now();
    const { access_expires_at: end } = row;
    if (!canBeRefreshed(ctx, row) && end !== null && end > now) return await tellOfEnd(ctx, row, end);
    const refreshed = await refresh(ctx, row);
    if (refreshed.kind !== 'later' || refreshed.isAsked) return;
    // Others are not kept waiting behind it.
    const dueAt = Math.round((await store.now()) + waitMs * (1 + runtime.random()));
    await credentials.putDue(store.db, refOf(row), row.generation, dueAt);
  }

  async function pass(stopping?: AbortSignal): Promise<void> {
    const due = await all.listToRefresh(store.db, batch);
    const next = async (): Promise<void> => {
      for (let row = due.shift(); row && !stopping?.aborted; row = due.shift()) {
        const { id: credentialId } = row;
        await handle(row).catch((err) => log.error({ err, credentialId }, 'Credential refresh failed'));
      }
    };
    await Promise.all(Array.from({ length: atATime }, next));
  }

  const pauseMs = () => everyMs * (1 + runtime.random());
  const repetition = repeatedly(ctx, { what: 'Credential refresh pass', pauseMs, work: pass });
  return { ...repetition, pass: () => pass() };
}

/** Whether anybody, of any organization, has signed in with a provider. */
export const hasCredentials = async ({ db }: Store): Promise<boolean> => await all.hasAny(db);

/** Once, a week ahead. The next look is at its end. */
async function tellOfEnd(ctx: OAuthContext, row: CredentialRow, end: number): Promise<void> {
  await ctx.store.transaction(async (tx) => {
    const locked = await credentials.lockCredential(tx, refOf(row));
    if (locked?.generation !== row.generation || locked.refresh_due_at === end) return;
    await credentials.putDue(tx, refOf(row), row.generation, end);
    await recordExpiring(ctx.journal.by(byWorker), tx, row, end);
  });
}
