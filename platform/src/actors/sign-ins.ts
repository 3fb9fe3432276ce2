/**
 * Provides a connector run with a credential: requests the values at the start, fetches fresh tokens while it runs, and
 * hands back tokens that the connector obtained itself. Nothing is stored here.
 */
import type { Configuration } from '@inlay/contract/catalog/connector-configuration';
import {
  type AccessOptions,
  type CredentialAccess,
  CredentialNeedsAttention,
  type CredentialRef,
  type Credentials,
  CredentialUnavailable,
  KeeperUnreachable,
} from '../credentials.ts';
import type { ConfiguredConnector, Failure, JobLog, SignIn } from '../runner/runner.ts';
import { RunDelayed, RunFailure } from '../runner/runner.ts';
import type { Runtime } from '../runtime.ts';
import { filled, valuesAt } from './actor-credential.ts';
import type { ActorsContext } from './context.ts';
import { CredentialInUse, inTurn } from './credential-turns.ts';
import type { ActorCredential } from './requests.ts';

interface SignInOptions {
  workspaceId: string;
  credential: ActorCredential;
  configuration: Configuration;
  /** The values of a whole configuration that its specification calls secret. */
  secretsOf(configuration: Configuration): string[];
  signal?: AbortSignal | undefined;
  log?: JobLog | undefined;
  /** How long to wait for a credential that is in use or whose keeper cannot be reached. */
  patienceMs?: number;
  forMs?: number;
}

/** How long a connector whose token has ended waits for a keeper that cannot be reached. Its job is delayed after that. */
const freshPatienceMs = 60_000;
const firstPauseMs = 250;
const longestPauseMs = 5_000;

type SignedIn = Pick<ConfiguredConnector, 'configuration' | 'secrets' | 'signIn'>;

/** Throws a RunFailure if the credential provides no access, and a RunDelayed if the keeper cannot be reached. */
export async function withSignIn<T>(
  ctx: ActorsContext,
  options: SignInOptions,
  work: (signedIn: SignedIn) => Promise<T>,
): Promise<T> {
  const { workspaceId, credential, signal, log, patienceMs } = options;
  const { credentials } = ctx;
  if (!credentials) {
    const message = 'The platform has no access to credentials. Set INLAY_SERVICE_URL for the platform.';
    throw new RunFailure({ origin: 'platform', type: 'config_error', message });
  }
  const ref = { workspaceId, credentialId: credential.id };
  const run = async () => {
    const given = await signedIn(credentials, ref, options, ctx.runtime);
    try {
      return await work(given);
    } catch (error) {
      if (error instanceof RunFailure) assertNotDelayed(given);
      throw error;
    }
  };
  if (credential.hand_over !== 'refresh_token') return await run();
  const onWait = () => log?.write('INFO', 'platform', 'Waiting: another run is using the same sign-in.');
  try {
    return await inTurn(ctx, ref, { signal, patienceMs, onWait }, run);
  } catch (error) {
    if (!(error instanceof CredentialInUse)) throw error;
    const message = 'A sync is using this sign-in. Try again after it has finished.';
    throw new RunFailure({ origin: 'source', type: 'transient_error', message });
  }
}

/** A failure of a run that waited for a fresh token in vain only follows from that. */
export function assertNotDelayed({ signIn }: Pick<ConfiguredConnector, 'signIn'>): void {
  if (signIn?.delay) throw new RunDelayed(signIn.delay);
}

async function signedIn(
  credentials: Credentials,
  ref: CredentialRef,
  { credential, configuration, secretsOf, forMs, signal, patienceMs: startPatienceMs = 0 }: SignInOptions,
  runtime: Runtime,
): Promise<SignedIn> {
  const handsOver = credential.hand_over === 'refresh_token';
  const ask = async (options: AccessOptions, patienceMs: number) => {
    const wanted = { ...options, ...(handsOver && { handsOver }) };
    const access = await explained(credential, () =>
      patiently(runtime, { patienceMs, signal }, () => credentials.accessTo(ref, wanted)),
    );
    return handsOver ? access : { ...access, values: withoutRefreshing(access.values) };
  };
  const access = await ask(forMs === undefined ? {} : { forMs }, startPatienceMs);
  const whole = filled(configuration, credential, access.values);
  let endsAt = access.expiresAt;
  const signIn: SignIn = {
    ...tokenOf(access),
    startedAt: runtime.now(),
    values: access.values,
    fields: credential.fields,
    handsOver,
    async fresh(options) {
      // The connector asks before its token expires, and continues with the old one if there is no new one yet.
      const needsIt = options.notGeneration !== undefined || (endsAt !== null && endsAt <= runtime.now());
      try {
        const next = await ask(options, needsIt ? freshPatienceMs : 0);
        endsAt = next.expiresAt;
        signIn.delay = undefined;
        return { ...tokenOf(next), values: next.values, secrets: secretsIn(next) };
      } catch (error) {
        if (needsIt && error instanceof RunDelayed) signIn.delay = error.failure;
        throw error;
      }
    },
    takeBack: handsOver ? takingBack(credentials, ref, credential, access, { runtime, signal }) : async () => {},
  };
  return { configuration: whole, secrets: [...secretsOf(whole), ...secretsIn(access)], signIn };
}

/** Asks again and again while the keeper cannot be reached. */
async function patiently<T>(
  runtime: Runtime,
  { patienceMs, signal }: { patienceMs: number; signal?: AbortSignal | undefined },
  ask: () => Promise<T>,
): Promise<T> {
  const startedAt = runtime.elapsed();
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      return await ask();
    } catch (error) {
      const isOver = signal?.aborted || runtime.elapsed() - startedAt >= patienceMs;
      if (isOver || !(error instanceof KeeperUnreachable)) throw error;
      await runtime.sleep(pauseMs, signal);
    }
  }
}

/** Regardless of what the credential contains: a connector that does not refresh tokens gets no refresh token. */
function withoutRefreshing({ refresh_token: _token, client_secret: _secret, ...rest }: CredentialAccess['values']) {
  return rest;
}

const tokenOf = ({ generation, expiresAt }: CredentialAccess) => ({ generation, expiresAt });

/** Values from the provider, such as a shop name, are part of URLs and are not secret. */
const secretsIn = ({ values }: CredentialAccess) =>
  Object.entries(values).flatMap(([name, value]) => (/token|secret|key|password|assertion/.test(name) ? [value] : []));

/** Hands back tokens that a connector reports in its configuration, if they differ from the ones it was given. */
function takingBack(
  credentials: Credentials,
  ref: CredentialRef,
  credential: ActorCredential,
  access: CredentialAccess,
  { runtime, signal }: { runtime: Runtime; signal: AbortSignal | undefined },
): SignIn['takeBack'] {
  let { generation } = access;
  // The connector may have the only copy of its tokens, so retries never give up while it runs.
  const untilReached = { patienceMs: Number.POSITIVE_INFINITY, signal };
  let known = access.values;
  return async (configuration) => {
    const told = valuesAt(configuration, credential);
    const { access_token: accessToken, refresh_token: refreshToken, expires_at: expiry } = told;
    if (accessToken === known.access_token && refreshToken === known.refresh_token) return;
    const expiresAt = expiry === undefined ? undefined : timeOf(expiry);
    const tokens = {
      generation,
      ...(accessToken !== undefined && { accessToken }),
      ...(refreshToken !== undefined && { refreshToken }),
      ...(expiresAt !== undefined && { expiresAt }),
    };
    const kept = await explained(credential, () =>
      patiently(runtime, untilReached, () => credentials.handBack(ref, tokens)),
    );
    generation = kept ?? generation;
    known = { ...known, ...told };
  };
}

/** Connectors write when a token ends as a date, or as seconds or milliseconds since 1970. */
function timeOf(text: string): number | undefined {
  const number = Number(text);
  if (text.trim() !== '' && Number.isFinite(number)) return number > 100_000_000_000 ? number : number * 1000;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}

/** As a failure of the source, worded for the customer where the customer can act. */
async function explained<T>({ fields }: ActorCredential, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CredentialNeedsAttention) {
      throw new RunFailure(error.whose === 'customer' ? signInEnded(fields) : clientRefused);
    }
    if (error instanceof CredentialUnavailable) throw new RunFailure(unavailable);
    if (error instanceof KeeperUnreachable) {
      throw new RunDelayed({ origin: 'platform', type: 'transient_error', message: error.message });
    }
    throw error;
  }
}

const signInEnded = (fields: ActorCredential['fields']): Failure => ({
  origin: 'source',
  type: 'config_error',
  message: 'The sign-in with the provider is no longer valid. Sign in again.',
  fields: Object.values(fields).map((path) => path.join('.')),
});

const clientRefused: Failure = {
  origin: 'platform',
  type: 'config_error',
  message: 'The provider rejected the OAuth client. Check its client ID and client secret.',
};

const unavailable: Failure = {
  origin: 'source',
  type: 'transient_error',
  message: 'The provider is unavailable and returned no access token. Try again later.',
};
