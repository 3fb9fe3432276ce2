/**
 * Calls to the coordinator. Any of several answers, and each may be gone in the middle: what can be repeated is repeated, with
 * pauses, until it is answered or nobody waits for it any more.
 */
import { StaleAttempt } from '../attempts/desk.ts';
import { attemptHeader } from '../attempts/worker-terms.ts';

interface ClientOptions {
  /** The base of the platform's API, without a slash at the end. */
  url: string;
  authorization: string | undefined;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

interface CallOptions {
  signal?: AbortSignal | undefined;
  timeoutMs?: number;
  maxAnswerBytes?: number;
  attemptToken?: string;
}

/** The coordinator has refused this worker, and asking again won't help. */
export class WorkerRefused extends Error {
  override readonly name = 'WorkerRefused';
}

/** There was no answer, or one that may be another one next time. */
class Unanswered extends Error {
  override readonly name = 'Unanswered';
}

const usualTimeoutMs = 30_000;
const usualAnswerBytes = 1_000_000;
const firstPauseMs = 500;
const longestPauseMs = 10_000;

export class CoordinatorClient {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** Once. Throws StaleAttempt, WorkerRefused, and other errors for what may be tried again. */
  async ask(path: string, body: object, options: CallOptions = {}): Promise<unknown> {
    const { signal, timeoutMs = usualTimeoutMs, maxAnswerBytes = usualAnswerBytes, attemptToken } = options;
    const timeout = AbortSignal.timeout(timeoutMs);
    const { url, authorization } = this.#options;
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      redirect: 'error',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'inlay-worker',
        ...(authorization !== undefined && { authorization }),
        ...(attemptToken !== undefined && { [attemptHeader]: attemptToken }),
      },
      body: JSON.stringify(body),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    }).catch((error: unknown) => {
      throw new Unanswered(wordsOf(error), { cause: error });
    });
    const text = await readBounded(response, maxAnswerBytes);
    if (response.ok) return text === '' ? {} : JSON.parse(text);
    const message = messageIn(text) ?? `it answered ${response.status}`;
    if (response.status === 409) throw new StaleAttempt(message);
    // A proxy in front of it may answer 404 and the like for a while; a refusal of its own always has a message.
    if ([401, 403, 422].includes(response.status) && messageIn(text) !== undefined) throw new WorkerRefused(message);
    throw new Unanswered(`The coordinator did not accept ${path}: ${message}.`);
  }

  /** Until it is answered. `body` is made for each try. Throws the reason of the signal. */
  async askUntilAnswered(
    path: string,
    body: () => object,
    { signal, ...options }: CallOptions & { signal: AbortSignal },
  ): Promise<unknown> {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      signal.throwIfAborted();
      try {
        return await this.ask(path, body(), { ...options, signal });
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof Unanswered)) throw error;
        await this.#options.sleep(pauseMs * (0.5 + Math.random() / 2), signal);
      }
    }
  }
}

async function readBounded(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      if (size > maxBytes) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw new Unanswered(wordsOf(error), { cause: error });
  }
  if (size > maxBytes) throw new Error(`the answer of the coordinator is larger than ${maxBytes} bytes`);
  return Buffer.concat(chunks).toString('utf8');
}

function messageIn(text: string): string | undefined {
  try {
    const { data, detail } = JSON.parse(text);
    const message: unknown = data?.message ?? detail;
    return typeof message === 'string' ? message.slice(0, 1_000) : undefined;
  } catch {
    return undefined;
  }
}

function wordsOf(error: unknown): string {
  const { cause = error } = error as { cause?: unknown };
  return `The coordinator cannot be reached: ${cause instanceof Error ? cause.message : String(cause)}.`;
}
