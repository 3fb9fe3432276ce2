/** What of a flow is secret, and how each part is kept: random texts as hashes, the rest sealed. */
import { createHash, randomBytes } from 'node:crypto';
import type { EnteredSource } from '@inlay/contract/credentials/oauth-flows';
import type { OAuthFlowRow } from '../../kernel/db/tables.ts';
import type { Sealer } from '../../kernel/sealing.ts';
import type { GivenTokens } from '../tokens/credentials.ts';

export interface FlowSecrets {
  /** Undefined where the provider refuses PKCE. */
  verifier?: string | undefined;
  nonce?: string | undefined;
  /** The tokens of another account than before, until the customer confirms it, and when they came. */
  given?: GivenTokens | undefined;
  receivedAt?: number | undefined;
  /** The outcome of a test. */
  report?: TestReport | undefined;
  /** The credential with which the tokens of a test have ended. */
  leftoverId?: string | undefined;
}

/** What an operator wants to know about a test of a sign-in. */
export interface TestReport {
  asked: string[];
  /** Null: the provider did not say it, so it is as asked. */
  granted: string[] | null;
  account: string | null;
  canTellAccounts: boolean;
  expiresInSeconds: number | null;
  hasRefreshToken: boolean;
  /** The names of the values that the provider returned. */
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

const contextOfEntered = (flowId: string) => `oauth flow entries ${flowId}`;
/** Far more than any form holds; customers must not use flows as a store. */
const mostEnteredBytes = 32_768;

/** Empty if there is nothing, or too much, to keep. */
export function sealEntered(sealer: Sealer, flowId: string, entered: EnteredSource | undefined): string {
  const bytes = Buffer.from(JSON.stringify(entered ?? {}));
  const isKept = entered !== undefined && bytes.length <= mostEnteredBytes;
  return isKept ? sealer.seal(bytes, contextOfEntered(flowId)) : '';
}

export function openEntered(sealer: Sealer, { id, sealed_entered }: OAuthFlowRow): EnteredSource | null {
  return sealed_entered === '' ? null : JSON.parse(sealer.open(sealed_entered, contextOfEntered(id)).toString());
}
