/**
 * Checkpoints of the audit trail: signed statements which hash the trail of an organization had at a position. A chain of
 * hashes alone can be computed anew by anybody who can write to the database. A checkpoint cannot, without the key that is
 * kept outside of the database; and a checkpoint that somebody else keeps shows that the end was cut off.
 */
import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import type { AuditCheckpoint } from '@inlay/contract/audit';
import type { AuditCheckpointRow } from '../db/tables.ts';
import { canonicalJson } from '../events/canonical-json.ts';
import { isoTime } from '../iso-time.ts';

type Unsigned = Omit<AuditCheckpoint, 'signature'>;

function signedText({ organization_id, position, hash, signed_at, key_id }: Unsigned): Buffer {
  const said = { type: 'inlay-audit-checkpoint', organization_id, position, hash, signed_at, key_id };
  return Buffer.from(canonicalJson(said));
}

export function signCheckpoint(unsigned: Unsigned, privateKey: KeyObject): AuditCheckpoint {
  return { ...unsigned, signature: sign(null, signedText(unsigned), privateKey).toString('base64') };
}

/** Public keys by their ids. */
export type KeySet = ReadonlyMap<string, KeyObject>;

export function keySetOf(jwks: readonly object[]): KeySet {
  return new Map(
    jwks.map((jwk) => [
      String((jwk as { kid?: unknown }).kid),
      createPublicKey({ key: jwk as Record<string, string>, format: 'jwk' }),
    ]),
  );
}

/** Undefined: the key is not known. */
export function isSigned(checkpoint: AuditCheckpoint, keys: KeySet): boolean | undefined {
  const key = keys.get(checkpoint.key_id);
  return key && verify(null, signedText(checkpoint), key, Buffer.from(checkpoint.signature, 'base64'));
}

export function presentCheckpoint(row: AuditCheckpointRow): AuditCheckpoint {
  return { ...row, signed_at: isoTime(row.signed_at) };
}
