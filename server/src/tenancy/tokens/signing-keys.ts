/**
 * The Ed25519 keys that sign scoped tokens and widget URLs. Private keys are stored sealed, cached in memory and
 * reloaded every few seconds, never because of a request, so that tokens with unknown key ids cost nothing. A new key
 * is published immediately but only signs after every replica has had time to load it. A retired key keeps verifying
 * until it is removed.
 */
import { createHmac, createPrivateKey, createPublicKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { Logger } from 'pino';
import type { Db, Store } from '../../kernel/db/open.ts';
import type { SigningKeyRow } from '../../kernel/db/tables.ts';
import { newSealedKey } from '../../kernel/key-pairs.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { Sealer } from '../../kernel/sealing.ts';
import type { Journal } from '../../log/events/journal.ts';
import * as keys from './signing-keys.store.ts';

export interface SigningKey {
  kid: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
  /** Signs texts that only this service checks. */
  mac(text: string): string;
}

export interface SigningKeys {
  /** The key to sign with now. */
  current(): SigningKey;
  find(kid: string): SigningKey | undefined;
  jwks(): { keys: object[] };
  reload(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

const reloadEveryMs = 3_000;
/** Longer than a replica takes to reload, with room for one failed try. */
const publishBeforeUseMs = 10_000;
const sealingContext = (kid: string) => `signing key ${kid}`;

interface SigningKeysOptions {
  store: Store;
  sealer: Sealer;
  runtime: Runtime;
  log: Logger;
  journal: Journal;
  /** Keys belong to the deployment, so they are logged for every organization. */
  listOrganizationIds: ListOrganizationIds;
}

type ListOrganizationIds = (db: Db) => Promise<string[]>;

async function tellOfKey(
  { journal, listOrganizationIds }: Pick<SigningKeysOptions, 'journal' | 'listOrganizationIds'>,
  tx: Db,
  type: keyof typeof keyChanges,
  kid: string,
): Promise<void> {
  const entry = { type, data: { key: { id: kid } }, change: keyChanges[type] } as const;
  for (const id of await listOrganizationIds(tx)) await journal.record(tx, id, entry);
}

const keyChanges = {
  'key.created': { before: undefined, after: { state: 'signing' } },
  'key.retired': { before: { state: 'signing' }, after: { state: 'retired' } },
  'key.removed': { before: { state: 'retired' }, after: undefined },
};

/** Opens the keys, and makes the first key if there is none. */
export async function openSigningKeys(options: SigningKeysOptions): Promise<SigningKeys> {
  const { store, sealer, runtime, log } = options;
  const stopping = new AbortController();
  let byKid = new Map<string, SigningKey>();
  let signing: SigningKey;
  let published: { keys: object[] };
  let running: Promise<void> | undefined;

  async function reload(): Promise<void> {
    const rows = await keys.listKeys(store.db);
    const now = await store.now();
    const next = new Map<string, SigningKey>();
    for (const row of rows) next.set(row.kid, byKid.get(row.kid) ?? openKey(row, sealer));
    const newest = rows.find((row) => row.created_at <= now - publishBeforeUseMs) ?? rows.at(-1);
    const chosen = newest && next.get(newest.kid);
    if (!chosen) throw new Error('The database has no signing key.');
    byKid = next;
    signing = chosen;
    published = { keys: rows.map((row) => JSON.parse(row.public_jwk)) };
  }

  await store.exclusively(async (tx) => {
    if ((await keys.listKeys(tx)).length > 0) return;
    const key = newKey(sealer);
    await keys.insertKey(tx, key);
    await tellOfKey(options, tx, 'key.created', key.kid);
  });
  await reload();

  return {
    current: () => signing,
    find: (kid) => byKid.get(kid),
    jwks: () => published,
    reload,
    start: () => {
      running ??= (async () => {
        while (!stopping.signal.aborted) {
          await runtime.sleep(reloadEveryMs, stopping.signal);
          // When the store is away, the keys in memory are good enough: no token is accepted without the store anyway.
          if (!stopping.signal.aborted)
            await reload().catch((err) => log.error({ err }, 'Failed to reload signing keys'));
        }
      })();
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

/** Publishes a new key and retires the others. The new key signs a few seconds after its publication. */
export async function rotateSigningKeys(
  options: Pick<SigningKeysOptions, 'store' | 'sealer' | 'journal' | 'listOrganizationIds'>,
): Promise<string> {
  const key = newKey(options.sealer);
  await options.store.transaction(async (tx) => {
    await keys.insertKey(tx, key);
    await tellOfKey(options, tx, 'key.created', key.kid);
    for (const kid of await keys.retireOthers(tx, key.kid)) await tellOfKey(options, tx, 'key.retired', kid);
  });
  return key.kid;
}

/**
 * Throws if the encryption key is not the one this database was last used with. Called before any write, because values
 * sealed with another key would make the next start impossible. Signing keys exist from the first start.
 */
export async function assertKeyOpens(db: Db, sealer: Sealer): Promise<void> {
  for (const row of await keys.listKeys(db)) openKey(row, sealer);
}

export const listSigningKeys = (store: Store): Promise<SigningKeyRow[]> => keys.listKeys(store.db);

/** Tokens signed with it stop working. False when there is no retired key of that id. */
export async function removeSigningKey(
  options: Pick<SigningKeysOptions, 'store' | 'journal' | 'listOrganizationIds'>,
  kid: string,
): Promise<boolean> {
  return await options.store.transaction(async (tx) => {
    const isRemoved = await keys.removeRetiredKey(tx, kid);
    if (isRemoved) await tellOfKey(options, tx, 'key.removed', kid);
    return isRemoved;
  });
}

const newKey = (sealer: Sealer) => newSealedKey(sealer, sealingContext);

function openKey(row: SigningKeyRow, sealer: Sealer): SigningKey {
  const secret = sealer.open(row.sealed_private_key, sealingContext(row.kid));
  const privateKey = createPrivateKey({ key: secret, format: 'der', type: 'pkcs8' });
  const macKey = Buffer.from(hkdfSync('sha256', secret, '', 'inlay widget address', 32));
  return {
    kid: row.kid,
    privateKey,
    publicKey: createPublicKey(privateKey),
    mac: (text) => createHmac('sha256', macKey).update(text).digest('base64url'),
  };
}
