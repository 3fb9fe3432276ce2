/**
 * A model of a provider that rotates refresh tokens and notices when an old token comes back: then it ends the whole grant.
 * It is a network for the service, without sockets, and knows everything about every token: who sent it how often, and
 * whether a grant has really ended.
 */
import type { ProviderNetwork, ProviderRequest } from '../../src/credentials/provider/network.ts';

export interface ModelGrant {
  name: string;
  /** Why it has ended. */
  ended: 'revoked' | 'reused' | undefined;
  /** The refresh token that works, and when it was made. */
  current: string;
  /** What it replaced, until it is used itself. */
  former: { token: string; replacedAt: number } | undefined;
  accessToken: string;
  made: number;
}

export interface ModelOptions {
  now: () => number;
  /** How long an old refresh token still gives its successor. */
  graceMs?: number;
  /** Whether a refresh gives a new refresh token. */
  rotates?: boolean;
  accessSeconds?: number;
}

export class ModelProvider {
  readonly grants: ModelGrant[] = [];
  readonly #options: Required<ModelOptions>;
  readonly #byToken = new Map<string, ModelGrant>();
  /** Every refresh token that arrived, in order. */
  readonly sent: string[] = [];
  readonly revoked: string[] = [];

  constructor(options: ModelOptions) {
    this.#options = { graceMs: 0, rotates: true, accessSeconds: 3_600, ...options };
  }

  /** What a customer's sign-in gives. */
  signIn(name: string): { accessToken: string; refreshToken: string; expiresInSeconds: number } {
    const grant: ModelGrant = {
      ...{ name, ended: undefined, current: '', former: undefined, accessToken: '', made: 0 },
    };
    this.grants.push(grant);
    this.#rotate(grant);
    const { accessToken, current: refreshToken } = grant;
    return { accessToken, refreshToken, expiresInSeconds: this.#options.accessSeconds };
  }

  grantOf(refreshToken: string): ModelGrant | undefined {
    return this.#byToken.get(refreshToken);
  }

  /** As the service reaches it; a test puts its faults around. */
  network(): ProviderNetwork {
    return { request: async (url, request) => this.answer(url, request), addressFault: () => undefined };
  }

  answer(url: string, request: ProviderRequest): { status: number; contentType: string; body: string } {
    const params = new URLSearchParams(request.body);
    const [status, body] = url.endsWith('/revoke') ? this.#revoke(params) : this.#token(params);
    return { status, contentType: 'application/json', body: JSON.stringify(body) };
  }

  #token(params: URLSearchParams): [number, object] {
    if (params.get('client_secret') !== 'very secret') return [401, { error: 'invalid_client' }];
    if (params.get('grant_type') === 'client_credentials') {
      return [200, { access_token: `own access ${this.sent.push('')}`, expires_in: this.#options.accessSeconds }];
    }
    const token = params.get('refresh_token') ?? '';
    this.sent.push(token);
    const grant = this.#byToken.get(token);
    if (!grant || grant.ended !== undefined) return [400, { error: 'invalid_grant' }];
    if (token === grant.current) {
      this.#rotate(grant);
    } else if (token !== grant.former?.token || this.#options.now() - grant.former.replacedAt > this.#options.graceMs) {
      grant.ended = 'reused';
      return [400, { error: 'invalid_grant', error_description: `the token ${token} was used before` }];
    }
    const { accessToken: access_token, current: refresh_token } = grant;
    return [200, { access_token, refresh_token, expires_in: this.#options.accessSeconds }];
  }

  #rotate(grant: ModelGrant): void {
    grant.made++;
    grant.accessToken = `access ${grant.name} ${grant.made}`;
    if (grant.current !== '' && !this.#options.rotates) return;
    grant.former = { token: grant.current, replacedAt: this.#options.now() };
    grant.current = `refresh ${grant.name} ${grant.made}`;
    this.#byToken.set(grant.current, grant);
  }

  #revoke(params: URLSearchParams): [number, object] {
    const token = params.get('token') ?? '';
    this.revoked.push(token);
    const grant = this.#byToken.get(token);
    if (grant) grant.ended = 'revoked';
    return [200, {}];
  }
}
