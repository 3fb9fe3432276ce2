/**
 * Application tokens: who may call the platform. There is one application, given by configuration. Its access tokens
 * are signed with a key derived from the client secret, so the database holds nothing that could mint one, tokens
 * outlive a restart, and changing the secret ends all of them at once.
 */
import { createHash, hkdfSync, timingSafeEqual } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import { OpaqueRefusal, Problem } from '../problems.ts';
import type { Runtime } from '../runtime.ts';
import { ClientGuesses, type Guess } from './client-guesses.ts';

const issuer = 'inlay-platform';
const audience = 'inlay-platform-api';

interface ApplicationTokenOptions {
  clientId: string;
  clientSecret: string;
  ttlSeconds: number;
  runtime: Runtime;
}

export interface ApplicationTokens {
  /**
   * Throws for a wrong pair. With the address it comes from, also after too many wrong ones; a caller within the process
   * has none.
   */
  issue(clientId: string, clientSecret: string, address?: string): Promise<{ token: string; expiresInSeconds: number }>;
  /** Throws the `invalid-api-key` problem unless the header carries a token of ours that is still good. */
  verify(authorization: string | undefined): Promise<void>;
}

export function createApplicationTokens({
  clientId,
  clientSecret,
  ttlSeconds,
  runtime,
}: ApplicationTokenOptions): ApplicationTokens {
  // An empty secret would let anyone in, and would derive a key that everyone knows.
  if (clientId === '' || clientSecret === '') throw new Error('The platform requires a client ID and a client secret.');
  const key = new Uint8Array(hkdfSync('sha256', clientSecret, clientId, 'inlay platform access token', 32));

  const guesses = new ClientGuesses(runtime);

  function count(guess: Guess, isRight: boolean): void {
    const retryAfterSeconds = guesses.waitSeconds(guess);
    if (retryAfterSeconds !== undefined) {
      const message = `Too many failed attempts. Try again in ${retryAfterSeconds} s.`;
      throw new Problem('too-many-requests', { message }, { retryAfterSeconds });
    }
    if (isRight) guesses.recordRight(guess);
    else guesses.recordWrong(guess);
  }

  return {
    async issue(givenId, givenSecret, address) {
      // Both are always compared, so that the time taken says nothing about which one was wrong.
      const idMatches = sameText(givenId, clientId);
      const secretMatches = sameText(givenSecret, clientSecret);
      const isRight = idMatches && secretMatches;
      if (address !== undefined) count({ address, knowsClient: idMatches }, isRight);
      if (!isRight) throw new OpaqueRefusal(401, 'unknown client id or wrong client secret');
      const issuedAt = Math.floor(runtime.now() / 1000);
      const token = await new SignJWT()
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(clientId)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + ttlSeconds)
        .sign(key);
      return { token, expiresInSeconds: ttlSeconds };
    },

    async verify(authorization) {
      const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
      if (token === undefined) throw new Problem('invalid-api-key');
      try {
        await jwtVerify(token, key, {
          algorithms: ['HS256'],
          issuer,
          audience,
          subject: clientId,
          requiredClaims: ['exp'],
          currentDate: new Date(runtime.now()),
        });
      } catch (cause) {
        if (cause instanceof errors.JOSEError) throw new Problem('invalid-api-key', null, { cause });
        throw cause;
      }
    },
  };
}

/** Hashed first because the comparison needs equal lengths, and a length is information too. */
function sameText(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
