/**
 * Where backups are kept: a folder, or the objects of an S3 bucket under a prefix. Each backup has a folder of its own there.
 *
 * What always holds: a backup is complete when it has its manifest under its final name, which is written last.
 */
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
} from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { S3Client } from '@inlay/connectors/s3/client';
import { ConnectorError } from '@inlay/protocol/connector';
import type { AwsSettings } from '../../kernel/config/config.ts';
import { OperatorError } from '../../kernel/errors.ts';
import { isoTime } from '../../kernel/iso-time.ts';
import { manifestFile, readBackup, unfinishedEnd } from './backup-manifest.ts';

export interface BackupPlace {
  /** Makes a folder on this machine to write a backup into. */
  draft(name: string): string;
  /** Takes a draft whose manifest is written, and says where it is now. */
  keep(draft: string, name: string, stopping?: AbortSignal): Promise<string>;
  list(): Promise<KeptBackup[]>;
  remove(name: string): Promise<void>;
  close(): Promise<void>;
}

export interface KeptBackup {
  name: string;
  /** `unusable`: damaged, or of a later version. */
  state: 'complete' | 'unfinished' | 'unusable';
}

const prefix = 'inlay-backup-';
const dayMs = 86_400_000;
/** The smallest part that S3 takes. Hashing a larger one would hold up requests. */
const partBytes = 5 * 1024 * 1024;
const maxParts = 10_000;
const tries = 5;

export const backupName = (startedAt: number) => `${prefix}${isoTime(startedAt).replaceAll(/[:.]/g, '-')}`;

/** Undefined for a name that is not one of a backup. */
function startOf(name: string): number | undefined {
  const [, date, hours, minutes, seconds, ms] = /^inlay-backup-(.{10})T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z/.exec(name) ?? [];
  const time = Date.parse(`${date}T${hours}:${minutes}:${seconds}.${ms}Z`);
  return Number.isNaN(time) ? undefined : time;
}

export const isUrl = (place: string) => place.startsWith('s3://');

/** `drafts`: a folder with room for a backup on its way to S3. */
export async function openPlace(
  to: string,
  { aws, drafts }: { aws: AwsSettings; drafts: string },
): Promise<BackupPlace> {
  return isUrl(to) ? bucketPlace(await openBucket(to, aws), folderPlace(drafts)) : folderPlace(to);
}

/**
 * Deletes the oldest complete backups, and what is older. Without a complete backup nothing but unfinished ones is deleted, and
 * these only after a day: somebody may be writing one.
 */
export async function deleteOld(place: BackupPlace, { keep, now }: { keep: number; now: number }): Promise<void> {
  const found = (await place.list()).sort((a, b) => (a.name < b.name ? -1 : 1));
  const oldestKept = found.filter(({ state }) => state === 'complete').at(-keep)?.name;
  for (const { name, state } of found) {
    const isOld =
      state === 'unfinished' ? (startOf(name) ?? now) < now - dayMs : oldestKept !== undefined && name < oldestKept;
    if (isOld) await place.remove(name);
  }
}

function folderPlace(to: string): BackupPlace {
  const path = (name: string) => join(to, name);
  return {
    draft(name) {
      if (existsSync(path(name))) throw new OperatorError(`${path(name)} already exists. Try again.`);
      mkdirSync(to, { recursive: true, mode: 0o700 });
      mkdirSync(path(name) + unfinishedEnd, { mode: 0o700 });
      return path(name) + unfinishedEnd;
    },
    async keep(draft, name) {
      renameSync(draft, path(name));
      return path(name);
    },
    async list() {
      const names = existsSync(to) ? readdirSync(to).filter((name) => startOf(name) !== undefined) : [];
      return await Promise.all(names.map(async (name) => ({ name, state: await stateOf(path(name)) })));
    },
    remove: (name) => rm(path(name), { recursive: true, force: true }),
    close: async () => {},
  };
}

async function stateOf(folder: string): Promise<KeptBackup['state']> {
  if (folder.endsWith(unfinishedEnd) || !existsSync(join(folder, manifestFile))) return 'unfinished';
  try {
    for (const { path, bytes } of readBackup(folder).manifest.files) {
      if ((await stat(join(folder, path))).size !== bytes) return 'unusable';
    }
    return 'complete';
  } catch {
    return 'unusable';
  }
}

interface Bucket {
  client: S3Client;
  url: string;
  /** Of a path below the prefix. */
  key(path: string): string;
}

function bucketPlace({ client, url, key }: Bucket, drafts: BackupPlace): BackupPlace {
  const keysOf = async (path: string) => {
    const keys: string[] = [];
    for await (const page of client.listKeys(key(path))) keys.push(...page);
    return keys.map((each) => each.slice(key('').length));
  };
  const uploadsOf = async (path: string) => (await client.findUploads(key(path))) ?? [];
  const place: BackupPlace = {
    draft: drafts.draft,
    async keep(draft, name, stopping) {
      for (const { path } of [...readBackup(draft).manifest.files, { path: manifestFile }]) {
        await upload(client, join(draft, path), key(`${name}/${path}`), stopping);
      }
      await drafts.remove(name + unfinishedEnd);
      return `${url}/${name}`;
    },
    async list() {
      const paths = await keysOf(prefix);
      const uploads = (await uploadsOf(prefix)).map((each) => each.key.slice(key('').length));
      const left = (await drafts.list()).filter(({ state }) => state === 'unfinished').map(({ name }) => `${name}/`);
      const names = new Set([...paths, ...uploads, ...left].map((path) => path.slice(0, path.indexOf('/'))));
      const isComplete = new Set(paths);
      return [...names]
        .filter((name) => startOf(name) !== undefined)
        .map((name) => ({ name, state: isComplete.has(`${name}/${manifestFile}`) ? 'complete' : 'unfinished' }));
    },
    async remove(name) {
      if (name.endsWith(unfinishedEnd)) return await drafts.remove(name);
      // The manifest first: what is left of an interrupted deletion is unfinished.
      await client.delete(key(`${name}/${manifestFile}`));
      for (const path of await keysOf(`${name}/`)) await client.delete(key(path));
      for (const each of await uploadsOf(`${name}/`)) await client.abortUpload(each);
    },
    close: () => client.close(),
  };
  return inOperatorsWords(place, url);
}

async function openBucket(url: string, aws: AwsSettings): Promise<Bucket> {
  const { accessKeyId, secretAccessKey, sessionToken, region, endpointUrl } = aws;
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new OperatorError(`Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to use ${url}.`);
  }
  // Loaded here because most deployments need no client of S3.
  const [{ s3Client }, { readSettings }] = await Promise.all([
    import('@inlay/connectors/s3/client'),
    import('@inlay/connectors/s3/settings'),
  ]);
  const [bucket = '', ...path] = url.slice('s3://'.length).replace(/\/+$/, '').split('/');
  const settings = readSettings({
    ...{ bucket, prefix: path.join('/'), region, endpoint: endpointUrl },
    ...{ access_key_id: accessKeyId, secret_access_key: secretAccessKey },
  });
  const surroundings = { workspaceDir: undefined, readableDirs: [], allowPrivateNetworks: true, serviceEndpoints: [] };
  const client = s3Client({ ...settings, sessionToken }, surroundings, tries);
  return { client, url: `s3://${[bucket, ...path].join('/')}`, key: (below) => settings.prefix + below };
}

async function upload(client: S3Client, file: string, key: string, stopping?: AbortSignal): Promise<void> {
  const { size } = await stat(file);
  const highWaterMark = Math.max(partBytes, Math.ceil(size / maxParts));
  const parts = createReadStream(file, { highWaterMark, signal: stopping });
  if (size <= highWaterMark) return await client.put(key, Buffer.concat(await parts.toArray()));
  const started = await client.startUpload(key);
  try {
    const etags: string[] = [];
    for await (const part of parts) etags.push(await client.uploadPart(started, etags.length + 1, part));
    await client.completeUpload(started, etags, size);
  } catch (error) {
    await client.abortUpload(started).catch(() => {});
    throw error;
  }
}

/** Gives the folder of a backup on this machine, which for a URL is a copy that is deleted afterwards. */
export async function withBackupAt<T>(
  at: string,
  aws: AwsSettings,
  use: (folder: string, at: string) => Promise<T>,
): Promise<T> {
  if (!isUrl(at)) return await use(at, at);
  const { client, url, key } = await openBucket(at, aws);
  const folder = mkdtempSync(join(tmpdir(), 'inlay-backup-'));
  const download = async (path: string) => {
    const content = await client.read(key(path));
    if (!content) return;
    await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o700 });
    await pipeline(content, createWriteStream(join(folder, path), { mode: 0o600 }));
  };
  try {
    await download(manifestFile).catch(explain(url));
    for (const { path } of readBackup(folder, url).manifest.files) await download(path).catch(explain(url));
    return await use(folder, url);
  } finally {
    await client.close();
    await rm(folder, { recursive: true, force: true });
  }
}

const explain = (url: string) => (error: unknown) => {
  throw error instanceof ConnectorError ? new OperatorError(`${url}: ${error.message}`, { cause: error }) : error;
};

function inOperatorsWords(place: BackupPlace, url: string): BackupPlace {
  return {
    ...place,
    keep: (...args) => place.keep(...args).catch(explain(url)),
    list: () => place.list().catch(explain(url)),
    remove: (name) => place.remove(name).catch(explain(url)),
  };
}
