/**
 * Verifies an audit trail, entry by entry, from the database or from an export: knows no database, and keeps nothing of the
 * trail but the hashes since the last checkpoint.
 *
 * It finds every entry that was changed, dropped, moved or added, and names it. What a chain alone cannot show is that all
 * hashes were computed anew, or that the end is missing; checkpoints show that. A checkpoint counts if its signature is
 * right, or if nobody can check it but the caller trusts it, since the caller has kept it.
 */
import type { AuditCheckpoint, AuditEvent } from '@inlay/contract/audit';
import { personalFields } from '@inlay/contract/audit';
import { genesisHash, hashOf } from '../events/chain.ts';
import { isSigned, type KeySet } from './checkpoints.ts';

export interface Fault {
  position: number;
  /** Null: the entry is not there. */
  id: string | null;
  problem: string;
}

export interface Verification {
  faults: Fault[];
  /** How many entries were read. */
  entries: number;
  /** The last entry that was read. */
  last: { position: number; hash: string | null };
  /** Up to here, a checkpoint says the same. 0: no checkpoint was compared. */
  coveredUntil: number;
  /** Values that were erased or withheld, so only commitments to them are there. */
  withheld: number;
  /** Checkpoints of the trail itself whose key is not known. */
  uncheckedSignatures: number;
}

/** What the caller knows from elsewhere. */
export interface Kept {
  /** Public keys that are known to be the deployment's. */
  keys: KeySet;
  /** Checkpoints that the caller has kept, or that the database holds. */
  checkpoints: readonly AuditCheckpoint[];
}

/** More would help nobody. */
const maxFaults = 100;

export interface Verifier {
  add(entry: unknown): void;
  /** With what else is known of the end. */
  end(): Verification;
}

export function createVerifier({ keys, checkpoints }: Kept): Verifier {
  const faults: Fault[] = [];
  const expected = new Map<number, AuditCheckpoint[]>();
  /** Hashes that a checkpoint which comes later may speak of. */
  const recent = new Map<number, string | null>();
  let organizationId: string | undefined;
  let last: Verification['last'] | undefined;
  let first: { position: number; previousHash: string } | undefined;
  let isBeginningProven = false;
  let [entries, coveredUntil, withheld, uncheckedSignatures] = [0, 0, 0, 0];

  const tell = (position: number, id: string | null, problem: string) => {
    if (faults.length < maxFaults) faults.push({ position, id, problem });
  };

  for (const checkpoint of checkpoints) {
    if (isSigned(checkpoint, keys) === false) {
      tell(checkpoint.position, null, 'The signature of the checkpoint is wrong.');
    } else {
      expected.set(checkpoint.position, [...(expected.get(checkpoint.position) ?? []), checkpoint]);
    }
  }

  /** The checkpoint and the entry at its position must have the same hash. */
  function compare(checkpoint: AuditCheckpoint, hash: string | null, id: string | null): void {
    if (checkpoint.organization_id !== organizationId) {
      tell(checkpoint.position, id, 'The checkpoint belongs to another organization.');
    } else if (checkpoint.hash === hash) {
      coveredUntil = Math.max(coveredUntil, checkpoint.position);
    } else {
      const since = coveredUntil + 1;
      tell(
        checkpoint.position,
        id,
        `The trail does not lead to the checkpoint of ${checkpoint.signed_at}: an entry from position ${since} on was changed, and the hashes after it computed anew.`,
      );
    }
  }

  function follow(entry: AuditEvent): void {
    const { position, id } = entry;
    if (!last) {
      first = { position, previousHash: entry.previous_hash };
      return;
    }
    const next = last.position + 1;
    if (position > next) {
      const missing =
        position === next + 1 ? `Entry ${next} is missing` : `Entries ${next} to ${position - 1} are missing`;
      tell(next, null, `${missing} before entry ${position} (${id}).`);
    } else if (position < next) {
      tell(position, id, `The entry stands after entry ${last.position}: it was moved, or is there twice.`);
    } else if (last.hash === null) {
      // Entries of before there was a chain. The first of the chain says so.
      if (entry.hash !== null && entry.previous_hash !== genesisHash) {
        tell(position, id, 'The entry before has lost its hash.');
      }
    } else if (entry.previous_hash !== last.hash) {
      tell(position, id, `The entry does not follow entry ${last.position}: one of the two was replaced.`);
    }
  }

  /** False: the entry does not have the hash that it says. */
  function checkHash(entry: AuditEvent): boolean {
    const { hash, address, user_agent, patch, salts, ...chained } = entry;
    if (hash === null) {
      if (last && last.hash !== null) tell(entry.position, entry.id, 'The entry has lost its hash.');
      return false;
    }
    const isWhole = findHash(chained) === hash;
    if (!isWhole) tell(entry.position, entry.id, 'The entry, or its hash, was changed.');
    for (const field of personalFields) checkPersonal(entry, field);
    for (const name of [...Object.keys(entry.commitments), ...Object.keys(salts)]) {
      if (!(personalFields as readonly string[]).includes(name))
        tell(entry.position, entry.id, `There is no field ${name}.`);
    }
    return isWhole;
  }

  function checkPersonal(entry: AuditEvent, field: (typeof personalFields)[number]): void {
    const [value, salt, commitment] = [entry[field], entry.salts[field], entry.commitments[field]];
    const isThere = value !== null && value !== undefined;
    if (!isThere && salt === undefined) {
      if (commitment !== undefined) withheld++;
    } else if (!isThere || salt === undefined || commitment === undefined || !commits(salt, value, commitment)) {
      tell(entry.position, entry.id, `Its ${field} was changed: the entry has committed to another value.`);
    }
  }

  /** A checkpoint that is itself an entry of the trail. */
  function checkTold(entry: AuditEvent): void {
    if (entry.type !== 'audit.checkpoint') return;
    const checkpoint = entry.data as unknown as AuditCheckpoint;
    const signed = isSigned(checkpoint, keys);
    if (signed === undefined) uncheckedSignatures++;
    if (signed === false) tell(entry.position, entry.id, 'The signature of the checkpoint that it tells of is wrong.');
    if (!signed) return;
    if (first && checkpoint.position === first.position - 1 && checkpoint.hash === first.previousHash) {
      isBeginningProven = true;
    }
    const hash = recent.get(checkpoint.position);
    if (hash !== undefined) compare(checkpoint, hash, entry.id);
    for (const position of recent.keys()) if (position <= checkpoint.position) recent.delete(position);
  }

  return {
    add(given) {
      entries++;
      if (!isEntry(given)) {
        tell((last?.position ?? 0) + 1, idOf(given), `Line ${entries} is not an entry of an audit trail.`);
        return;
      }
      organizationId ??= given.organization_id;
      if (given.organization_id !== organizationId) {
        tell(given.position, given.id, 'The entry belongs to another organization.');
      }
      follow(given);
      const isWhole = checkHash(given);
      last = { position: given.position, hash: given.hash };
      recent.set(given.position, given.hash);
      for (const checkpoint of expected.get(given.position) ?? []) compare(checkpoint, given.hash, given.id);
      expected.delete(given.position);
      if (isWhole) checkTold(given);
    },
    end() {
      if (first && first.position > 1) {
        const before = expected.get(first.position - 1) ?? [];
        isBeginningProven ||= before.some(({ hash }) => hash === first?.previousHash);
        if (!isBeginningProven) {
          tell(
            1,
            null,
            `Entries 1 to ${first.position - 1} are missing, and no signed checkpoint says that the trail was cut there.`,
          );
        }
      } else if (first && first.previousHash !== genesisHash) {
        tell(1, null, 'The trail has another beginning.');
      }
      for (const [position, [checkpoint]] of expected) {
        if (!checkpoint || position <= (last?.position ?? 0)) continue;
        const from = (last?.position ?? 0) + 1;
        tell(
          from,
          null,
          `Entries ${from} to ${position} are missing at the end: there is a checkpoint of ${checkpoint.signed_at}.`,
        );
      }
      return {
        faults,
        entries,
        last: last ?? { position: 0, hash: null },
        coveredUntil,
        withheld,
        uncheckedSignatures,
      };
    },
  };
}

function commits(salt: string, value: unknown, commitment: string): boolean {
  return findHash([salt, value]) === commitment;
}

/** Undefined: there is no canonical form, so it cannot be an entry of ours. */
function findHash(chained: unknown): string | undefined {
  try {
    return hashOf(chained);
  } catch {
    return undefined;
  }
}

function isEntry(value: unknown): value is AuditEvent {
  if (typeof value !== 'object' || value === null) return false;
  const { position, id, hash, organization_id, previous_hash, commitments, salts, data } = value as Record<
    string,
    unknown
  >;
  const isRecord = (member: unknown) => typeof member === 'object' && member !== null && !Array.isArray(member);
  return (
    Number.isSafeInteger(position) &&
    typeof id === 'string' &&
    (hash === null || typeof hash === 'string') &&
    typeof organization_id === 'string' &&
    typeof previous_hash === 'string' &&
    [commitments, salts, data].every(isRecord)
  );
}

function idOf(value: unknown): string | null {
  const { id } = (typeof value === 'object' && value !== null ? value : {}) as { id?: unknown };
  return typeof id === 'string' ? id : null;
}
