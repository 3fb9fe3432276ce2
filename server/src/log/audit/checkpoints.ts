/**
 * Checkpoints of the audit trail: signed statements of an organization's trail hash at a position. Anyone who can write
 * to the database can recompute a hash chain, but not a checkpoint, whose key is kept outside of the database; and a
 * checkpoint kept elsewhere shows that the end was cut off. A checkpoint also records which beginning retention has
 * removed, so nobody else can remove one.
 */
import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import type { AuditCheckpoint } from '@inlay/contract/log/audit';
import type { AuditCheckpointRow } from '../../kernel/db/tables.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import { jwkOf } from '../../kernel/key-pairs.ts';
import { canonicalJson } from '../events/canonical-json.ts';

type Unsigned = Omit<AuditCheckpoint, 'signature'>;

function signedText({ organization_id, position, hash, signed_at, key_id, cut }: Unsigned): Buffer {
  const always = { type: 'inlay-audit-checkpoint', organization_id, position, hash, signed_at, key_id };
  const said = cut === undefined ? always : { ...always, cut };
  return Buffer.from(canonicalJson(said));
}

export function signCheckpoint(unsigned: Unsigned, privateKey: KeyObject): AuditCheckpoint {
  return { ...unsigned, signature: sign(null, signedText(unsigned), privateKey).toString('base64') };
}

/** Public keys by their ids. */
export type KeySet = ReadonlyMap<string, KeyObject>;

/** Undefined: one of them is not a key, or has the id of another. */
export function keySetOf(jwks: readonly object[]): KeySet | undefined {
  try {
    const keys = jwks.map((jwk) => createPublicKey({ key: jwk as Record<string, string>, format: 'jwk' }));
    const ids = keys.map((key) => jwkOf(key).kid);
    const isNamedRight = jwks.every((jwk, index) => (jwk as { kid?: unknown }).kid === ids[index]);
    return isNamedRight ? new Map(keys.map((key, index) => [ids[index] ?? '', key])) : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined: the key is not known. */
export function isSigned(checkpoint: AuditCheckpoint, keys: KeySet): boolean | undefined {
  const key = keys.get(checkpoint.key_id);
  const signature = Buffer.from(checkpoint.signature, 'base64');
  // The decoder passes over characters that are not base64.
  if (signature.toString('base64') !== checkpoint.signature) return false;
  return key && verify(null, signedText(checkpoint), key, signature);
}

export function presentCheckpoint({ cut, ...row }: AuditCheckpointRow): AuditCheckpoint {
  return { ...row, signed_at: isoTime(row.signed_at), ...(cut !== null && { cut: JSON.parse(cut) }) };
}
