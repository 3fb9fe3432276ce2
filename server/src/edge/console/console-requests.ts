import type { OpenSession } from './sessions.ts';

/** What routes ask about a request of the console; see console.hooks.ts. */
export interface ConsoleRequests<Request> {
  /** The session of the browser, if it has one that works. */
  findSession(request: Request): Promise<OpenSession | undefined>;
  /** Throws for a request that another page may have made. */
  assertOwnPage(request: Request): void;
  /** Throws where a cookie would travel in the clear. */
  assertPrivate(request: Request): void;
  /** The header that gives a browser its session, or takes it away. */
  cookie(secret: string | undefined, maxAgeSeconds: number): string;
  signInCookie(secret: string | undefined): string;
  findSignInCookie(request: Request): string | undefined;
}
