/*
 * Sends requests through the guarded client of the kit and reads answers, up to a size. Answers of requests that say so
 * are kept for the rest of the run, so that a parent that several streams ask for is read once.
 */
import { createHash } from 'node:crypto';
import { discard, type HttpAnswer, type HttpClient } from '@inlay/guard/http-client';
import { ConnectorError } from '@inlay/protocol/connector';
import { Answer } from './answer.ts';
import type { PreparedRequest } from './request.ts';

export interface SendOptions {
  mayCache?: boolean;
  /** Leaves the body of a good answer to be read while it comes. */
  isStreamed?: boolean;
}

const defaultAnswerBytes = 256 * 1024 * 1024;
const cacheBytes = 64 * 1024 * 1024;

export class Transport {
  readonly #client: HttpClient;
  readonly #answerBytes: number;
  readonly #cache = new Map<string, Promise<Answer>>();
  #cachedBytes = 0;

  constructor(client: HttpClient, answerBytes = defaultAnswerBytes) {
    this.#client = client;
    this.#answerBytes = answerBytes;
  }

  /** Throws a ConnectorError for a failure of the network. */
  async send(request: PreparedRequest, { mayCache = false, isStreamed = false }: SendOptions = {}): Promise<Answer> {
    if (!mayCache || isStreamed || request.method !== 'GET') return this.#exchange(request, isStreamed);
    const key = cacheKey(request);
    const known = this.#cache.get(key);
    if (known) return known;
    const asked = this.#exchange(request, false);
    this.#cache.set(key, asked);
    try {
      const answer = await asked;
      if (answer.status >= 400) this.#cache.delete(key);
      else this.#account(key, answer);
      return answer;
    } catch (error) {
      this.#cache.delete(key);
      throw error;
    }
  }

  #account(key: string, { bytes }: Answer): void {
    this.#cachedBytes += bytes.length;
    if (this.#cachedBytes <= cacheBytes) return;
    // The oldest entries are the least likely to be needed again.
    this.#cache.clear();
    this.#cachedBytes = 0;
    this.#cache.delete(key);
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  #exchange({ method, url, headers, body }: PreparedRequest, isStreamed: boolean): Promise<Answer> {
    const request = { url, method, credentials: headers, ...(body !== undefined && { body }) };
    return this.#client.send(request, async (answer) => {
      if (isStreamed && answer.status < 400) {
        return new Answer(answer.status, answer.rawHeaders, Buffer.alloc(0), answer.body, url);
      }
      return new Answer(answer.status, answer.rawHeaders, await this.#readBody(answer), undefined, url);
    });
  }

  async #readBody({ body }: HttpAnswer): Promise<Buffer> {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > this.#answerBytes) {
        discard(body);
        const limit = Math.round(this.#answerBytes / 1024 / 1024);
        throw new ConnectorError(`The API returned more than ${limit} MB at once. Request smaller pages.`);
      }
      chunks.push(chunk);
    }
    return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
  }
}

/** The headers contain credentials, so only a digest is stored. */
function cacheKey({ url, headers, body = '' }: PreparedRequest): string {
  return createHash('sha256')
    .update(JSON.stringify([url.href, headers, body]))
    .digest('base64');
}
