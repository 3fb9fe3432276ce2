/**
 * Tokens of workers. Each names a row and proves it with a secret of which the store has only the hash: an enrolment
 * token, which a machine joins with, and the worker's own token, whose secret the machine has made itself.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

export type TokenKind = 'enrolment' | 'worker';

interface WorkerToken {
  kind: TokenKind;
  workerId: string;
  secret: string;
}

const prefixes = { enrolment: 'inlay_enrolment_', worker: 'inlay_worker_' } as const;
const pattern = /^(inlay_enrolment_|inlay_worker_)([0-9a-f-]{36})\.([A-Za-z0-9_-]{43})$/;

export const newSecret = () => randomBytes(32).toString('base64url');

export const workerToken = ({ kind, workerId, secret }: WorkerToken) => `${prefixes[kind]}${workerId}.${secret}`;

export function readWorkerToken(text: string): WorkerToken | undefined {
  const [, prefix, workerId, secret] = pattern.exec(text) ?? [];
  if (workerId === undefined || secret === undefined) return undefined;
  return { kind: prefix === prefixes.enrolment ? 'enrolment' : 'worker', workerId, secret };
}

export const hashOfSecret = (secret: string) => createHash('sha256').update(secret).digest('base64url');

/** A hash that isn't there is compared as well, so that the time taken says nothing. */
export function isSecretOf(hash: string | null | undefined, secret: string): boolean {
  const given = Buffer.from(hashOfSecret(secret));
  const known = Buffer.from(hash ?? hashOfSecret(''));
  return given.length === known.length && timingSafeEqual(given, known) && typeof hash === 'string';
}
