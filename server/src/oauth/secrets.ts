/** The secrets of a client: one that is used, and during a rotation the one before. They are stored sealed. */
import type { Sealer } from '../sealing.ts';

export interface ClientSecret {
  secret: string;
  createdAt: number;
  /** Null: until it is replaced. */
  usedUntil: number | null;
}

const contextOf = (clientId: string) => `oauth client ${clientId}`;

/** No secrets give an empty text. */
export function sealSecrets(sealer: Sealer, clientId: string, secrets: readonly ClientSecret[]): string {
  return secrets.length === 0 ? '' : sealer.seal(Buffer.from(JSON.stringify(secrets)), contextOf(clientId));
}

export function openSecrets(sealer: Sealer, row: { id: string; sealed_secrets: string }): ClientSecret[] {
  return row.sealed_secrets === '' ? [] : JSON.parse(sealer.open(row.sealed_secrets, contextOf(row.id)).toString());
}

export const secretsAt = (secrets: readonly ClientSecret[], now: number) =>
  secrets.filter(({ usedUntil }) => usedUntil === null || usedUntil > now);

/** The new one first. Of the old ones, only the last is tried, until `end`. */
export function rotateSecrets(old: readonly ClientSecret[], secret: string, now: number, end: number): ClientSecret[] {
  const made = { secret, createdAt: now, usedUntil: null };
  const [last] = secretsAt(old, now);
  return last && end > now ? [made, { ...last, usedUntil: Math.min(last.usedUntil ?? end, end) }] : [made];
}
