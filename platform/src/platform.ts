/*
 * The bundled platform of one machine: opens its database file and puts together what the rules work with.
 *
 * It owns workspaces, sources, destinations and connections, and shows them only through the HTTP API in api.ts.
 * It does not know the service in front of it; that service talks to it as it would to a hosted platform.
 */
import { randomUUID } from 'node:crypto';
import { bundledDefinitions, type Definition } from './definitions.ts';
import { openStore, type Store } from './store.ts';
import { applicationTokens, type Tokens } from './tokens.ts';

export interface PlatformOptions {
  /** The SQLite file; ':memory:' keeps everything in memory. */
  file: string;
  clientId: string;
  clientSecret: string;
  /** The base of the `next` and `previous` links, for example `http://localhost:8080/platform/v1`. */
  publicUrl: string;
  accessTokenTtlSeconds?: number;
  /** Milliseconds since the epoch. */
  clock?: { now(): number };
  newId?: () => string;
  /** The organization of a workspace whose creator names none. */
  defaultOrganizationId?: string;
}

export interface Platform {
  readonly store: Store;
  readonly tokens: Tokens;
  readonly definitions: readonly Definition[];
  readonly publicUrl: string;
  readonly defaultOrganizationId: string;
  now(): number;
  newId(): string;
  close(): Promise<void>;
}

const DEFAULT_TOKEN_TTL_SECONDS = 900;
const NIL_UUID = '00000000-0000-0000-0000-000000000000';

export async function openPlatform(options: PlatformOptions): Promise<Platform> {
  const clock = options.clock ?? Date;
  const now = () => clock.now();
  const tokens = applicationTokens({
    clientId: options.clientId,
    clientSecret: options.clientSecret,
    ttlSeconds: options.accessTokenTtlSeconds ?? DEFAULT_TOKEN_TTL_SECONDS,
    now,
  });
  const store = await openStore(options.file);
  return {
    store,
    tokens,
    definitions: bundledDefinitions,
    publicUrl: options.publicUrl.replace(/\/+$/, ''),
    defaultOrganizationId: (options.defaultOrganizationId ?? NIL_UUID).toLowerCase(),
    now,
    newId: options.newId ?? randomUUID,
    close: () => store.destroy(),
  };
}
