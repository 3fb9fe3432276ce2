/*
 * Reads the pages of one stream. Always true: a page is asked for only at the API's own origin, the key goes along in the
 * way that was configured, and there is an end to both the size of an answer and the number of pages. A failure says
 * what to check, and nothing of what the API was told or has answered.
 */
import { ConnectorError, type Surroundings } from '../kit/connector.ts';
import { isCutOffJson } from '../kit/cut-off-json.ts';
import { discard, type HttpAnswer, type HttpClient, type HttpClientOptions, httpClient } from '../kit/http-client.ts';
import { parseJson } from '../kit/json.ts';
import { recordsAt } from '../kit/records.ts';
import type { Api, StreamConfiguration } from './configuration.ts';
import { type Page, type Place, pagerFor } from './pagination.ts';

export interface Limits {
  answerBytes: number;
  pages: number;
  /** In a row. */
  emptyPages: number;
}

const defaultLimits: Limits = { answerBytes: 64 * 1024 * 1024, pages: 100_000, emptyPages: 1000 };

export interface ReadOptions {
  /** The value for the stream's cursor parameter. */
  since?: string | undefined;
  limits?: Limits;
  /** The API is known to answer as configured: then an answer that is no JSON is its trouble of the moment. */
  hasWorked?: boolean;
  /** Told the whole answer of each page, before its records. */
  onAnswer?: (body: unknown) => void;
  /** Told what somebody should know about how the reading ended. */
  onNote?: (note: string) => void;
}

export function apiClient(api: Api, surroundings: Surroundings, options: HttpClientOptions = {}): HttpClient {
  return httpClient(surroundings, {
    ...options,
    requestsPerSecond: api.requestsPerSecond,
    addressField: 'base_url',
  });
}

/** Yields the records page by page. */
export async function* readPages(
  client: HttpClient,
  api: Api,
  stream: StreamConfiguration,
  { since, limits = defaultLimits, hasWorked = false, onAnswer, onNote }: ReadOptions = {},
): AsyncGenerator<Record<string, unknown>[]> {
  const { record_path = '', pagination = { type: 'none' } } = stream;
  const pager = pagerFor(pagination, record_path, limits.emptyPages);
  const base = streamUrl(api, stream, since);
  let url = base;
  let place: Place | undefined = pager.first;
  let endStatuses: readonly number[] = [];
  for (let pages = 0; place !== undefined; pages++) {
    if (pages === limits.pages) {
      throw new ConnectorError(`There are more than ${limits.pages} pages. Check the pagination.`);
    }
    url = placeUrl(api, base, url, place);
    const page = await readPage(client, api, record_path, url, {
      endStatuses,
      // Some APIs leave an empty list out. Where a list is expected, its absence is rather a mistake in the path.
      mayLackList: pages > 0 || (since !== undefined && stream.cursor_parameter !== undefined),
      answerBytes: limits.answerBytes,
      hasWorked: hasWorked || pages > 0,
    });
    if (page) onAnswer?.(page.body);
    const step = pager.after(page);
    yield* step.take;
    if (step.note !== undefined) onNote?.(step.note);
    place = page && step.next;
    endStatuses = step.endStatuses ?? [];
  }
}

interface Expectations {
  /** By these the API says that there is no such page. */
  endStatuses: readonly number[];
  mayLackList: boolean;
  answerBytes: number;
  hasWorked: boolean;
}

/** Undefined: there is no such page, and the one before was the last. */
function readPage(
  client: HttpClient,
  { headers }: Api,
  recordPath: string,
  url: URL,
  { endStatuses, mayLackList, answerBytes, hasWorked }: Expectations,
): Promise<Page | undefined> {
  return client.get({ url, credentials: headers }, async (answer) => {
    const { status } = answer;
    if (status !== 200) {
      discard(answer.body);
      if (status === 204 || endStatuses.includes(status)) return undefined;
      throw refusal(status);
    }
    const body = await readJson(answer, answerBytes, hasWorked);
    return { records: recordsAt(body, recordPath, mayLackList), body, headers: answer.headers };
  });
}

function streamUrl({ baseUrl }: Api, stream: StreamConfiguration, since: string | undefined): URL {
  const { path, query_parameters = [], cursor_parameter } = stream;
  const separator = path === '' || path.startsWith('?') ? '' : '/';
  const url = new URL(`${baseUrl.href.replace(/\/$/, '')}${separator}${path.replace(/^\//, '')}`);
  for (const { name, value } of query_parameters) url.searchParams.append(name, value);
  if (since !== undefined && cursor_parameter !== undefined) url.searchParams.set(cursor_parameter, since);
  return url;
}

function placeUrl({ baseUrl, queryKey }: Api, base: URL, current: URL, place: Place): URL {
  const url = 'link' in place ? linkUrl(place.link, current) : new URL(base);
  if (url.origin !== baseUrl.origin) {
    throw new ConnectorError(`The next page is on another server, ${url.origin}, which is not asked for it.`);
  }
  if ('parameters' in place) {
    for (const [name, value] of Object.entries(place.parameters)) url.searchParams.set(name, value);
  }
  if (queryKey) url.searchParams.set(queryKey.name, queryKey.value);
  return url;
}

function linkUrl(link: string, current: URL): URL {
  if (URL.canParse(link, current.href)) return new URL(link, current);
  throw new ConnectorError('The link to the next page is no address. Check the pagination.');
}

function refusal(status: number): ConnectorError {
  switch (status) {
    case 401:
      return new ConnectorError('The API does not accept the key or password (401). Check the authentication.').about(
        'authentication',
      );
    case 403:
      return new ConnectorError('The API does not allow this (403). Check the key and what it may read.').about(
        'authentication',
      );
    case 404:
    case 410:
      return new ConnectorError(`There is nothing at this address (${status}). Check the base URL and the path.`).about(
        'base_url',
        'streams',
      );
    default:
      return new ConnectorError(`The API answers ${status}. Check the path, the parameters and the headers.`).about(
        'streams',
        'headers',
      );
  }
}

async function readJson({ body, headers }: HttpAnswer, answerBytes: number, hasWorked: boolean): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > answerBytes) {
      const limit = Math.round(answerBytes / 1024 / 1024);
      throw new ConnectorError(`The API answers with more than ${limit} MB at once. Ask for smaller pages.`);
    }
    chunks.push(chunk);
  }
  const contentType = String(headers['content-type']);
  const text = decode(Buffer.concat(chunks), contentType);
  try {
    return parseJson(text);
  } catch {
    // Without the cause: it quotes the answer, which may repeat the key.
    throw notJson(text, contentType, hasWorked);
  }
}

/** JSON is UTF-8, unless the API says otherwise. A character that cannot be read is not replaced in silence. */
function decode(bytes: Buffer, contentType: string): string {
  const [, encoding = 'utf-8'] = /charset="?([\w.:-]+)/i.exec(contentType) ?? [];
  try {
    const decoder = new TextDecoder(encoding, { fatal: true });
    // In one call Node.js takes Windows-1252 for Latin-1.
    return decoder.decode(bytes, { stream: true }) + decoder.decode();
  } catch {
    throw new ConnectorError(
      `The API sends text that is not encoded as ${encoding.toUpperCase()}. It should send UTF-8, or name the encoding in Content-Type.`,
    );
  }
}

function notJson(text: string, contentType: string, hasWorked: boolean): ConnectorError {
  if (isCutOffJson(text)) {
    const failureType = 'transient_error';
    return new ConnectorError('The API sends JSON that ends in the middle. Try again later.', { failureType });
  }
  const isPage = contentType.includes('html') || text.trimStart().startsWith('<');
  const what = text.trim() === '' ? 'nothing' : isPage ? 'a web page' : 'something else';
  return new ConnectorError(`The API should answer in JSON and sends ${what}. Check the base URL and the path.`, {
    failureType: hasWorked ? 'transient_error' : 'config_error',
    fields: ['base_url', 'streams'],
  });
}
