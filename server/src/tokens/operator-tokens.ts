/**
 * Operator tokens: organization-wide credentials of the operator's backend. Only a hash is stored; the secret is shown
 * once. A token that is revoked in this process is refused from the next request on, by other replicas after two
 * seconds.
 */
import type { OperatorPermission } from '@inlay/contract/fields';
import type { OperatorToken, OperatorTokenWithSecret } from '@inlay/contract/tokens';
import type { Store } from '../db/open.ts';
import type { OperatorTokenRow } from '../db/tables.ts';
import { AppError } from '../errors.ts';
import { isoTime } from '../iso-time.ts';
import type { OperatorPrincipal } from '../principals.ts';
import type { Runtime } from '../runtime.ts';
import { hashOf, isPlausible, newOperatorSecret } from './operator-secrets.ts';
import * as tokens from './operator-tokens.store.ts';
import { RecentAnswers } from './recent-answers.ts';

/** How old a token may get before `operator-token list` and `doctor` advise to rotate it. */
export const rotationAdvisedAfterDays = 90;

interface NewOperatorToken {
  name: string;
  permission?: OperatorPermission | undefined;
  /** Milliseconds since the epoch. */
  expiresAt?: number | undefined;
}

interface Rotation {
  overlapSeconds: number;
  /** Milliseconds since the epoch. */
  expiresAt?: number | undefined;
}

export interface OperatorTokens {
  /** Throws `unauthenticated` for anything but a token that works now. */
  authenticate(token: string): Promise<OperatorPrincipal>;
  create(organizationId: string, token: NewOperatorToken): Promise<OperatorTokenWithSecret>;
  /** Records a secret that the operator chose; does nothing when the secret is known, even if it is revoked. */
  provide(organizationId: string, name: string, secret: string): Promise<boolean>;
  list(organizationId: string): Promise<OperatorToken[]>;
  revoke(organizationId: string, id: string): Promise<OperatorToken>;
  /**
   * Makes a new token like the old one. The old token still works for the overlap. The new token expires when the old
   * one would have expired, unless the request says otherwise. A token that has ended is refused:
   * `operator_token_ended`.
   */
  rotate(organizationId: string, id: string, rotation: Rotation): Promise<OperatorTokenWithSecret>;
  /** Stores which tokens were used since the last call. */
  flushUses(): Promise<void>;
}

export function createOperatorTokens(store: Store, runtime: Runtime): OperatorTokens {
  // Kept in memory for a while: a request must not cost a write.
  let uses = new Map<string, { organizationId: string; at: number }>();
  const recent = new RecentAnswers<tokens.UsableToken>(runtime.elapsed);

  async function get(organizationId: string, id: string): Promise<OperatorTokenRow> {
    const row = await tokens.findToken(store.db, organizationId, id);
    if (!row) throw new AppError('operator_token_not_found');
    return row;
  }

  const newRow = (secret: string, { name, permission = 'full', expiresAt }: NewOperatorToken) => ({
    id: runtime.newId(),
    name,
    hash: hashOf(secret),
    permission,
    expires_at: expiresAt ?? null,
  });

  return {
    async authenticate(token) {
      if (!isPlausible(token)) throw new AppError('unauthenticated');
      const hash = hashOf(token);
      const row = await recent.get(
        hash,
        () => tokens.findUsable(store.db, hash),
        ({ worksForMs }) => worksForMs,
      );
      if (!row) throw new AppError('unauthenticated');
      uses.set(row.id, { organizationId: row.organization_id, at: runtime.now() });
      return {
        kind: 'operator',
        tokenId: row.id,
        organizationId: row.organization_id,
        permission: row.permission,
      };
    },
    async create(organizationId, token) {
      const secret = newOperatorSecret();
      const row = await tokens.insertToken(store.db, organizationId, newRow(secret, token));
      return { ...present(row), token: secret };
    },
    provide: (organizationId, name, secret) =>
      tokens.insertTokenIfUnknown(store.db, organizationId, newRow(secret, { name })),
    async list(organizationId) {
      return (await tokens.listTokens(store.db, organizationId)).map(present);
    },
    async revoke(organizationId, id) {
      await tokens.revokeToken(store.db, organizationId, id, 0);
      recent.forget();
      return present(await get(organizationId, id));
    },
    async rotate(organizationId, id, { overlapSeconds, expiresAt }) {
      const secret = newOperatorSecret();
      const row = await store.transaction(async (tx) => {
        const old = await tokens.revokeWorkingToken(tx, organizationId, id, overlapSeconds * 1000);
        if (!old) return undefined;
        const { name, permission, expires_at } = old;
        return await tokens.insertToken(
          tx,
          organizationId,
          newRow(secret, { name, permission, expiresAt: expiresAt ?? expires_at ?? undefined }),
        );
      });
      if (!row) {
        await get(organizationId, id);
        throw new AppError('operator_token_ended');
      }
      recent.forget();
      return { ...present(row), token: secret };
    },
    async flushUses() {
      const pending = uses;
      uses = new Map();
      for (const [id, { organizationId, at }] of pending) await tokens.recordUse(store.db, organizationId, id, at);
    },
  };
}

function present(row: OperatorTokenRow): OperatorToken {
  return {
    id: row.id,
    name: row.name,
    permission: row.permission,
    created_at: isoTime(row.created_at),
    expires_at: timeOrNull(row.expires_at),
    last_used_at: timeOrNull(row.last_used_at),
    revoked_at: timeOrNull(row.revoked_at),
  };
}

function timeOrNull(at: number | null): string | null {
  return at === null ? null : isoTime(at);
}
