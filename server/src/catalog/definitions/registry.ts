/**
 * Definitions from a connector registry: one JSON document with all sources and destinations, at a URL or in a file.
 * What was read from a URL is also kept as a file in the data directory, so that neither a restart nor an outage of the
 * registry leaves the service without definitions. The document is public and comes without credentials.
 */
import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import { AppError } from '../../kernel/errors.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { Definition } from './definition.ts';
import type { Definitions } from './definitions.ts';
import { keepFresh } from './keep-fresh.ts';
import { readRegistry } from './registry-document.ts';

export const defaultRegistry = 'https://connectors.airbyte.com/files/registries/v0/cloud_registry.json';

const urlMaxAgeMs = 3_600_000;
const fileMaxAgeMs = 60_000;
const pauseMs = 30_000;
const timeoutMs = 20_000;
const maxBytes = 60_000_000;

/** One state of the registry. */
interface Edition {
  location: string;
  /** A text that changes when the content changes: an ETag, or the time and size of a file. */
  tag: string | null;
  definitions: Definition[];
}

interface RegistryOptions {
  /** A URL or the path of a file. */
  location: string;
  /** Where the last edition from a URL is kept. */
  cacheFile: string;
  runtime: Runtime;
  log: Logger;
}

export function createRegistry({ location, cacheFile, runtime, log }: RegistryOptions): Definitions {
  const isUrl = /^https?:\/\//.test(location);
  const edition = keepFresh<Edition>({
    runtime,
    maxAgeMs: isUrl ? urlMaxAgeMs : fileMaxAgeMs,
    pauseMs,
    read: isUrl ? fetchEdition : readEdition,
    ...(isUrl ? { recall } : {}),
    onFailure: (err, isStale) => {
      if (isStale) log.warn({ err, location }, 'Failed to read connector registry; using cached copy');
      else log.error({ err, location }, 'Failed to read connector registry');
    },
  });

  async function fetchEdition(kept: Edition | undefined): Promise<Edition> {
    const response = await fetch(location, {
      headers: { accept: 'application/json', ...(kept?.tag ? { 'if-none-match': kept.tag } : {}) },
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (response.status === 304 && kept) {
      await response.body?.cancel();
      return kept;
    }
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`the registry answered ${response.status}`);
    }
    const definitions = readRegistry(await readCapped(response));
    const fetched = { location, tag: response.headers.get('etag'), definitions };
    await remember(fetched);
    return fetched;
  }

  async function readEdition(kept: Edition | undefined): Promise<Edition> {
    const { mtimeMs, size } = await stat(location);
    if (size > maxBytes) throw new Error(`the registry is larger than ${maxBytes} bytes`);
    const tag = `${mtimeMs} ${size}`;
    if (kept?.tag === tag) return kept;
    return { location, tag, definitions: readRegistry(await readFile(location, 'utf8')) };
  }

  async function recall(): Promise<Edition | undefined> {
    try {
      const remembered = JSON.parse(await readFile(cacheFile, 'utf8')) as Edition;
      return remembered.location === location ? remembered : undefined;
    } catch (err) {
      if ((err as NodeJS.ErrnoException).code !== 'ENOENT') log.warn({ err }, 'Cached connector registry is unusable');
      return undefined;
    }
  }

  async function remember(fetched: Edition): Promise<void> {
    const draft = `${cacheFile}.${runtime.newId()}`;
    try {
      await writeFile(draft, JSON.stringify(fetched), { mode: 0o600 });
      await rename(draft, cacheFile);
    } catch (err) {
      log.warn({ err }, 'Failed to cache connector registry');
    }
  }

  return {
    async list(kind) {
      try {
        return (await edition()).definitions.filter((definition) => definition.kind === kind);
      } catch (cause) {
        throw new AppError('definitions_unavailable', {}, { cause });
      }
    },
  };
}

async function readCapped(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw new Error(`the registry is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
