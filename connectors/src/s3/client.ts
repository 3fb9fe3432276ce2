/*
 * The S3 operations that the connector needs, made of signed calls with automatic retries. None trusts a status alone:
 * a listing must have an end, and a written object is verified before it counts.
 */
import type { Surroundings } from '@inlay/protocol/connector';
import { type Answer, type Doubt, longestAnswer, signedCalls } from './calls.ts';
import { doubtError, isTransient, type Refusal, refusalError } from './failures.ts';
import type { Settings } from './settings.ts';
import { doubtContent } from './stored-content.ts';
import { elementsIn, escapeXml, isDocument, textIn } from './xml.ts';

export interface Upload {
  key: string;
  uploadId: string;
}

export interface S3Client {
  /** The object is there, with this content, when it resolves; the same goes for `completeUpload`. */
  put(key: string, body: Buffer): Promise<void>;
  delete(key: string): Promise<void>;
  /** The content, a part at a time; undefined if there is no such object. */
  read(key: string): Promise<AsyncGenerator<Buffer> | undefined>;
  /** All keys that start so, in order, a page at a time. */
  listKeys(prefix: string): AsyncGenerator<string[]>;
  startUpload(key: string): Promise<Upload>;
  /** Returns the part's ETag. */
  uploadPart(upload: Upload, partNumber: number, body: Buffer): Promise<string>;
  completeUpload(upload: Upload, etags: readonly string[], bytes: number): Promise<void>;
  abortUpload(upload: Upload): Promise<void>;
  /** Uploads begun under such keys and neither completed nor aborted; undefined where asking is not possible or allowed. */
  findUploads(prefix: string): Promise<Upload[] | undefined>;
  close(): Promise<void>;
}

export function s3Client(settings: Settings, surroundings: Surroundings, tries: number): S3Client {
  const { call, close } = signedCalls(settings, surroundings, tries);

  async function completeUpload({ key, uploadId }: Upload, etags: readonly string[], bytes: number): Promise<void> {
    const parts = etags.map(
      (etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`,
    );
    const doing = 'write objects';
    const { refusal, wasRepeated } = await call({
      method: 'POST',
      key,
      query: { uploadId },
      body: `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join('')}</CompleteMultipartUpload>`,
      doing,
      accept: ({ code }) => code === 'NoSuchUpload',
      doubt: () => doubtObject(key, bytes),
    });
    if (!refusal) return;
    // An upload that is gone after a lost answer was completed by it, if the object is there: no other run uses its key.
    if (wasRepeated && (await doubtObject(key, bytes)) === undefined) return;
    throw refusalError(refusal, doing, settings);
  }

  /** What is wrong with an object, by what the store says when it is asked about it. */
  async function doubtObject(key: string, bytes: number, body?: Buffer): Promise<Doubt> {
    const found = await look(key);
    if (!found) return 'reported an object as stored but does not have it';
    if (Number(found.headers['content-length']) !== bytes)
      return `reported an object as stored but has only ${found.headers['content-length']} of its ${bytes} bytes`;
    return body && doubtContent(found, body);
  }

  async function look(key: string): Promise<Pick<Answer, 'headers'> | undefined> {
    // A refused HEAD does not say why. Listing, which is asked then, does.
    const isAnswer = (refusal: Refusal) => !isTransient(refusal);
    const answer = await call({ method: 'HEAD', key, doing: 'read objects', accept: isAnswer });
    if (answer.refusal?.status === 404) return undefined;
    if (!answer.refusal && answer.headers['content-length'] !== undefined) return answer;
    // A key that may write and list but not read is sufficient: a listing shows the same.
    const { entries } = await listPage(key, '', 1);
    const entry = entries.find((one) => textIn(one, 'Key') === key);
    if (entry === undefined) return undefined;
    // How the object is encrypted is not in a listing, and with that what its ETag means.
    return { headers: { 'content-length': textIn(entry, 'Size') } };
  }

  /** The first version of listing: every store has it, and the last key of a page is where the next one begins. */
  async function listPage(prefix: string, marker: string, maxKeys: number) {
    const { body } = await call({
      method: 'GET',
      query: { prefix, marker, 'max-keys': String(maxKeys) },
      doing: 'list objects',
      doubt: ({ body }) => doubtListing(body, 'ListBucketResult', 'Contents', prefix),
    });
    const entries = elementsIn(body, 'Contents');
    const isLast = textIn(body, 'IsTruncated') !== 'true';
    const next = textIn(body, 'NextMarker') || textIn(entries.at(-1) ?? '', 'Key') || '';
    return { entries, next: isLast ? undefined : next };
  }

  async function* listKeys(prefix: string): AsyncGenerator<string[]> {
    const seen = new Set<string>();
    for (let marker: string | undefined = ''; marker !== undefined; ) {
      const { entries, next }: Awaited<ReturnType<typeof listPage>> = await listPage(prefix, marker, 1000);
      if (next !== undefined && seen.has(next)) throw doubtError('returned the same page again', 'list objects');
      if (next !== undefined) seen.add(next);
      if (entries.length > 0) yield entries.map((entry) => textIn(entry, 'Key') ?? '');
      marker = next;
    }
  }

  async function read(key: string): Promise<AsyncGenerator<Buffer> | undefined> {
    const first = await readPart(key, 0);
    return first && readOn(key, first);
  }

  async function* readOn(key: string, first: Buffer): AsyncGenerator<Buffer> {
    let start = 0;
    for (let part: Buffer | undefined = first; part && part.length > 0; part = await readPart(key, start)) {
      yield part;
      start += part.length;
      if (part.length < longestAnswer) return;
    }
  }

  /** Empty after the end. A part is as long as its headers say: the HTTP client checks that. */
  async function readPart(key: string, start: number): Promise<Buffer | undefined> {
    const { refusal, bytes } = await call({
      ...{ method: 'GET', key, range: [start, start + longestAnswer - 1], doing: 'read objects' },
      accept: ({ status, code }) => code === 'NoSuchKey' || status === 416,
    });
    if (refusal) return refusal.status === 416 ? Buffer.alloc(0) : undefined;
    return bytes;
  }

  async function findUploads(prefix: string): Promise<Upload[] | undefined> {
    const doing = 'list unfinished uploads';
    const uploads: Upload[] = [];
    const seen = new Set<string>();
    for (let next: Record<string, string> | undefined = {}; next; ) {
      const { refusal, body } = await call({
        method: 'GET',
        query: { uploads: '', prefix, ...next },
        doing,
        accept: ({ code, status }) => code === 'AccessDenied' || status === 501,
        doubt: ({ body }) => doubtListing(body, 'ListMultipartUploadsResult', 'Upload', prefix),
      });
      if (refusal) return undefined;
      for (const entry of elementsIn(body, 'Upload')) {
        uploads.push({ key: textIn(entry, 'Key') ?? '', uploadId: textIn(entry, 'UploadId') ?? '' });
      }
      if (textIn(body, 'IsTruncated') !== 'true') return uploads;
      next = {
        'key-marker': textIn(body, 'NextKeyMarker') ?? '',
        'upload-id-marker': textIn(body, 'NextUploadIdMarker') ?? '',
      };
      const place = JSON.stringify(next);
      if (seen.has(place)) throw doubtError('returned the same page again', doing);
      seen.add(place);
    }
    return uploads;
  }

  return {
    async put(key, body) {
      await call({
        method: 'PUT',
        key,
        body,
        doing: 'write objects',
        doubt: async (answer) => doubtContent(answer, body) ?? (await doubtObject(key, body.length, body)),
      });
    },
    async delete(key) {
      await call({ method: 'DELETE', key, doing: 'delete objects', accept: ({ code }) => code === 'NoSuchKey' });
    },
    read,
    listKeys,
    async startUpload(key) {
      const { body } = await call({
        method: 'POST',
        key,
        query: { uploads: '' },
        doing: 'write objects',
        doubt: ({ body }) =>
          isDocument(body, 'InitiateMultipartUploadResult') && textIn(body, 'UploadId')
            ? undefined
            : 'started an upload without returning its id',
      });
      return { key, uploadId: textIn(body, 'UploadId') ?? '' };
    },
    async uploadPart({ key, uploadId }, partNumber, body) {
      const { headers } = await call({
        method: 'PUT',
        key,
        query: { partNumber: String(partNumber), uploadId },
        body,
        doing: 'write objects',
        doubt: (answer) =>
          answer.headers.etag ? doubtContent(answer, body) : 'accepted a part without returning its ETag',
      });
      return String(headers.etag);
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
    close,
  };
}

/** A truncated listing looks like one with fewer entries: objects that should be replaced would stay. */
function doubtListing(body: string, root: string, element: string, prefix: string): Doubt {
  if (!isDocument(body, root)) return 'returned an incomplete list';
  const entries = elementsIn(body, element);
  const isTruncated = textIn(body, 'IsTruncated');
  if (isTruncated !== 'true' && isTruncated !== 'false') return 'returned a list without saying whether it continues';
  const count = textIn(body, 'KeyCount');
  if (count !== undefined && Number(count) !== entries.length)
    return 'returned a list whose entries do not match its count';
  if (!entries.every((entry) => textIn(entry, 'Key')?.startsWith(prefix)))
    return 'returned a list of the wrong objects';
  const goesOnAt =
    textIn(body, 'NextMarker') || textIn(body, 'NextKeyMarker') || (element === 'Contents' && entries.length > 0);
  return isTruncated === 'true' && !goesOnAt ? 'returned a list that continues without saying where' : undefined;
}
