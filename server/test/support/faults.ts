/** A platform that misbehaves on cue: rules look at each request on its way and may answer, fail, delay or forward it. */
import type { PlatformAnswer, PlatformRequest, Transport } from '../../src/platform/transport.ts';
import { TransportError } from '../../src/platform/transport.ts';

export type Forward = () => Promise<PlatformAnswer>;
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
          const answer = await rule(request, () => transport.send(request));
          if (answer) return answer;
        }
        return await transport.send(request);
      },
    }),
  };
}

export const isCreate = ({ method, path }: PlatformRequest) => method === 'POST' && path === '/workspaces';
export const isRename = ({ method, path }: PlatformRequest) => method === 'PATCH' && path.startsWith('/workspaces/');
export const isDelete = ({ method, path }: PlatformRequest) => method === 'DELETE' && path.startsWith('/workspaces/');
export const isConnectionPatch = ({ method, path }: PlatformRequest) =>
  method === 'PATCH' && path.startsWith('/connections/');
export const isList = ({ method, path }: PlatformRequest) => method === 'GET' && path.startsWith('/workspaces?');

type Match = (request: PlatformRequest) => boolean;

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

/** Not applied, and nobody can tell. */
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

/** The rule, for the first `times` requests that match. */
export function first(times: number, match: Match, make: (match: Match) => Rule): Rule {
  let left = times;
  return make((request) => match(request) && left-- > 0);
}
