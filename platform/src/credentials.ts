/**
 * Credentials stored outside the platform: the result of a customer's sign-in with a provider. The platform knows only
 * their ids. It requests the values when a connector starts and again when a token expires, and stores none of them.
 */
export interface CredentialRef {
  workspaceId: string;
  credentialId: string;
}

export interface CredentialAccess {
  /**
   * Keyed by the names that a credential's fields use: `access_token`, values from the provider, and handed-over
   * values.
   */
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
  /** The connector refreshes the tokens itself and gets everything it needs for that. */
  handsOver?: boolean;
}

/** Tokens that the connector obtained itself. */
export interface HandedBack {
  /** The generation that the connector was given. */
  generation: number;
  accessToken?: string;
  refreshToken?: string;
  expiresAt?: number;
}

export interface Credentials {
  /** Throws CredentialNeedsAttention, CredentialUnavailable or KeeperUnreachable. */
  accessTo(ref: CredentialRef, options: AccessOptions): Promise<CredentialAccess>;
  /**
   * Returns the current generation of the tokens; undefined if they were replaced in the meantime. Throws
   * KeeperUnreachable.
   */
  handBack(ref: CredentialRef, tokens: HandedBack): Promise<number | undefined>;
  /**
   * Why the keeper cannot be reached, for the operator; undefined if it can. Until then, jobs that need a credential
   * wait.
   */
  outage(): string | undefined;
  /** The same, after asking the keeper now. */
  test(): Promise<string | undefined>;
}

/** Someone must act: the customer must sign in again, or the operator must fix the OAuth client. */
export class CredentialNeedsAttention extends Error {
  override readonly name = 'CredentialNeedsAttention';

  constructor(
    readonly whose: 'customer' | 'operator',
    options?: ErrorOptions,
  ) {
    super(`The ${whose} must fix the credential.`, options);
  }
}

/** No token is available at the moment. Retrying later may help. */
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
