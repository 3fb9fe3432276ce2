/** Templates and sources of a test, by the API. */
import { expect } from 'vitest';
import type { Answer, TestApp } from './app.ts';

export const sampleData = '5d3a1c52-6f0e-4b8e-9a61-2c7f4e0b9d14';
export const httpApi = '4dae2d0e-d1c3-49e9-91f2-23f8d5661568';
export const fileSource = '742c4fde-cd3a-4b95-9f9d-de63de14acb3';
export const postgresSource = '9e0b7c34-52a1-4d6f-b8e3-1f46a7d05c92';
export const localFiles = 'c1f7b0a6-93d4-4e27-8b5c-70d2e6a3f815';
export const postgresDestination = '3b82f6d1-0c47-4e9a-a5d8-6e19c2b7f043';

const templates = '/api/v1/integrations/templates';

async function created(answer: Answer): Promise<string> {
  if (answer.status !== 201) throw new Error(`not created: ${answer.status} ${answer.text}`);
  return answer.body.id;
}

export async function makeSourceTemplate(test: TestApp, body: object = {}): Promise<string> {
  const defaults = { actor_definition_id: sampleData, name: 'Sample', partial_default_config: { seed: 7 } };
  return await created(await test.request('POST', `${templates}/sources`, { body: { ...defaults, ...body } }));
}

export async function makeConnectionTemplate(test: TestApp, body: object = {}): Promise<string> {
  const defaults = {
    destination_name: 'Files',
    destination_definition_id: localFiles,
    destination_config: { path: 'exports' },
    sync_on_create: false,
    // Not every hour, which is the default: a sync that nobody started would begin while a test runs.
    cron_expression: null,
    // A test starts a connector, and most suites are about something else.
    skip_check: true,
  };
  return await created(await test.request('POST', `${templates}/connections`, { body: { ...defaults, ...body } }));
}

/** Asks until the status has changed, and returns the answer. */
async function whenNoLonger(status: string, ask: () => Promise<Answer>): Promise<Answer['body']> {
  let body: Answer['body'];
  const current = async () => {
    const answer = await ask();
    if (answer.status !== 200) throw new Error(`no status: ${answer.status} ${answer.text}`);
    body = answer.body;
    return body.status;
  };
  await expect.poll(current).not.toBe(status);
  return body;
}

/** What the API calls the job that the platform gave this number. */
export async function jobIdOf({ app }: TestApp, platformId: number): Promise<string> {
  const found = app.store.db.selectFrom('jobs').select('id').where('platform_id', '=', String(platformId));
  return (await found.executeTakeFirstOrThrow()).id;
}

export interface Customer {
  token: string;
  workspaceId: string;
  request(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Makes a source and gives its id. */
  connect(templateId: string, body?: object): Promise<string>;
  /** Tries a configuration out and gives the outcome. */
  check(templateId: string, sourceConfig: object): Promise<Answer['body']>;
  /** The source, once there is nothing left to do for it. */
  settled(sourceId: string): Promise<Answer['body']>;
}

export async function customer(test: TestApp, workspaceName: string): Promise<Customer> {
  const token = await test.scopedToken(workspaceName);
  const workspaceId = await test.workspaceId(workspaceName);
  const self: Customer = {
    token,
    workspaceId,
    request: (method, path, body) =>
      test.request(method, `/api/v1/embedded${path}`, { token, ...(body === undefined ? {} : { body }) }),
    connect: async (templateId, body = {}) =>
      created(
        await self.request('POST', '/sources', {
          source_template_id: templateId,
          name: 'Shop',
          source_config: { count: 10 },
          ...body,
        }),
      ),
    async check(templateId, source_config) {
      const started = await self.request('POST', '/sources/check', { source_template_id: templateId, source_config });
      if (started.status !== 200) throw new Error(`not started: ${started.status} ${started.text}`);
      return await whenNoLonger('running', () => self.request('GET', `/sources/check/${started.body.id}/status`));
    },
    async settled(sourceId) {
      return await whenNoLonger('pending', async () => {
        await test.app.workers.setUps.pass();
        return await self.request('GET', `/sources/${sourceId}`);
      });
    },
  };
  return self;
}

/** What the platform has in a workspace. */
export async function onPlatform(test: TestApp, workspaceId: string) {
  const list = async (what: string) => (await test.platform('GET', `/${what}?workspaceIds=${workspaceId}`)).body.data;
  return {
    sources: await list('sources'),
    destinations: await list('destinations'),
    connections: await list('connections'),
  };
}
