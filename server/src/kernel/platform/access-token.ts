/**
 * The platform's access token: fetched with the client credentials, kept until shortly before it expires, one fetch in
 * flight.
 */
import { decodeJwt } from 'jose';
import type { Runtime } from '../runtime.ts';
import { describeAnswer } from './foreign-errors.ts';
import { PlatformError } from './platform-port.ts';
import { type PlatformAnswer, type Transport, TransportError } from './transport.ts';

export interface ClientCredentials {
  clientId: string;
  clientSecret: string;
}

const renewBeforeMs = 60_000;
const timeoutMs = 5_000;

export class AccessToken {
  #token: string | undefined;
  #renewAt = 0;
  #fetching: Promise<string> | undefined;

  constructor(
    private readonly transport: Transport,
    private readonly credentials: ClientCredentials,
    private readonly runtime: Runtime,
  ) {}

  async get(): Promise<string> {
    if (this.#token !== undefined && this.runtime.elapsed() < this.#renewAt) return this.#token;
    this.#fetching ??= this.#fetch().finally(() => {
      this.#fetching = undefined;
    });
    return await this.#fetching;
  }

  /** Forgets a token that the platform refused, unless a newer one has been fetched meanwhile. */
  drop(refused: string): void {
    if (this.#token === refused) this.#token = undefined;
  }

  async #fetch(): Promise<string> {
    const answer = await this.#request();
    if (answer.status === 400 || answer.status === 401 || answer.status === 403) {
      throw new PlatformError('unauthorised', `client credentials rejected: ${describeAnswer(answer)}`);
    }
    const body = answer.status === 200 ? parse(answer.text) : undefined;
    if (typeof body?.access_token !== 'string') {
      throw new PlatformError('unavailable', `no access token: ${describeAnswer(answer)}`);
    }
    this.#token = body.access_token;
    const lifetimeMs = this.#lifetimeMs(body.access_token, body.expires_in);
    this.#renewAt = this.runtime.elapsed() + lifetimeMs - Math.min(renewBeforeMs, lifetimeMs / 2);
    return body.access_token;
  }

  async #request(): Promise<PlatformAnswer> {
    try {
      return await this.transport.send({
        method: 'POST',
        path: '/applications/token',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({
          client_id: this.credentials.clientId,
          client_secret: this.credentials.clientSecret,
          // Older platforms read the first spelling, newer ones require the second.
          'grant-type': 'client_credentials',
          grant_type: 'client_credentials',
        }),
        timeoutMs,
      });
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      // Asking for a token changes nothing, and the request that needed the token was certainly not applied.
      throw new PlatformError('unavailable', error.message, { cause: error, timedOut: error.timedOut });
    }
  }

  /** The token's own `exp` wins over `expires_in`: the two have been seen to disagree. */
  #lifetimeMs(token: string, expiresIn: unknown): number {
    const announced = (typeof expiresIn === 'number' ? expiresIn : 180) * 1000;
    try {
      const { exp, iat } = decodeJwt(token);
      if (exp === undefined) return announced;
      return Math.min(announced, exp * 1000 - (iat === undefined ? this.runtime.now() : iat * 1000));
    } catch {
      return announced; // The token is no JWT. That is allowed.
    }
  }
}

function parse(text: string): { access_token?: unknown; expires_in?: unknown } | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The caller treats an unreadable answer as none.
  }
}
