/**
 * Sessions of people in the console. A session begins with an operator token, a one-time link or a sign-in with a provider,
 * and says which organization it is for and what it may do.
 *
 * What always holds: the browser has a random value in a cookie, and only its hash is stored. Every sign-in makes a new value,
 * whatever the browser sent. A session ends after 8 hours without use, and after a day at the latest, by the clock of the
 * database. A session that began with an operator token works only while that token works, and may do what the token may. A
 * session that is ended in this process is refused from the next request on, by other replicas after two seconds.
 */
import { hash, randomBytes } from 'node:crypto';
import type { OperatorPermission } from '@inlay/contract/fields';
import type { ConsoleSession } from '@inlay/contract/tenancy/console';
import { BoundedMap } from '@inlay/schedule/bounded-map';
import { byWorker, type Cause } from '../../kernel/cause.ts';
import type { Db, Store } from '../../kernel/db/open.ts';
import type { ConsoleSessionRow } from '../../kernel/db/tables.ts';
import { AppError } from '../../kernel/errors.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { OperatorPrincipal } from '../../kernel/principals.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { DataOf } from '../../log/events/catalogue.ts';
import type { Journal } from '../../log/events/journal.ts';
import type { OperatorTokens } from '../../tenancy/tokens/operator-tokens.ts';
import { RecentAnswers } from '../../tenancy/tokens/recent-answers.ts';
import * as sessions from './sessions.store.ts';

export interface NewConsoleSession {
  organizationId: string;
  kind: ConsoleSessionRow['kind'];
  permission: OperatorPermission;
  label: string;
  tokenId?: string;
  linkId?: string;
  identity?: { issuer: string; subject: string };
}

export interface OpenSession {
  session: ConsoleSessionRow;
  principal: OperatorPrincipal;
}

interface Beginning {
  /** Where the sign-in comes from. */
  cause: Cause;
  /** What the browser had until now. */
  replaces?: { organizationId: string; id: string } | undefined;
}

/** What the browser had until now, as `begin` takes it. */
export const placeOf = (open: OpenSession | undefined) =>
  open && { organizationId: open.session.organization_id, id: open.session.id };

export interface ConsoleSessions {
  /** In a transaction of the caller: what lets someone in is used up together with it. */
  begin(
    tx: Db,
    session: NewConsoleSession,
    beginning: Beginning,
  ): Promise<{ secret: string; session: ConsoleSessionRow }>;
  /** Undefined for anything but the secret of a session that works now. */
  find(secret: string): Promise<OpenSession | undefined>;
  /** Whether a session, by its id, works now. */
  works(organizationId: string, id: string): Promise<boolean>;
  /** Keeps a session from ending because nobody uses it. Writes once a minute at most. */
  use(session: ConsoleSessionRow): Promise<void>;
  list(organizationId: string): Promise<ConsoleSessionRow[]>;
  /** Throws `console_session_not_found` when there is none to end. */
  end(organizationId: string, id: string, reason: EndReason, cause: Cause): Promise<ConsoleSessionRow>;
  /** Must be called after the transaction in which a session was replaced. */
  forget(): void;
}

type EndReason = DataOf<'console_session.ended'>['reason'];

const maxMs = { token: 24 * 3_600_000, link: 24 * 3_600_000, oidc: 12 * 3_600_000 };
const usesKeptMs = 60_000;
const maxListed = 1_000;

/** 256 bits. */
export const newSecret = () => randomBytes(32).toString('base64url');
export const isSecret = (text: string) => /^[\w-]{43}$/.test(text);
export const hashOf = (secret: string) => hash('sha256', secret, 'hex');

interface SessionsContext {
  store: Store;
  runtime: Pick<Runtime, 'elapsed' | 'newId'>;
  journal: Journal;
  operatorTokens: Pick<OperatorTokens, 'findWorking'>;
}

export function createConsoleSessions({ store, runtime, journal, operatorTokens }: SessionsContext): ConsoleSessions {
  const recent = new RecentAnswers<sessions.LiveSession>(runtime.elapsed);
  const used = new BoundedMap<string, number>(10_000);

  async function open(
    key: string,
    ask: () => Promise<sessions.LiveSession | undefined>,
  ): Promise<OpenSession | undefined> {
    const found = await recent.get(key, ask, ({ worksForMs }) => worksForMs);
    if (!found) return undefined;
    const { session } = found;
    const { id, organization_id: organizationId, token_id } = session;
    if (token_id === null) {
      const principal: OperatorPrincipal = {
        kind: 'operator',
        tokenId: id,
        isWithoutToken: true,
        tokenName: session.label,
        organizationId,
        permission: session.permission,
        session: { id },
      };
      return { session, principal };
    }
    const principal = await operatorTokens.findWorking(organizationId, token_id);
    return principal && { session, principal: { ...principal, session: { id } } };
  }

  async function endIn(tx: Db, organizationId: string, id: string, reason: EndReason, cause: Cause) {
    const ended = await sessions.endSession(tx, organizationId, id);
    if (!ended) return undefined;
    const data = { console_session: about(ended), reason };
    const change = { before: { ended_at: null }, after: { ended_at: isoTime(ended.ended_at ?? 0) } };
    await journal.by(cause).record(tx, organizationId, { type: 'console_session.ended', data, change });
    return ended;
  }

  return {
    async begin(tx, { organizationId, kind, permission, label, tokenId, linkId, identity }, { cause, replaces }) {
      const secret = newSecret();
      const id = runtime.newId();
      const by = { ...cause, actor: { kind: 'console_user' as const, id, name: label } };
      if (replaces) {
        await endIn(tx, replaces.organizationId, replaces.id, 'replaced', by);
      }
      const session = await sessions.insertSession(
        tx,
        organizationId,
        {
          ...{ id, hash: hashOf(secret), kind, permission, label },
          token_id: tokenId ?? null,
          link_id: linkId ?? null,
          issuer: identity?.issuer ?? null,
          subject: identity?.subject ?? null,
        },
        maxMs[kind],
      );
      const data = {
        console_session: about(session),
        operator_token_id: session.token_id,
        console_link_id: session.link_id,
      };
      const change = { before: undefined, after: { kind, label, permission, ends_at: isoTime(session.ends_at) } };
      await journal.by(by).record(tx, organizationId, { type: 'console_session.created', data, change });
      return { secret, session };
    },
    async find(secret) {
      if (!isSecret(secret)) return undefined;
      const key = hashOf(secret);
      return await open(key, () => sessions.findLiveSession(store.db, key));
    },
    works: async (organizationId, id) =>
      (await open(`${organizationId} ${id}`, () => sessions.findLiveSessionById(store.db, organizationId, id))) !==
      undefined,
    async use({ id, organization_id }) {
      const now = runtime.elapsed();
      if (now - (used.get(id) ?? Number.NEGATIVE_INFINITY) < usesKeptMs) return;
      used.set(id, now);
      await sessions.recordUse(store.db, organization_id, id);
    },
    list: (organizationId) => sessions.listLiveSessions(store.db, organizationId, maxListed),
    async end(organizationId, id, reason, cause = byWorker) {
      const ended = await store.transaction((tx) => endIn(tx, organizationId, id, reason, cause));
      recent.forget();
      if (!ended) throw new AppError('console_session_not_found');
      return ended;
    },
    forget: () => recent.forget(),
  };
}

const about = ({ id, kind, label, permission }: ConsoleSessionRow) => ({ id, kind, label, permission });

export function presentSession(row: ConsoleSessionRow): ConsoleSession {
  return {
    ...about(row),
    operator_token_id: row.token_id,
    created_at: isoTime(row.created_at),
    last_used_at: isoTime(row.last_used_at),
    expires_at: isoTime(row.ends_at),
  };
}
