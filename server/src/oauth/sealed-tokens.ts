/** The tokens of a credential. They are stored sealed as a whole, and nothing of them is stored anywhere else. */
import type { Sealer } from '../sealing.ts';

export interface StoredTokens {
  accessToken: string;
  /** Null: the customer has to sign in again when the access token ends. */
  refreshToken: string | null;
  /** By the clock of the database. */
  issuedAt: number;
  /** Values that the provider told and a source needs. */
  taken: Record<string, string>;
}

const contextOf = (credentialId: string) => `credential ${credentialId}`;

export function sealTokens(sealer: Sealer, credentialId: string, tokens: StoredTokens): string {
  return sealer.seal(Buffer.from(JSON.stringify(tokens)), contextOf(credentialId));
}

/** Undefined: a platform has them, or they have ended. */
export function openTokens(sealer: Sealer, row: { id: string; sealed_tokens: string }): StoredTokens | undefined {
  if (row.sealed_tokens === '') return undefined;
  return JSON.parse(sealer.open(row.sealed_tokens, contextOf(row.id)).toString());
}
