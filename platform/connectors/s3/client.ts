/*
 * The operations of the S3 API that the connector needs, each made of signed calls that are repeated by themselves.
 */
import type { Surroundings } from '../kit/connector.ts';
import { signedCalls } from './calls.ts';
import { type Refusal, refusalError } from './failures.ts';
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

export function s3Client(settings: Settings, surroundings: Surroundings, tries: number): S3Client {
  const { call, close } = signedCalls(settings, surroundings, tries);

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
    close,
  };
}
