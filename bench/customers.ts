/* Workspaces with sources and connections, made by the API of a service that runs. */
import { until } from './live-answers.ts';
import type { ServiceProcess } from './service-process.ts';

export const templates = '/api/v1/integrations/templates';

/** Makes something, and gives its id. */
export async function create(service: ServiceProcess, path: string, body: object): Promise<string> {
  return ((await service.request('POST', path, body)) as { id: string }).id;
}

export async function workspaceOf(service: ServiceProcess, name: string): Promise<string> {
  await service.request('POST', '/api/v1/embedded/scoped-token', { workspace_name: name });
  const { data } = (await service.request('GET', `/api/v1/workspaces?name_contains=${name}`)) as {
    data: { id: string }[];
  };
  return data[0]?.id ?? '';
}

export async function connect(service: ServiceProcess, workspaceId: string, body: object): Promise<void> {
  await service.request('POST', `/api/v1/integrations/sources?workspace_id=${workspaceId}`, body);
}

/** The connections of a workspace, once so many are active. */
export async function connectionsOf(service: ServiceProcess, workspaceId: string, count: number, signal: AbortSignal) {
  let ids: string[] = [];
  await until(async () => {
    const path = `/api/v1/integrations/connections?workspace_id=${workspaceId}`;
    const { data } = (await service.request('GET', path)) as { data: { id: string; status: string }[] };
    ids = data.filter(({ status }) => status === 'active').map(({ id }) => id);
    return ids.length === count;
  }, signal);
  return ids;
}

/** Of the newest job. */
export async function statusOf(service: ServiceProcess, workspaceId: string, id: string): Promise<string | undefined> {
  const path = `/api/v1/integrations/connections/${id}/jobs?workspace_id=${workspaceId}`;
  return ((await service.request('GET', path)) as { data: { status: string }[] }).data[0]?.status;
}
