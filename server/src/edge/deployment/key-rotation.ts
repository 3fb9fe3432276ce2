/**
 * Replaces the encryption key beside services that run. Replicas say every ten seconds which keys they have
 * (replicas.worker.ts). A replica that has said nothing for a while may come back, so the old key is kept for it until it
 * is certainly gone.
 */
import type { Secrets } from '../../kernel/config/config.ts';
import type { DataDir } from '../../kernel/config/data-dir.ts';
import { type RotationSteps, replaceEncryptionKey } from '../../kernel/config/encryption-keys.ts';
import type { Store } from '../../kernel/db/open.ts';
import type { ReplicaRow } from '../../kernel/db/tables.ts';
import { OperatorError } from '../../kernel/errors.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import { listReplicas, silentAfterMs } from './replicas.store.ts';

const lookEveryMs = 500;
/** Some times longer than a replica takes to say which keys it has. */
const patienceMs = 60_000;
/** Longer than any request, or any step of background work, takes from sealing a secret to storing it. */
const underWayMs = 30_000;

interface RotationContext {
  store: Store;
  /** The processes that run the jobs of the bundled platform, which may run alone. */
  listKeyHolders?(): Promise<Pick<ReplicaRow, 'encryption_keys'>[]>;
  runtime: Pick<Runtime, 'sleep' | 'elapsed'>;
  /** Whether the process of this name is certainly gone. */
  isAbandoned(process: string): boolean;
  /** Reports to the operator what it is waiting for. */
  tell(text: string): void;
}

/** A process that has encryption keys in memory. */
interface Holder {
  host: string;
  /** The first one seals. */
  keys: string[];
  lastSeenAt: number;
  isSilent: boolean;
}

const keysOf = ({ encryption_keys }: Pick<ReplicaRow, 'encryption_keys'>) => (encryption_keys ?? '').split(',');
const hosts = (holders: readonly Holder[]) => [...new Set(holders.map(({ host }) => host))].join(', ');

/** All that may still run. */
async function listHolders({ store, listKeyHolders, isAbandoned }: RotationContext): Promise<Holder[]> {
  const runners = (await listKeyHolders?.()) ?? [];
  const now = await store.now();
  const replicas = (await listReplicas(store.db)).filter((row) => row.process === null || !isAbandoned(row.process));
  return [
    ...replicas.map((row) => ({
      host: row.host,
      keys: keysOf(row),
      lastSeenAt: row.last_seen_at,
      isSilent: row.now - row.last_seen_at > silentAfterMs,
    })),
    ...runners.map((row) => ({ host: 'the platform', keys: keysOf(row), lastSeenAt: now, isSilent: false })),
  ];
}

async function untilAll(
  ctx: RotationContext,
  isReady: (keys: string[]) => boolean,
  { waitingFor, advice }: { waitingFor: string; advice: string },
): Promise<void> {
  const { runtime, tell } = ctx;
  const startedAt = runtime.elapsed();
  for (let isFirst = true; ; isFirst = false) {
    const behind = (await listHolders(ctx)).filter(({ isSilent, keys }) => !isSilent && !isReady(keys));
    if (behind.length === 0) return;
    if (isFirst) tell(`Waiting for replicas to ${waitingFor} the new key: ${hosts(behind)}`);
    if (runtime.elapsed() - startedAt > patienceMs) {
      throw new OperatorError(`Some replicas do not ${waitingFor} the new key: ${hosts(behind)}. ${advice}`);
    }
    await runtime.sleep(lookEveryMs);
  }
}

const untilKnown = (ctx: RotationContext, keyId: string): Promise<void> =>
  untilAll(ctx, (keys) => keys.includes(keyId), {
    waitingFor: 'know',
    advice:
      'Nothing has changed and the old key is still in use. Copy encryption.key.next to the data directories of these replicas, or restart those that run an older version. Then run this command again.',
  });

async function untilUsed(ctx: RotationContext, keyId: string): Promise<void> {
  await untilAll(ctx, ([first]) => first === keyId, {
    waitingFor: 'use',
    advice:
      'Give them the same key file or INLAY_ENCRYPTION_KEY as this command, with the new key first, and restart them. Then run this command again. Keep the old key until the command succeeds.',
  });
  if ((await listHolders(ctx)).length === 0) return;
  ctx.tell(`Waiting ${underWayMs / 1000} seconds for requests that still use the old key.`);
  await ctx.runtime.sleep(underWayMs);
}

async function assertNoneLeft(ctx: RotationContext, keyId: string): Promise<void> {
  const left = (await listHolders(ctx)).filter(({ keys: [first] }) => first !== keyId);
  if (left.length === 0) return;
  const last = isoTime(Math.max(...left.map(({ lastSeenAt }) => lastSeenAt)));
  throw new OperatorError(
    `Every stored secret is encrypted with the new key. The old key was kept, because a replica may still use it: ${hosts(left)}, last seen at ${last}. Run this command again after that replica has restarted, or in an hour.`,
  );
}

/** `reseal` seals everything again. Afterwards nothing is sealed with any other key. */
export async function rotateEncryptionKey(
  ctx: RotationContext,
  { secrets, dataDir, reseal }: { secrets: Secrets; dataDir: DataDir; reseal: RotationSteps['reseal'] },
): Promise<void> {
  await replaceEncryptionKey(secrets, dataDir, {
    untilKnown: (keyId) => untilKnown(ctx, keyId),
    untilUsed: (keyId) => untilUsed(ctx, keyId),
    assertNoneLeft: (keyId) => assertNoneLeft(ctx, keyId),
    reseal,
  });
}
