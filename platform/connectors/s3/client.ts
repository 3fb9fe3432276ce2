/*
 * The calls of the S3 API that the connector needs. Every call may be repeated without harm, so each is tried again,
 * with growing pauses, when the store is overloaded, fails or drops the connection; what remains is a ConnectorError
 * with a message for people. Bodies are signed with their hash: a store rejects a body that was damaged on the way.
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { AwsClient } from 'aws4fetch';
import { request } from 'undici';
import { guardedDispatcher } from '../kit/addresses.ts';
import { ConnectorError, type Surroundings } from '../kit/connector.ts';
import { explainNetworkFailure } from '../kit/network-failures.ts';
import { isTransient, type Refusal, readRefusal, refusalError } from './failures.ts';
import type { Settings } from './settings.ts';
import { elementsIn, escapeXml, textIn } from './xml.ts';

export interface Upload {
  key: string;
  uploadId: string;
}

export interface S3Client {
  put(key: string, body: Buffer): Promise<void>;
  delete(key: string): Promise<void>;
  /** All keys that start so, in order, a page at a time. */
  listKeys(prefix: string): AsyncGenerator<string[]>;
  startUpload(key: string): Promise<Upload>;
  /** Gives the part's ETag. */
  uploadPart(upload: Upload, partNumber: number, body: Buffer): Promise<string>;
  completeUpload(upload: Upload, etags: readonly string[]): Promise<void>;
  abortUpload(upload: Upload): Promise<void>;
  /** Uploads begun under such keys and neither completed nor aborted; undefined where asking is not possible or allowed. */
  findUploads(prefix: string): Promise<Upload[] | undefined>;
  close(): Promise<void>;
}

interface Call {
  method: 'DELETE' | 'GET' | 'HEAD' | 'POST' | 'PUT';
  key?: string;
  query?: Record<string, string>;
  body?: Buffer | string;
  /** For messages: completes "The key is not allowed to …". */
  doing: string;
  /** Refusals that are answers for the caller. */
  accept?: (refusal: Refusal) => boolean;
}

interface Answer {
  /** Absent: the call was done. */
  refusal?: Refusal;
  etag: string;
  body: string;
  /** Whether an earlier try may have been carried out although its answer was lost. */
  wasRepeated: boolean;
}

const firstPauseMs = 100;
const longestPauseMs = 10_000;
/** Far more than any answer of a store; a host that is none may send anything. */
const longestAnswer = 4 * 1024 * 1024;

export function s3Client(settings: Settings, surroundings: Surroundings, tries: number): S3Client {
  const { accessKeyId, secretAccessKey, region } = settings;
  const signer = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3' });
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
        if (tried === tries || !isWorthIt) throw failure;
      });
      if (answer) {
        const { refusal } = answer;
        if (!refusal || wanted.accept?.(refusal)) return answer;
        if (tried === tries || !isTransient(refusal)) throw refusalError(refusal, wanted.doing, settings);
      }
      // Jitter, because the uploads of one run fail together.
      await delay(Math.min(longestPauseMs, firstPauseMs * 2 ** (tried - 1)) * (0.5 + Math.random()));
    }
  }

  async function callOnce({ method, key, query = {}, body = '' }: Call, wasRepeated: boolean): Promise<Answer> {
    const url = addressOf(settings.bucketUrl, key, query);
    const { headers } = await signer.sign(url, {
      method,
      headers: { 'x-amz-content-sha256': createHash('sha256').update(body).digest('hex') },
    });
    const answer = await request(url, {
      dispatcher,
      method,
      headers: { ...Object.fromEntries(headers), 'content-length': String(Buffer.byteLength(body)) },
      body: method === 'GET' || method === 'HEAD' ? null : body,
    });
    const text = await answer.body.text();
    // Completing an upload may begin with status 200 and fail all the same; the body tells.
    const isDone = answer.statusCode < 300 && !/^\s*(<\?xml[^>]*>\s*)?<Error>/.test(text);
    return {
      ...(isDone
        ? {}
        : { refusal: readRefusal(answer.statusCode < 300 ? 500 : answer.statusCode, answer.headers, text) }),
      etag: String(answer.headers.etag ?? ''),
      body: text,
      wasRepeated,
    };
  }

  async function completeUpload({ key, uploadId }: Upload, etags: readonly string[]): Promise<void> {
    const parts = etags.map(
      (etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`,
    );
    const { refusal, wasRepeated } = await call({
      method: 'POST',
      key,
      query: { uploadId },
      body: `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join('')}</CompleteMultipartUpload>`,
      doing: 'write objects',
      accept: ({ code }) => code === 'NoSuchUpload',
    });
    if (!refusal) return;
    // An upload that is gone after a lost answer was completed by it, if the object is there: no other run uses its key.
    if (wasRepeated && (await exists(key))) return;
    throw refusalError(refusal, 'write objects', settings);
  }

  async function exists(key: string): Promise<boolean> {
    const isMissing = ({ status }: Refusal) => status === 404;
    return !(await call({ method: 'HEAD', key, doing: 'read objects', accept: isMissing })).refusal;
  }

  async function* listKeys(prefix: string): AsyncGenerator<string[]> {
    let marker = '';
    for (;;) {
      // The first version of listing: every store has it, and the last key of a page is where the next one begins.
      const { body } = await call({
        method: 'GET',
        query: { prefix, marker, 'max-keys': '1000' },
        doing: 'list objects',
      });
      const keys = elementsIn(body, 'Contents').map((entry) => textIn(entry, 'Key') ?? '');
      if (keys.length > 0) yield keys;
      const last = keys.at(-1);
      if (last === undefined || textIn(body, 'IsTruncated') !== 'true') return;
      marker = last;
    }
  }

  async function findUploads(prefix: string): Promise<Upload[] | undefined> {
    const uploads: Upload[] = [];
    for (let next: Record<string, string> | undefined = {}; next; ) {
      const { refusal, body } = await call({
        method: 'GET',
        query: { uploads: '', prefix, ...next },
        doing: 'list unfinished uploads',
        accept: ({ code, status }) => code === 'AccessDenied' || status === 501,
      });
      if (refusal) return undefined;
      for (const entry of elementsIn(body, 'Upload')) {
        uploads.push({ key: textIn(entry, 'Key') ?? '', uploadId: textIn(entry, 'UploadId') ?? '' });
      }
      next =
        textIn(body, 'IsTruncated') === 'true'
          ? {
              'key-marker': textIn(body, 'NextKeyMarker') ?? '',
              'upload-id-marker': textIn(body, 'NextUploadIdMarker') ?? '',
            }
          : undefined;
    }
    return uploads;
  }

  return {
    async put(key, body) {
      await call({ method: 'PUT', key, body, doing: 'write objects' });
    },
    async delete(key) {
      await call({ method: 'DELETE', key, doing: 'delete objects', accept: ({ code }) => code === 'NoSuchKey' });
    },
    listKeys,
    async startUpload(key) {
      const { body } = await call({ method: 'POST', key, query: { uploads: '' }, doing: 'write objects' });
      return { key, uploadId: textIn(body, 'UploadId') ?? '' };
    },
    async uploadPart({ key, uploadId }, partNumber, body) {
      const query = { partNumber: String(partNumber), uploadId };
      return (await call({ method: 'PUT', key, query, body, doing: 'write objects' })).etag;
    },
    completeUpload,
    async abortUpload({ key, uploadId }) {
      await call({
        method: 'DELETE',
        key,
        query: { uploadId },
        doing: 'abort uploads',
        accept: ({ code }) => code === 'NoSuchUpload',
      });
    },
    findUploads,
    close: () => dispatcher.close(),
  };
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
