/**
 * Credentials that somebody else keeps: what a customer's sign-in with a provider has given. The platform knows only their
 * ids. It asks for the values when a connector starts, and again when a token ends, and stores none of them.
 */
export interface CredentialRef {
  workspaceId: string;
  credentialId: string;
}

export interface CredentialAccess {
  /** By the names that the fields of a credential use: `access_token`, values of the provider, and what is handed over. */
  values: Record<string, string>;
  /** Grows with every new token. */
  generation: number;
  /** When the access token ends; null where nobody knows. */
  expiresAt: number | null;
}

export interface AccessOptions {
  /** The API has refused the token of this generation: another one is wanted. */
  notGeneration?: number;
  /** How long the token has to be valid, where the provider allows it. */
  forMs?: number;
  /** The connector refreshes by itself, and gets what it needs for that. */
  handsOver?: boolean;
}

/** Tokens that a connector has got by itself. */
export interface HandedBack {
  /** Of what the connector was given. */
  generation: number;
  accessToken?: string;
  refreshToken?: string;
  expiresAt?: number;
}

export interface Credentials {
  /** Throws CredentialNeedsAttention, CredentialUnavailable or KeeperUnreachable. */
  accessTo(ref: CredentialRef, options: AccessOptions): Promise<CredentialAccess>;
  /**
   * Gives the generation that the tokens have now; undefined if others have taken their place meanwhile. Throws
   * KeeperUnreachable.
   */
  handBack(ref: CredentialRef, tokens: HandedBack): Promise<number | undefined>;
  /** Why the keeper cannot be reached, for the operator; undefined if it can. Jobs that need a credential wait meanwhile. */
  outage(): string | undefined;
  /** The same, after asking the keeper now. */
  test(): Promise<string | undefined>;
}

/** Somebody has to do something: the customer has to sign in again, or the operator has to mend the OAuth client. */
export class CredentialNeedsAttention extends Error {
  override readonly name = 'CredentialNeedsAttention';

  constructor(
    readonly whose: 'customer' | 'operator',
    options?: ErrorOptions,
  ) {
    super(`The ${whose} must fix the credential.`, options);
  }
}

/** There is no token at the moment. Trying again later may help. */
export class CredentialUnavailable extends Error {
  override readonly name = 'CredentialUnavailable';
}

/**
 * The keeper of the credentials cannot be asked: a fault between two parts of the deployment. Whatever needs a credential is
 * delayed, and does not count as failed.
 */
export class KeeperUnreachable extends Error {
  override readonly name = 'KeeperUnreachable';
}
