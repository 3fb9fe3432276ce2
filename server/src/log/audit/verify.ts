/**
 * Verifies an audit trail, entry by entry, from the database or from an export: knows no database, and keeps nothing of the
 * trail but the hashes since the last checkpoint, checkpoints and what was erased.
 *
 * Finds every entry that was changed, dropped, moved or added, and names it. A hash chain alone cannot show that all
 * hashes were recomputed or that the end is missing; checkpoints show that. Whatever cannot be checked is a fault: a
 * signature with an unknown key, a beginning that no signature confirms as cut, a value that no entry records as
 * erased.
 */

import { isObject } from '@inlay/contract/catalog/connector-configuration';
import { type AuditCheckpoint, type AuditEvent, personalFields } from '@inlay/contract/log/audit';
import { genesisHash, hashOf } from '../events/chain.ts';
import { isSigned, type KeySet, keySetOf } from './checkpoints.ts';
import { createErasures } from './erasures.ts';

export interface Fault {
  /** Null: it is about the trail as a whole. */
  position: number | null;
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
  /** Up to here, a signed checkpoint says the same. 0: no checkpoint was compared. */
  coveredUntil: number;
  /** Entries of before there was a chain, kept or not. Nothing protects them. */
  unchained: number;
  /** The beginning that retention removed. */
  cut: { position: number; at: string | null; retention_days: number | null } | null;
  /** Values that were erased, so only commitments to them are there. */
  erased: number;
  /** The signatures were checked with keys that the trail itself names: nobody else vouches for them. */
  trustsOwnKeys: boolean;
}

/** What is known beside the entries. */
export interface Known {
  /** Public keys that are known to be the deployment's. None: those that the trail names. */
  keys?: KeySet | undefined;
  /** Checkpoints that someone has kept elsewhere. */
  kept: readonly AuditCheckpoint[];
  /** In the database: where the trail should begin, and every checkpoint that it holds. */
  database?: { cutUntil: number; checkpoints: readonly AuditCheckpoint[] };
}

/** More would help nobody. */
const maxFaults = 100;
const dayMs = 86_400_000;

export interface Verifier {
  add(entry: unknown): void;
  end(): Verification;
}

/** A checkpoint, and who says it. */
interface Statement {
  checkpoint: AuditCheckpoint;
  isKept: boolean;
  isStored: boolean;
  /** The entry that records the checkpoint. */
  told?: { position: number; id: string };
  /** The entry at its position. */
  reached?: { hash: string | null; id: string };
}

export function createVerifier({ keys, kept, database }: Known): Verifier {
  const faults: Fault[] = [];
  const statements = new Map<string, Statement>();
  /** Statements by their positions, until the trail gets there. */
  const expected = new Map<number, Statement[]>();
  /** Entries that a checkpoint which comes later may speak of. */
  const recent = new Map<number, { hash: string | null; id: string }>();
  const erasures = createErasures();
  const named = new Map<string, { position: number; id: string; jwk: object }>();
  let organizationId: string | undefined;
  let last: Verification['last'] | undefined;
  let first: { position: number; previousHash: string; isWhole: boolean; hash: string | null } | undefined;
  /** The position of the first entry of the chain. */
  let chainBegin: number | undefined;
  let [entries, coveredUntil] = [0, 0];

  const tell = (position: number | null, id: string | null, problem: string) => {
    if (faults.length < maxFaults) faults.push({ position, id, problem });
  };

  /** The id of a key is derived from the key, so a kept checkpoint vouches for its key, too. */
  const isVouchedFor = ({ key_id }: AuditCheckpoint) => kept.some((one) => one.key_id === key_id);

  function note(checkpoint: AuditCheckpoint, source: Partial<Statement>): Statement {
    const text = JSON.stringify(Object.entries(checkpoint).sort());
    const statement = statements.get(text) ?? { checkpoint, isKept: false, isStored: false };
    statements.set(text, Object.assign(statement, source));
    return statement;
  }
  for (const [source, checkpoints] of [
    [{ isKept: true }, kept],
    [{ isStored: true }, database?.checkpoints ?? []],
  ] as const) {
    for (const checkpoint of checkpoints) {
      const { position } = checkpoint;
      expected.set(position, [...(expected.get(position) ?? []), note(checkpoint, source)]);
    }
  }

  function follow(entry: AuditEvent): void {
    const { position, id } = entry;
    if (!last) return;
    const next = last.position + 1;
    if (position > next) {
      tell(next, null, `${missing(next, position - 1)} before entry ${position} (${id}).`);
    } else if (position < next) {
      tell(position, id, `The entry comes after entry ${last.position}. It was moved or duplicated.`);
    } else if (chainBegin === undefined) {
      // Entries of before there was a chain. The first of the chain says so.
      if (entry.hash !== null && entry.previous_hash !== genesisHash) {
        tell(position, id, 'The hash of the previous entry is missing.');
      }
    } else if (entry.previous_hash !== last.hash) {
      tell(position, id, `The entry does not follow entry ${last.position}. One of them was replaced.`);
    }
  }

  /** False: the entry does not have the hash that it says. */
  function checkHash(entry: AuditEvent): boolean {
    const { hash, address, user_agent, patch, salts, ...chained } = entry;
    if (hash === null) {
      if (chainBegin !== undefined) tell(entry.position, entry.id, 'The hash of the entry is missing.');
      return false;
    }
    chainBegin ??= entry.position;
    const isWhole = findHash(chained) === hash;
    if (!isWhole) tell(entry.position, entry.id, 'The entry or its hash was modified.');
    for (const field of personalFields) checkPersonal(entry, field);
    for (const name of [...Object.keys(entry.commitments), ...Object.keys(salts)]) {
      if (!(personalFields as readonly string[]).includes(name))
        tell(entry.position, entry.id, `The field ${name} is missing.`);
    }
    return isWhole;
  }

  function checkPersonal(entry: AuditEvent, field: (typeof personalFields)[number]): void {
    const [value, salt, commitment] = [entry[field], entry.salts[field], entry.commitments[field]];
    const isThere = value !== null && value !== undefined;
    if (!isThere && salt === undefined) {
      if (commitment !== undefined) erasures.isMissing(entry.position, field);
    } else if (!isThere || salt === undefined || commitment === undefined || !commits(salt, value, commitment)) {
      tell(entry.position, entry.id, `The ${field} of the entry was modified and no longer matches its commitment.`);
    }
  }

  /** What the trail says of itself. */
  function learn({ type, position, id, data, patch }: AuditEvent): void {
    if (type === 'audit.erased') erasures.tells(position, data);
    if (type === 'audit.key_created') {
      const [kid, x] = [(data.key as { id?: unknown })?.id, (patch as { value?: unknown }[] | null)?.[0]?.value];
      named.set(String(kid), { position, id, jwk: { kty: 'OKP', crv: 'Ed25519', x, kid } });
    }
    if (type !== 'audit.checkpoint') return;
    const checkpoint = data as unknown as AuditCheckpoint;
    const statement = note(checkpoint, { told: { position, id } });
    const reached = recent.get(checkpoint.position);
    if (reached) statement.reached = reached;
    for (const before of recent.keys()) if (before <= checkpoint.position) recent.delete(before);
  }

  /** Those whose signatures are right. */
  function checkSignatures(known: KeySet): AuditCheckpoint[] {
    const unknown = new Map<string, Statement[]>();
    const right: AuditCheckpoint[] = [];
    for (const statement of statements.values()) {
      const { checkpoint, told } = statement;
      const place = [told?.position ?? checkpoint.position, told?.id ?? null] as const;
      const isRight = findIsSigned(checkpoint, known);
      if (isRight === undefined) {
        unknown.set(checkpoint.key_id, [...(unknown.get(checkpoint.key_id) ?? []), statement]);
      } else if (!isRight) {
        tell(...place, 'The signature of the checkpoint is invalid.');
      } else if (organizationId !== undefined && checkpoint.organization_id !== organizationId) {
        tell(...place, 'The checkpoint belongs to another organization.');
      } else {
        right.push(checkpoint);
        compare(statement);
      }
    }
    for (const [key, signed] of unknown) {
      const position = Math.min(...signed.map(({ checkpoint }) => checkpoint.position));
      const what = signed.length === 1 ? 'The checkpoint' : `${signed.length} checkpoints from here on`;
      tell(position, null, `${what} cannot be verified: the key ${key} is unknown.${database ? '' : keyAdvice}`);
    }
    return right;
  }

  /** The checkpoint and the entry at its position must have the same hash. */
  function compare({ checkpoint, isKept, isStored, told, reached }: Statement): void {
    const { position, hash, signed_at } = checkpoint;
    const beginning = (first?.position ?? 1) - 1;
    const isBefore = position < beginning;
    const found = reached ?? (position === beginning && first ? { hash: first.previousHash, id: null } : undefined);
    if (isKept && isBefore) {
      const problem = `The trail starts after position ${beginning}, so it cannot be compared with your checkpoint of ${signed_at}.`;
      tell(position, null, problem);
    }
    if (database && told && !isStored && !isBefore) {
      tell(told.position, told.id, 'The checkpoint that the entry refers to is missing from the database.');
    }
    if (found && found.hash !== hash) {
      const problem = `The trail does not lead to the checkpoint of ${signed_at}. An earlier entry was modified and the hashes after it were recomputed.`;
      tell(position, found.id, problem);
    } else if (reached) {
      coveredUntil = Math.max(coveredUntil, position);
    } else if (told && !found && !isBefore) {
      tell(told.position, told.id, 'The checkpoint that the entry refers to cannot be compared.');
    }
    if (position > (last?.position ?? 0)) {
      const from = (last?.position ?? 0) + 1;
      tell(from, null, `${missing(from, position)} at the end. There is a checkpoint of ${signed_at}.`);
    }
  }

  /** What was cut off at the beginning must be what a signature says, and what the retention of that time removed. */
  function checkBeginning(right: readonly AuditCheckpoint[]): Verification['cut'] {
    if (!first) return null;
    const position = first.position - 1;
    const noted = database?.cutUntil ?? 0;
    if (first.hash === null || (first.isWhole && first.previousHash === genesisHash)) {
      if (noted !== 0)
        tell(1, null, `Nothing was removed, but the database says that the trail starts after ${noted}.`);
      return null;
    }
    if (position === 0) {
      tell(1, null, 'The trail starts differently.');
      return null;
    }
    const gone = missing(1, position);
    const end = right.find((one) => one.position === position && one.hash === first?.previousHash);
    const later = right.filter((one) => one.position > position && one.cut !== undefined);
    const cut = later.find((one) => one.cut?.position === position)?.cut;
    // A version that did not record cuts made it: so it signed the checkpoint there, and nothing since says otherwise.
    const isOfEarlierVersion =
      end?.cut === undefined && later.every((one) => one.cut?.position === position && one.cut.at === null);
    if (database && noted !== position) {
      tell(1, null, `${gone}, but the database says that the trail starts after ${noted}.`);
    } else if (!end) {
      tell(1, null, `${gone}, and no signed checkpoint confirms that the trail was cut there.`);
    } else if (cut && cut.at !== null && cut.retention_days !== null) {
      const until = Date.parse(cut.at) - cut.retention_days * dayMs;
      if (Date.parse(end.signed_at) <= until) return cut;
      const problem = `${gone}. They were removed on ${cut.at}, although the retention of ${cut.retention_days} days would have kept them.`;
      tell(1, null, problem);
    } else if (isOfEarlierVersion) {
      return { position, at: null, retention_days: null };
    } else {
      tell(1, null, `${gone}, and no signed checkpoint confirms that retention removed them.`);
    }
    return null;
  }

  return {
    add(given) {
      entries++;
      if (!isEntry(given)) {
        const position = (last?.position ?? 0) + 1;
        tell(position, idOf(given), `Item ${entries} is not an audit entry.`);
        return;
      }
      organizationId ??= given.organization_id;
      if (given.organization_id !== organizationId) {
        tell(given.position, given.id, 'The entry belongs to another organization.');
      }
      follow(given);
      const isWhole = checkHash(given);
      const { position, hash, id, previous_hash: previousHash } = given;
      first ??= { position, previousHash, isWhole, hash };
      last = { position, hash };
      recent.set(position, { hash, id });
      for (const statement of expected.get(position) ?? []) statement.reached = { hash, id };
      expected.delete(position);
      if (isWhole) learn(given);
    },
    end() {
      const ownKeys = new Map([...named.values()].flatMap(({ jwk }) => [...(keySetOf([jwk]) ?? [])]));
      const right = checkSignatures(keys ?? ownKeys);
      const cut = checkBeginning(right);
      if (last && chainBegin === undefined) {
        tell(null, null, 'No entry has a hash, so nothing can be verified.');
      }
      for (const [kid, { position, id }] of named) {
        if (database && !keys?.has(kid))
          tell(position, id, `The key ${kid} that the entry refers to is missing or was modified.`);
      }
      for (const { position, fields } of erasures.unexplained()) {
        tell(
          position,
          null,
          `The ${fields.join(' and the ')} of the entry is missing, and no entry records that it was erased.`,
        );
      }
      return {
        faults: inOrder(faults),
        entries,
        last: last ?? { position: 0, hash: null },
        coveredUntil,
        unchained: cut === null ? (chainBegin ?? (last?.position ?? 0) + 1) - 1 : 0,
        cut,
        erased: erasures.count(),
        trustsOwnKeys: keys === undefined && [...statements.values()].some((one) => !isVouchedFor(one.checkpoint)),
      };
    },
  };
}

export const inOrder = (faults: readonly Fault[]) =>
  faults.toSorted((one, other) => (one.position ?? 0) - (other.position ?? 0));

const keyAdvice = ' Pass a copy of /.well-known/inlay/audit-checkpoints, which contains the keys, with --checkpoint.';

function missing(from: number, to: number): string {
  return from === to ? `Entry ${from} is missing` : `Entries ${from} to ${to} are missing`;
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

/** Undefined: the key is not known. False also for what is not a checkpoint. */
function findIsSigned(checkpoint: AuditCheckpoint, keys: KeySet): boolean | undefined {
  try {
    return isSigned(checkpoint, keys);
  } catch {
    return false;
  }
}

function isEntry(value: unknown): value is AuditEvent {
  if (typeof value !== 'object' || value === null) return false;
  const { position, id, hash, organization_id, previous_hash, commitments, salts, data } = value as Record<
    string,
    unknown
  >;
  return (
    Number.isSafeInteger(position) &&
    typeof id === 'string' &&
    (hash === null || typeof hash === 'string') &&
    typeof organization_id === 'string' &&
    typeof previous_hash === 'string' &&
    [commitments, salts, data].every(isObject)
  );
}

function idOf(value: unknown): string | null {
  const { id } = (typeof value === 'object' && value !== null ? value : {}) as { id?: unknown };
  return typeof id === 'string' ? id : null;
}
