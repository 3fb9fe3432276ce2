/**
 * A platform that fails when a test wants it: rules look at each request and may answer, fail, delay or forward it. For
 * faults of a real connection see platform-proxy.ts. Changes by another user of the platform are no faults: a test
 * makes them directly (`TestApp.platform`), inside a rule if they must happen between two requests.
 */
import { afterEach, beforeEach } from 'vitest';
import type { PlatformAnswer, PlatformRequest, Transport } from '../../src/kernel/platform/transport.ts';
import { TransportError } from '../../src/kernel/platform/transport.ts';
import { startTestApp, type TestApp } from './app.ts';
import type { TestDatabaseKind } from './databases.ts';

/** Sends the request on, or another one in its place, past the rules that come after. */
export type Forward = (instead?: PlatformRequest) => Promise<PlatformAnswer>;
/** Gives an answer, throws, or gives undefined to let the next rule decide. */
export type Rule = (request: PlatformRequest, forward: Forward) => Promise<PlatformAnswer | undefined>;

export interface FaultyPlatform {
  wrapTransport(transport: Transport): Transport;
  /** Adds a rule in front of the others; the result removes it. */
  rule(rule: Rule): () => void;
  /** Everything that was sent, access tokens aside. */
  readonly sent: PlatformRequest[];
  creates(): number;
}

export function faultyPlatform(): FaultyPlatform {
  const rules: Rule[] = [];
  const sent: PlatformRequest[] = [];
  return {
    sent,
    creates: () => sent.filter((request) => isCreate(request)).length,
    rule(rule) {
      rules.unshift(rule);
      return () => {
        const index = rules.indexOf(rule);
        if (index >= 0) rules.splice(index, 1);
      };
    },
    wrapTransport: (transport) => ({
      close: () => transport.close(),
      async send(request) {
        if (!request.path.startsWith('/applications/')) sent.push(request);
        for (const rule of [...rules]) {
          const answer = await rule(request, (instead = request) => transport.send(instead));
          if (answer) return answer;
        }
        return await transport.send(request);
      },
    }),
  };
}

/** The service with such a platform, fresh for every test of a suite. */
export function useFaultyPlatform(
  kind: TestDatabaseKind,
  take: (fresh: { test: TestApp; faulty: FaultyPlatform }) => void,
): void {
  let test: TestApp;
  beforeEach(async () => {
    const faulty = faultyPlatform();
    test = await startTestApp(kind, { overrides: { wrapTransport: faulty.wrapTransport } });
    take({ test, faulty });
  });
  afterEach(() => test.stop());
}

export const isCreate = ({ method, path }: PlatformRequest) => method === 'POST' && path === '/workspaces';
export const isRename = ({ method, path }: PlatformRequest) => method === 'PATCH' && path.startsWith('/workspaces/');
export const isDelete = ({ method, path }: PlatformRequest) => method === 'DELETE' && path.startsWith('/workspaces/');
export const isConnectionPatch = ({ method, path }: PlatformRequest) =>
  method === 'PATCH' && path.startsWith('/connections/');
export const isList = ({ method, path }: PlatformRequest) => method === 'GET' && path.startsWith('/workspaces?');

export type Match = (request: PlatformRequest) => boolean;

/** No connection at all: certainly not applied. */
export const unreachable =
  (match: Match = () => true): Rule =>
  async (request) => {
    if (match(request)) throw new TransportError('connect ECONNREFUSED', { sent: false, timedOut: false });
    return undefined;
  };

/** Applied, but the answer never arrives. */
export const lostAnswer =
  (match: Match, timedOut = false): Rule =>
  async (request, forward) => {
    if (!match(request)) return undefined;
    await forward();
    throw new TransportError('socket hang up', { sent: true, timedOut });
  };

/** Not applied, but the service cannot know that. */
export const lostRequest =
  (match: Match): Rule =>
  async (request) => {
    if (match(request)) throw new TransportError('socket hang up', { sent: true, timedOut: false });
    return undefined;
  };

export const answering =
  (match: Match, status: number, text = '', headers: PlatformAnswer['headers'] = {}): Rule =>
  async (request) =>
    match(request) ? { status, headers, text } : undefined;

/** Applied, whatever the answer says: an error after the fact, or a success that cannot be read. */
export const answeringAfterwards =
  (match: Match, status: number, text = ''): Rule =>
  async (request, forward) => {
    if (!match(request)) return undefined;
    await forward();
    return { status, headers: {}, text };
  };

/** A gateway gives up, and the request is applied when the test says so. */
export function lateApply(match: Match): { rule: Rule; apply(): Promise<void> } {
  const held: Forward[] = [];
  return {
    rule: async (request, forward) => {
      if (!match(request)) return undefined;
      const late = structuredClone(request);
      held.push(() => forward(late));
      return { status: 504, headers: {}, text: '<html>' };
    },
    apply: async () => {
      for (const forward of held.splice(0)) await forward();
    },
  };
}

export interface ListedItem {
  workspaceId: string;
  name: string;
  [field: string]: unknown;
}

/**
 * Changes what the platform lists, by `change`: for old lists, deleted workspaces that are still listed, and marks of
 * deletion.
 */
export const listing =
  (change: (items: ListedItem[]) => ListedItem[]): Rule =>
  async (request, forward) => {
    if (!isList(request)) return undefined;
    const answer = await forward();
    const body = JSON.parse(answer.text);
    return { ...answer, text: JSON.stringify({ ...body, data: change(body.data) }) };
  };

/** Removes a part of the query of a listing, like a platform that does not know this part. */
export const ignoring =
  (parameter: 'name' | 'organizationId'): Rule =>
  async (request, forward) => {
    if (!isList(request)) return undefined;
    return await forward({ ...request, path: request.path.replace(new RegExp(`\\b${parameter}=[^&]*&?`), '') });
  };

/** Pages that begin earlier than asked: the list has grown at the front meanwhile. */
export const driftingPages =
  (by: number): Rule =>
  async (request, forward) => {
    if (!isList(request)) return undefined;
    const path = request.path.replace(/offset=(\d+)/, (_all, offset) => `offset=${Math.max(0, Number(offset) - by)}`);
    return await forward({ ...request, path });
  };

/** The rule, for the first `times` requests that match. */
export function first(times: number, match: Match, make: (match: Match) => Rule): Rule {
  let left = times;
  return make((request) => match(request) && left-- > 0);
}
