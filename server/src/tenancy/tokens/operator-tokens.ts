/**
 * Operator tokens: organization-wide credentials of the operator's backend. Only a hash is stored; the secret is shown
 * once. A token that is revoked in this process is refused from the next request on, by other replicas after two
 * seconds.
 */
import type { OperatorPermission } from '@inlay/contract/fields';
import type { OperatorToken, OperatorTokenWithSecret } from '@inlay/contract/tenancy/tokens';
import { byWorker, type Cause } from '../../kernel/cause.ts';
import { hashOf, isPlausible, newOperatorSecret } from '../../kernel/config/operator-secrets.ts';
import type { Db, Store } from '../../kernel/db/open.ts';
import type { OperatorTokenRow } from '../../kernel/db/tables.ts';
import { AppError } from '../../kernel/errors.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import { type NowOrLater, whenThere } from '../../kernel/now-or-later.ts';
import type { OperatorPrincipal } from '../../kernel/principals.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { Journal } from '../../log/events/journal.ts';
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
  authenticate(token: string): NowOrLater<OperatorPrincipal>;
  /** The same for a token that was accepted before, by its id. Undefined when it does not work any more. */
  findWorking(organizationId: string, id: string): NowOrLater<OperatorPrincipal | undefined>;
  create(organizationId: string, token: NewOperatorToken, cause?: Cause): Promise<OperatorTokenWithSecret>;
  /** Records a secret that the operator chose; does nothing when the secret is known, even if it is revoked. */
  provide(organizationId: string, name: string, secret: string): Promise<boolean>;
  list(organizationId: string): Promise<OperatorToken[]>;
  revoke(organizationId: string, id: string, cause?: Cause): Promise<OperatorToken>;
  /**
   * Makes a new token like the old one. The old token still works for the overlap. The new token expires when the old
   * one would have expired, unless the request says otherwise. A token that has ended is refused:
   * `operator_token_ended`.
   */
  rotate(organizationId: string, id: string, rotation: Rotation, cause?: Cause): Promise<OperatorTokenWithSecret>;
  /** Stores which tokens were used since the last call. */
  flushUses(): Promise<void>;
}

function permissionOf({ permission, role }: Pick<OperatorTokenRow, 'permission' | 'role'>): OperatorPermission {
  return role ?? permission;
}

/** A replica of before there were roles takes an operator for a reader. */
function columnsOf(permission: OperatorPermission): Pick<OperatorTokenRow, 'permission' | 'role'> {
  return permission === 'operator' ? { permission: 'read', role: permission } : { permission, role: null };
}

export function createOperatorTokens(store: Store, runtime: Runtime, journal: Journal): OperatorTokens {
  // Kept in memory for a while: a request must not cost a write.
  let uses = new Map<string, { organizationId: string; at: number }>();
  const recent = new RecentAnswers<{ principal: OperatorPrincipal; worksForMs: number }>(runtime.elapsed);

  async function get(organizationId: string, id: string): Promise<OperatorTokenRow> {
    const row = await tokens.findToken(store.db, organizationId, id);
    if (!row) throw new AppError('operator_token_not_found');
    return row;
  }

  const newRow = (secret: string, { name, permission = 'full', expiresAt }: NewOperatorToken) => ({
    id: runtime.newId(),
    name,
    hash: hashOf(secret),
    ...columnsOf(permission),
    expires_at: expiresAt ?? null,
  });

  type NewRow = ReturnType<typeof newRow>;
  const about = (row: Pick<OperatorTokenRow, 'id' | 'name' | 'permission' | 'role'>) => ({
    id: row.id,
    name: row.name,
    permission: permissionOf(row),
  });

  /** For the audit. The token itself is stored nowhere, not even its fingerprint: the id stands for it. */
  const settingsOf = (row: Pick<OperatorTokenRow, 'name' | 'permission' | 'role' | 'expires_at'>) => ({
    name: row.name,
    permission: permissionOf(row),
    expires_at: row.expires_at === null ? null : isoTime(row.expires_at),
  });

  async function insert(tx: Db, organizationId: string, token: NewRow, cause: Cause): Promise<OperatorTokenRow> {
    const row = await tokens.insertToken(tx, organizationId, token);
    const data = { operator_token: about(row) };
    const change = { before: undefined, after: settingsOf(row) };
    await journal.by(cause).record(tx, organizationId, { type: 'operator_token.created', data, change });
    return row;
  }

  async function tellRevoked(tx: Db, before: OperatorTokenRow, row: OperatorTokenRow, cause: Cause): Promise<void> {
    const ends_at = isoTime(row.revoked_at ?? 0);
    const data = { operator_token: about(row), ends_at };
    const revokedBefore = before.revoked_at === null ? null : isoTime(before.revoked_at);
    const change = { before: { revoked_at: revokedBefore }, after: { revoked_at: ends_at } };
    await journal.by(cause).record(tx, row.organization_id, { type: 'operator_token.revoked', data, change });
  }

  /** Undefined when the token does not work now. `key`: under which its principal is remembered. */
  function principalOf(
    key: string,
    find: () => Promise<tokens.UsableToken | undefined>,
  ): NowOrLater<OperatorPrincipal | undefined> {
    const found = recent.get(
      key,
      async () => {
        const row = await find();
        return row && { principal: presentPrincipal(row), worksForMs: row.worksForMs };
      },
      ({ worksForMs }) => worksForMs,
    );
    return whenThere(found, (usable) => {
      if (!usable) return undefined;
      const { tokenId, organizationId } = usable.principal;
      uses.set(tokenId, { organizationId, at: runtime.now() });
      return usable.principal;
    });
  }

  return {
    authenticate(token) {
      const hash = hashOf(token);
      const found = principalOf(hash, async () =>
        isPlausible(token) ? await tokens.findUsable(store.db, hash) : undefined,
      );
      return whenThere(found, (principal) => {
        if (!principal) throw new AppError('unauthenticated');
        return principal;
      });
    },
    findWorking: (organizationId, id) =>
      principalOf(`${organizationId} ${id}`, () => tokens.findUsableById(store.db, organizationId, id)),
    async create(organizationId, token, cause = byWorker) {
      const secret = newOperatorSecret();
      const row = await store.transaction((tx) => insert(tx, organizationId, newRow(secret, token), cause));
      return { ...present(row), token: secret };
    },
    async provide(organizationId, name, secret) {
      const token = newRow(secret, { name });
      return await store.transaction(async (tx) => {
        const isNew = await tokens.insertTokenIfUnknown(tx, organizationId, token);
        const data = { operator_token: about(token) };
        const change = { before: undefined, after: settingsOf(token) };
        if (isNew) await journal.record(tx, organizationId, { type: 'operator_token.created', data, change });
        return isNew;
      });
    },
    async list(organizationId) {
      return (await tokens.listTokens(store.db, organizationId)).map(present);
    },
    async revoke(organizationId, id, cause = byWorker) {
      await store.transaction(async (tx) => {
        const before = await tokens.lockToken(tx, organizationId, id);
        const revoked = before && (await tokens.revokeToken(tx, organizationId, id, 0));
        if (revoked) await tellRevoked(tx, before, revoked, cause);
      });
      recent.forget();
      return present(await get(organizationId, id));
    },
    async rotate(organizationId, id, { overlapSeconds, expiresAt }, cause = byWorker) {
      const secret = newOperatorSecret();
      const row = await store.transaction(async (tx) => {
        const before = await tokens.lockToken(tx, organizationId, id);
        const old = before && (await tokens.revokeWorkingToken(tx, organizationId, id, overlapSeconds * 1000));
        if (!old) return undefined;
        await tellRevoked(tx, before, old, cause);
        const { name, expires_at } = old;
        const token = newRow(secret, {
          name,
          permission: permissionOf(old),
          expiresAt: expiresAt ?? expires_at ?? undefined,
        });
        return await insert(tx, organizationId, token, cause);
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

function presentPrincipal(row: tokens.UsableToken): OperatorPrincipal {
  return {
    kind: 'operator',
    tokenId: row.id,
    tokenName: row.name,
    organizationId: row.organization_id,
    permission: permissionOf(row),
  };
}

function present(row: OperatorTokenRow): OperatorToken {
  return {
    id: row.id,
    name: row.name,
    permission: permissionOf(row),
    created_at: isoTime(row.created_at),
    expires_at: timeOrNull(row.expires_at),
    last_used_at: timeOrNull(row.last_used_at),
    revoked_at: timeOrNull(row.revoked_at),
  };
}

function timeOrNull(at: number | null): string | null {
  return at === null ? null : isoTime(at);
}
