/*
 * One signed call of the S3 API. All calls are idempotent, so each is retried with backoff if the store is overloaded,
 * fails, drops the connection or returns an implausible response; other failures become a ConnectorError with a message
 * for people. Bodies are signed with their hash: a store rejects a body that was damaged on the way.
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { guardedDispatcher } from '@inlay/guard/guarded-dispatcher';
import { explainNetworkFailure } from '@inlay/guard/network-failures';
import { ConnectorError, type Surroundings } from '@inlay/protocol/connector';
import { AwsClient } from 'aws4fetch';
import { request } from 'undici';
import { doubtError, isTransient, type Refusal, readRefusal, refusalError } from './failures.ts';
import type { Settings } from './settings.ts';

export interface Call {
  method: 'DELETE' | 'GET' | 'HEAD' | 'POST' | 'PUT';
  key?: string;
  query?: Record<string, string>;
  body?: Buffer | string;
  /** First and last byte to read. */
  range?: readonly [number, number];
  /** For messages: completes "The key is not allowed to …". */
  doing: string;
  /** Refusals that are answers for the caller. */
  accept?: (refusal: Refusal) => boolean;
  /**
   * Why an answer that says "done" is not believed; undefined if it is. Completes "it …". A status of 200 proves nothing:
   * proxies and caches in front of a store cut bodies off, or answer themselves.
   */
  doubt?: (answer: Answer) => Doubt | Promise<Doubt>;
}

export type Doubt = string | undefined;

export interface Answer {
  /** Absent: the call was done. */
  refusal?: Refusal;
  headers: Record<string, string | string[] | undefined>;
  bytes: Buffer;
  body: string;
  /** Whether an earlier try may have been carried out although its answer was lost. */
  wasRepeated: boolean;
}

export interface Calls {
  call(wanted: Call): Promise<Answer>;
  close(): Promise<void>;
}

const firstPauseMs = 100;
const longestPauseMs = 10_000;
/** Far more than any answer of a store; a host that is none may send anything. */
export const longestAnswer = 4 * 1024 * 1024;

/** Grows with the tries. With jitter, because the uploads of one run fail together. */
export async function pauseBefore(attempt: number): Promise<void> {
  await delay(Math.min(longestPauseMs, firstPauseMs * 2 ** (attempt - 2)) * (0.5 + Math.random()));
}

export function signedCalls(settings: Settings, surroundings: Surroundings, tries: number): Calls {
  const { accessKeyId, secretAccessKey, sessionToken, region } = settings;
  const signer = new AwsClient({
    ...{ accessKeyId, secretAccessKey, region, service: 's3' },
    ...(sessionToken !== undefined && { sessionToken }),
  });
  const dispatcher = guardedDispatcher(surroundings, {
    headersTimeout: 120_000,
    bodyTimeout: 120_000,
    maxResponseSize: longestAnswer,
  });

  async function call(wanted: Call): Promise<Answer> {
    for (let tried = 1; ; tried += 1) {
      const answer = await callOnce(wanted, tried > 1).catch((error) => {
        const failure = explainNetworkFailure(error, new URL(settings.bucketUrl).origin);
        const isWorthIt = failure instanceof ConnectorError && failure.failureType === 'transient_error';
        if (tried === tries || !isWorthIt)
          throw failure instanceof ConnectorError ? failure.about('endpoint') : failure;
      });
      if (answer) {
        const { refusal } = answer;
        if (refusal && wanted.accept?.(refusal)) return answer;
        const doubt = refusal ? undefined : await wanted.doubt?.(answer);
        if (!refusal && doubt === undefined) return answer;
        if (tried === tries && doubt !== undefined) throw doubtError(doubt, wanted.doing);
        if (refusal && (tried === tries || !isTransient(refusal))) throw refusalError(refusal, wanted.doing, settings);
      }
      await pauseBefore(tried + 1);
    }
  }

  async function callOnce({ method, key, query = {}, body = '', range }: Call, wasRepeated: boolean): Promise<Answer> {
    const url = addressOf(settings.bucketUrl, key, query);
    const { headers } = await signer.sign(url, {
      method,
      headers: {
        'x-amz-content-sha256': createHash('sha256').update(body).digest('hex'),
        ...(range && { range: `bytes=${range[0]}-${range[1]}` }),
      },
    });
    const answer = await request(url, {
      dispatcher,
      method,
      headers: { ...Object.fromEntries(headers), 'content-length': String(Buffer.byteLength(body)) },
      body: method === 'GET' || method === 'HEAD' ? null : body,
    });
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    const text = bytes.toString();
    // Completing an upload may start with status 200 and still fail; the body has the result.
    const isDone = answer.statusCode < 300 && !/^\s*(<\?xml[^>]*>\s*)?<Error>/.test(text);
    return {
      ...(isDone
        ? {}
        : { refusal: readRefusal(answer.statusCode < 300 ? 500 : answer.statusCode, answer.headers, text) }),
      headers: answer.headers,
      bytes,
      body: text,
      wasRepeated,
    };
  }

  return { call, close: () => dispatcher.close() };
}

/** Every byte that has a meaning in a URL is encoded, so that the address is also what the signature covers. */
function addressOf(bucketUrl: string, key: string | undefined, query: Record<string, string>): string {
  const path = key === undefined ? '' : `/${key.split('/').map(encode).join('/')}`;
  const parameters = Object.entries(query).map(([name, value]) => `${name}=${encode(value)}`);
  return `${bucketUrl}${path}${parameters.length > 0 ? `?${parameters.join('&')}` : ''}`;
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
