/** What of a sign-in is secret, and how each part is kept: random texts as hashes, the rest sealed. */
import { createHash, randomBytes } from 'node:crypto';
import type { OAuthFlowRow } from '../db/tables.ts';
import type { Sealer } from '../sealing.ts';
import type { GivenTokens } from './credentials.ts';

export interface FlowSecrets {
  /** Undefined where the provider refuses PKCE. */
  verifier?: string | undefined;
  nonce?: string | undefined;
  /** The tokens of another account than before, until the customer confirms it, and when they came. */
  given?: GivenTokens | undefined;
  receivedAt?: number | undefined;
  /** What came of a test. */
  report?: TestReport | undefined;
  /** The credential with which the tokens of a test have ended. */
  leftoverId?: string | undefined;
}

/** What an operator wants to know of a sign-in that was tried out. */
export interface TestReport {
  asked: string[];
  /** Null: the provider did not say it, so it is as asked. */
  granted: string[] | null;
  account: string | null;
  canTellAccounts: boolean;
  expiresInSeconds: number | null;
  hasRefreshToken: boolean;
  /** The names of the values that the provider told. */
  taken: string[];
}

const contextOf = (flowId: string) => `oauth flow ${flowId}`;

/** 256 bits, for an address, a state or a cookie. */
export const newSecret = () => randomBytes(32).toString('base64url');
export const hashOf = (secret: string) => createHash('sha256').update(secret).digest('hex');

export const sealFlow = (sealer: Sealer, flowId: string, secrets: FlowSecrets) =>
  sealer.seal(Buffer.from(JSON.stringify(secrets)), contextOf(flowId));

export function openFlow(sealer: Sealer, { id, sealed_secrets }: OAuthFlowRow): FlowSecrets {
  return sealed_secrets === '' ? {} : JSON.parse(sealer.open(sealed_secrets, contextOf(id)).toString());
}
