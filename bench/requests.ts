/*
 * The requests that are measured, as the bytes that a client sends. Each kind has many requests, spread over the whole
 * store, so that the benchmark does not always read the same cached row.
 */
import type { BenchmarkOptions } from './benchmark.ts';
import { nameParts, operatorToken, workspaceAt } from './dataset.ts';
import { type Figure, figureOf, type Measured, numberText } from './figures.ts';
import { encodeCursor } from './product.ts';
import type { ServiceProcess } from './service-process.ts';

const howMany = 500;
export const pageSize = 20;
export const longPageSize = 100;
const farPage = 10_000;

export const kinds = {
  info: 'GET scoped-token/info',
  scopedToken: 'POST scoped-token',
  widgetToken: 'POST widget-token',
  get: 'GET /workspaces/{id}',
  list: `GET /workspaces?limit=${pageSize}`,
  listLong: `GET /workspaces?limit=${longPageSize}`,
  listFar: `GET /workspaces?limit=${pageSize}, page ${numberText(farPage)}`,
  stats: 'GET /workspaces/stats',
} as const;
export type Kind = keyof typeof kinds;

const searches = Object.keys(nameParts) as (keyof typeof nameParts)[];
export const nameOfSearch = (kind: keyof typeof nameParts): string => `name_contains, ${kind}`;

const workspacesPath = '/api/v1/workspaces';
const tokensPath = '/api/v1/embedded';

/** Numbers of workspaces from all over the store, in no order. */
export function sampleOf(count: number): number[] {
  const size = Math.min(count, howMany);
  return Array.from({ length: size }, (_, i) => Math.floor((((i * 7919) % size) * count) / size));
}

/**
 * Where page 10,000 begins: after the last workspace of the page before. In a small store it is the middle of the list.
 */
export function farPosition(count: number): { createdAt: number; id: string } {
  const before = (farPage - 1) * pageSize;
  return workspaceAt(before < count - pageSize ? count - before : Math.floor(count / 2), count);
}

export async function requestsOf(kind: Kind, count: number, service: ServiceProcess): Promise<string[]> {
  const workspaces = sampleOf(count).map((index) => workspaceAt(index, count));
  const page = `${workspacesPath}?limit=${pageSize}`;
  switch (kind) {
    case 'info':
      return await Promise.all(workspaces.slice(0, 100).map(({ name }) => infoRequest(service, name)));
    case 'scopedToken':
      return workspaces.map(({ name }) => post(`${tokensPath}/scoped-token`, { workspace_name: name }));
    case 'widgetToken':
      return workspaces.map(({ name }) =>
        post(`${tokensPath}/widget-token`, { workspace_name: name, allowed_origin: 'https://app.example.com' }),
      );
    case 'get':
      return workspaces.map(({ id }) => get(`${workspacesPath}/${id}`));
    case 'list':
      return [get(page)];
    case 'listLong':
      return [get(`${workspacesPath}?limit=${longPageSize}`)];
    case 'listFar':
      return [get(`${page}&cursor=${encodeCursor(farPosition(count))}`)];
    case 'stats':
      return [get(`${workspacesPath}/stats`)];
  }
}

export function searchRequests(kind: keyof typeof nameParts): string[] {
  return [get(`${workspacesPath}?limit=${pageSize}&name_contains=${encodeURIComponent(nameParts[kind])}`)];
}

async function infoRequest(service: ServiceProcess, workspace_name: string): Promise<string> {
  const body = { workspace_name };
  const { token } = await service.request<{ token: string }>('POST', `${tokensPath}/scoped-token`, body);
  return get(`${tokensPath}/scoped-token/info`, token);
}

function get(path: string, token = operatorToken): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`;
}

function post(path: string, body: object): string {
  const text = JSON.stringify(body);
  const headers = `Host: localhost\r\nAuthorization: Bearer ${operatorToken}\r\nContent-Type: application/json`;
  return `POST ${path} HTTP/1.1\r\n${headers}\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

export interface RequestWork {
  name: string;
  /** Undefined for a search. */
  kind?: Kind;
  requests: string[];
}

/** By the short name of a kind, such as "list", or by a part of its request. */
export const chosenKinds = ({ only }: Pick<BenchmarkOptions, 'only'>): Kind[] =>
  (Object.keys(kinds) as Kind[]).filter((kind) => [kind, kinds[kind]].some((name) => name.includes(only)));

export async function chosenWorks(service: ServiceProcess, options: BenchmarkOptions): Promise<RequestWork[]> {
  const works: RequestWork[] = [];
  for (const kind of chosenKinds(options)) {
    works.push({ name: kinds[kind], kind, requests: await requestsOf(kind, options.workspaces, service) });
  }
  for (const kind of searches.filter((kind) => nameOfSearch(kind).includes(options.only))) {
    works.push({ name: nameOfSearch(kind), requests: searchRequests(kind) });
  }
  return works;
}

/** The comparisons that are possible with the requests that were measured. */
export function compareAnswers(loads: Record<string, Measured>): Figure[] {
  const compare = (name: string, than: Kind, shown: 'median' | 'p99', atMost: number): Figure[] => {
    const [ours, reference] = [loads[name], loads[kinds[than]]];
    if (!ours || !reference) return [];
    const work = `${name}, ${shown === 'median' ? 'median answer' : 'p99 of an answer'}`;
    const target = { of: 'ratio' as const, atMost };
    return [figureOf(work, [shown, 'ms'], ours, { than: [kinds[than], reference], target })];
  };
  const lags = Object.entries(loads).map(([name, { lagP99Ms: value = -1 }]) => ({ name, value }));
  const [worst] = lags.filter(({ value }) => value >= 0).toSorted((a, b) => b.value - a.value);
  const work = 'event-loop lag p99 while any of these is asked for';
  const target = { of: 'value', atMost: 20 } as const;
  return [
    ...compare(kinds.listFar, 'list', 'median', 1.2),
    ...compare(kinds.stats, 'get', 'median', 2),
    ...searches.flatMap((kind) => compare(nameOfSearch(kind), 'list', 'p99', 5)),
    ...(worst ? [{ work, value: worst.value, unit: 'ms' as const, target, note: `worst with ${worst.name}` }] : []),
  ];
}
