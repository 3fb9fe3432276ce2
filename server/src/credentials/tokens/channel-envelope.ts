/**
 * How a platform in another process requests tokens from the service: one sealed request, one sealed response. Both
 * sides know the client id and secret of the platform's application and derive the key from them. The secret itself is
 * never sent, and an eavesdropper learns no token even over plain http.
 *
 * What always holds: a question is accepted for five minutes, and once by each replica. Its body belongs to its header, and its
 * answer to the question, so none of them can be put in the place of another. A question that comes again, at another
 * replica, changes nothing more, and its answer can be read only by the platform.
 */
import { hkdfSync } from 'node:crypto';
import { BoundedMap } from '@inlay/schedule/bounded-map';
import { createSealer, type Sealer } from '../../kernel/sealing.ts';

export const channelPath = '/internal/credentials';

interface Application {
  clientId: string;
  clientSecret: string;
}

export interface Place {
  workspaceId: string;
  credentialId: string;
}

export type Question =
  /** Whether a service is listening. */
  | { about: 'reach' }
  | ({ about: 'access'; forMs?: number; notGeneration?: number } & Place)
  | ({
      about: 'hand_back';
      generation: number;
      accessToken?: string;
      refreshToken?: string;
      expiresAt?: number;
    } & Place);

export type Reply =
  | { kind: 'reached' }
  | { kind: 'access'; values: Record<string, string>; generation: number; expiresAt: number | null }
  | { kind: 'handed_back'; generation: number | null }
  /** The customer or the operator has to act. */
  | { kind: 'attention'; whose: 'customer' | 'operator' }
  /** There is no token at the moment. `isBusy`: another replica is about to have one. */
  | { kind: 'unavailable'; reason: string; isBusy: boolean };

const goodForMs = 5 * 60_000;
/** More than a platform asks within the time that a question is good for. */
const mostSeen = 100_000;

function sealerOf({ clientId, clientSecret }: Application): Sealer {
  return createSealer(Buffer.from(hkdfSync('sha256', clientSecret, clientId, 'inlay credential channel', 32)));
}

const header = 'question';
const bodyOf = (id: string) => `body of ${id}`;
const answerTo = (id: string) => `answer to ${id}`;

const seal = (sealer: Sealer, value: object, context: string) =>
  sealer.seal(Buffer.from(JSON.stringify(value)), context);

/** Undefined: it was made with another key, for something else, or is damaged. */
function open(sealer: Sealer, sealed: unknown, context: string): unknown {
  if (typeof sealed !== 'string') return undefined;
  try {
    return JSON.parse(sealer.open(sealed, context).toString());
  } catch {
    return undefined;
  }
}

export interface SealedQuestion {
  authorization: string;
  body: string;
  /** Undefined: nobody who has the secret has answered this question. */
  read(answer: string): Reply | undefined;
}

/** What the platform sends. */
export function createAsker(application: Application, runtime: { now(): number; newId(): string }) {
  const sealer = sealerOf(application);
  return (question: Question): SealedQuestion => {
    const id = runtime.newId();
    return {
      authorization: `Bearer ${seal(sealer, { id, at: runtime.now() }, header)}`,
      body: JSON.stringify({ sealed: seal(sealer, question, bodyOf(id)) }),
      read: (answer) =>
        open(sealer, (tryParse(answer) as { sealed?: unknown })?.sealed, answerTo(id)) as Reply | undefined,
    };
  };
}

export interface OpenQuestion {
  /** Undefined: the body does not belong to this question. */
  readBody(sealed: unknown): Question | undefined;
  seal(reply: Reply): string;
}

/** How the service knows a question of its platform: by the token of its header, before the body is read. */
export function createAnswerer(application: Application, { now }: { now(): number }) {
  const sealer = sealerOf(application);
  const seen = new BoundedMap<string, true>(mostSeen);
  return (token: string): OpenQuestion | undefined => {
    const { id, at } = (open(sealer, token, header) ?? {}) as { id?: unknown; at?: unknown };
    if (typeof id !== 'string' || typeof at !== 'number') return undefined;
    if (Math.abs(now() - at) > goodForMs || seen.has(id)) return undefined;
    seen.set(id, true);
    return {
      readBody: (sealed) => open(sealer, sealed, bodyOf(id)) as Question | undefined,
      seal: (reply) => seal(sealer, reply, answerTo(id)),
    };
  };
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
