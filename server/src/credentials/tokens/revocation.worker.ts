/**
 * Revokes the tokens of ended credentials at their providers (RFC 7009). The request is stored with the end of the
 * credential (an outbox) and retried until the provider has answered, or for about two weeks. Then the tokens are
 * deleted.
 */
import { type Repetition, repeatedly } from '../../kernel/background.ts';
import type { CredentialRow } from '../../kernel/db/tables.ts';
import { openClient } from '../clients/clients.ts';
import type { OAuthContext } from '../context.ts';
import { revokeToken } from '../provider/requests.ts';
import { openTokens } from './credentials.ts';
import * as all from './credentials.worker.store.ts';

const everyMs = 5_000;
const leaseMs = 60_000;
const batch = 100;
const mostTries = 20;
/** From ten seconds up to a day. */
const pauseAfter = (tries: number, chance: number) =>
  Math.min(86_400_000, 10_000 * 2 ** (tries - 1)) * (0.75 + chance / 2);

export interface Revocations extends Repetition {
  /** Does everything that is due now. */
  pass(): Promise<void>;
}

export function createRevocations(ctx: OAuthContext): Revocations {
  const { store, runtime, log } = ctx;

  async function revoke(id: string): Promise<void> {
    const row = await all.leaseToRevoke(store.db, id, runtime.newId(), leaseMs);
    if (!row) return;
    const end = (revocation: CredentialRow['revocation'], error: string | null = null) =>
      all.putRevocation(store.db, row, { revocation, error });
    const tokens = openTokens(ctx.sealer, row);
    // The platform has the tokens, or nobody.
    if (!tokens) return await end('impossible');
    if (await all.isGrantShared(store.db, row)) return await end('kept');
    const client = await openClient(ctx, row.organization_id, row.oauth_client_id, JSON.parse(row.provider_values));
    if (!client || client.provider.revocation_url === undefined || row.grant_kind !== 'authorization_code') {
      return await end('impossible');
    }
    const revoked = await revokeToken(ctx.network, client, tokens);
    if (revoked.kind === 'done') return await end('done');
    if (row.revoke_tries >= mostTries) return await end('failed', revoked.reason);
    const pauseMs = pauseAfter(row.revoke_tries, runtime.random());
    await all.putRevokeLater(store.db, row, { pauseMs, error: revoked.reason });
  }

  async function pass(stopping?: AbortSignal): Promise<void> {
    for (const id of await all.listToRevoke(store.db, batch)) {
      if (stopping?.aborted) return;
      await revoke(id).catch((err) => log.error({ err, credentialId: id }, 'Credential revocation failed'));
    }
  }

  const pauseMs = () => everyMs * (1 + runtime.random());
  const repetition = repeatedly(ctx, { what: 'Credential revocation pass', pauseMs, work: pass });
  return { ...repetition, pass: () => pass() };
}
