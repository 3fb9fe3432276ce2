/*
 * The requests that are measured, as the bytes that a client sends. Each kind has many requests, spread over the whole
 * store, so that the benchmark does not always read the same cached row.
 */
import { encodeCursor } from '../server/src/workspaces/cursor.ts';
import { nameParts, operatorToken, workspaceAt } from './dataset.ts';
import type { ServiceProcess } from './service-process.ts';

const howMany = 500;
const pageSize = 20;
const farPage = 10_000;

export const kinds = {
  info: 'GET scoped-token/info',
  scopedToken: 'POST scoped-token',
  widgetToken: 'POST widget-token',
  get: 'GET /workspaces/{id}',
  list: `GET /workspaces?limit=${pageSize}`,
  listFar: `GET /workspaces?limit=${pageSize}, page ${farPage.toLocaleString('en')}`,
  stats: 'GET /workspaces/stats',
} as const;
export type Kind = keyof typeof kinds;

export const searchKinds = Object.keys(nameParts) as (keyof typeof nameParts)[];
export type SearchKind = (typeof searchKinds)[number];

const workspacesPath = '/api/v1/workspaces';
const tokensPath = '/api/v1/embedded';
export const allowedOrigin = 'https://app.example.com';

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
  const names = () => sampleOf(count).map((index) => workspaceAt(index, count).name);
  const page = `${workspacesPath}?limit=${pageSize}`;
  switch (kind) {
    case 'info':
      return await Promise.all(
        names()
          .slice(0, 100)
          .map((name) => infoRequest(service, name)),
      );
    case 'scopedToken':
      return names().map((workspace_name) => post(`${tokensPath}/scoped-token`, { workspace_name }));
    case 'widgetToken':
      return names().map((workspace_name) =>
        post(`${tokensPath}/widget-token`, { workspace_name, allowed_origin: allowedOrigin }),
      );
    case 'get':
      return sampleOf(count).map((index) => get(`${workspacesPath}/${workspaceAt(index, count).id}`));
    case 'list':
      return [get(page)];
    case 'listFar':
      return [get(`${page}&cursor=${encodeCursor(farPosition(count))}`)];
    case 'stats':
      return [get(`${workspacesPath}/stats`)];
  }
}

export function searchRequests(kind: SearchKind): string[] {
  return [get(`${workspacesPath}?limit=${pageSize}&name_contains=${encodeURIComponent(nameParts[kind])}`)];
}

async function infoRequest(service: ServiceProcess, workspace_name: string): Promise<string> {
  const issued = await service.request('POST', `${tokensPath}/scoped-token`, { workspace_name });
  return get(`${tokensPath}/scoped-token/info`, (issued as { token: string }).token);
}

function get(path: string, token = operatorToken): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`;
}

function post(path: string, body: object): string {
  const text = JSON.stringify(body);
  const headers = `Host: localhost\r\nAuthorization: Bearer ${operatorToken}\r\nContent-Type: application/json`;
  return `POST ${path} HTTP/1.1\r\n${headers}\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}
