/** What the tests use of the package, which has no types. */
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http';

  export interface Configuration {
    clients: {
      client_id: string;
      client_secret: string;
      redirect_uris: string[];
      grant_types: string[];
      response_types: string[];
    }[];
    scopes: string[];
    claims: Record<string, string[]>;
    findAccount(context: unknown, id: string): { accountId: string; claims(): Promise<Record<string, unknown>> };
    /** False: claims of scopes are in the ID token, too. */
    conformIdTokenClaims?: boolean;
    cookies: { keys: string[] };
  }

  export default class Provider {
    constructor(issuer: string, configuration: Configuration);
    callback(): RequestListener;
  }
}
