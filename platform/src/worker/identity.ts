/**
 * Who this worker is: with its enrolment token it joins once, and keeps a token of its own in its data directory. The enrolment
 * token may stay in the environment after that; a different one makes it join again.
 */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Runtime } from '../runtime.ts';
import { CoordinatorClient } from './coordinator-client.ts';

const file = 'worker.json';

interface Identity {
  url: string;
  /** A hash of the enrolment token. */
  joinedWith: string;
  secret: string;
  /** Null until the coordinator has answered: then it is asked again with the same secret. */
  workerId: string | null;
}

interface JoinOptions {
  url: string;
  /** Undefined: only a worker that has joined before can start. */
  token: string | undefined;
  dataDir: string;
  runtime: Pick<Runtime, 'sleep'>;
  signal: AbortSignal;
}

/** Returns the header by which the coordinator knows this worker. */
export async function joinCoordinator({ url, token, dataDir, runtime, signal }: JoinOptions): Promise<string> {
  const path = join(dataDir, file);
  const kept: Identity | undefined = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
  const joinedWith = token === undefined ? undefined : createHash('sha256').update(token).digest('base64url');
  const isSame = kept && kept.url === url && (joinedWith === undefined || kept.joinedWith === joinedWith);
  if (isSame && kept.workerId !== null) return headerOf(kept.workerId, kept.secret);
  if (token === undefined || joinedWith === undefined) {
    throw new Error('This worker has not joined yet. Enrol it (inlay workers enrol) and set INLAY_WORKER_TOKEN.');
  }
  const identity: Identity = isSame
    ? kept
    : { url, joinedWith, secret: randomBytes(32).toString('base64url'), workerId: null };
  // Before it is used: after a crash the same machine repeats itself, which a one-time token allows.
  write(dataDir, identity);
  const client = new CoordinatorClient({ url, authorization: undefined, sleep: runtime.sleep });
  const name = hostname()
    .replaceAll(/[^A-Za-z0-9._-]/g, '-')
    .slice(0, 64);
  const request = { token, secret: identity.secret, hostname: name };
  const { workerId } = (await client.askUntilAnswered('/workers/join', () => request, { signal })) as {
    workerId: string;
  };
  write(dataDir, { ...identity, workerId });
  return headerOf(workerId, identity.secret);
}

const headerOf = (workerId: string, secret: string) => `Bearer inlay_worker_${workerId}.${secret}`;

function write(dataDir: string, identity: Identity): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, file);
  writeFileSync(`${path}.new`, JSON.stringify(identity), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
