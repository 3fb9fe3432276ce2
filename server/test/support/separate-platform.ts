/**
 * The documented deployments in which the platform is a process of its own: `inlay platform`, and one `inlay start` on SQLite
 * or several on PostgreSQL, all of them real processes. In front of several replicas is an address that takes turns.
 */
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../../../scripts/disposable.mjs';
import type { Answer, RequestOptions, TestApp } from './app.ts';
import { createTestDatabase, type TestDatabaseKind } from './databases.ts';
import { eventually, operatorToken, organizationId } from './deployment.ts';
import { localFiles } from './pipelines.ts';
import type { RotatingProvider } from './rotating-provider.ts';
import { type Service, startService } from './service.ts';
import { startSigningIn } from './signing-in.ts';

export interface SeparatePlatform extends Pick<TestApp, 'request'> {
  env: Record<string, string>;
  platformEnv: Record<string, string>;
  /** Speaks to the platform directly, as its application. */
  platform(method: string, path: string, body?: object): Promise<Answer>;
  startReplica(): Promise<void>;
  stopReplicas(signal?: NodeJS.Signals): Promise<void>;
  restartPlatform(signal?: NodeJS.Signals): Promise<void>;
  /** Everything that the processes have printed. */
  output(): string;
  /** Starts a job on the platform, whether or not a service runs, and gives its id. */
  startJob(connectionId: string): Promise<number>;
  /** The job as the platform reports it, once it has reached that state. */
  jobWhen(id: number, isSo: (job: Answer['body']) => boolean): Promise<Answer['body']>;
  stop(): Promise<void>;
}

const clientId = '1c9d3f7a52e84b06';
const clientSecret = 'a-secret-between-the-platform-and-the-service';

export async function startSeparatePlatform(
  kind: TestDatabaseKind,
  { replicas }: { replicas: number },
): Promise<SeparatePlatform> {
  const ofService = await createTestDatabase(kind, { migrated: true });
  const ofPlatform = await createTestDatabase('sqlite', { migrated: true });
  const [servicePort, platformPort] = [await freePort(), await freePort()];
  const serviceUrl = `http://127.0.0.1:${servicePort}`;
  const shared = {
    INLAY_PLATFORM_CLIENT_ID: clientId,
    INLAY_PLATFORM_CLIENT_SECRET: clientSecret,
    INLAY_ALLOW_PRIVATE_NETWORKS: 'true',
    LOG_LEVEL: 'info',
  };
  const platformEnv = { ...shared, INLAY_SERVICE_URL: serviceUrl, INLAY_DATA_DIR: ofPlatform.dataDir };
  const env = {
    ...shared,
    INLAY_PLATFORM_URL: `http://127.0.0.1:${platformPort}/platform/v1`,
    INLAY_PLATFORM_SETTLE_SECONDS: '1',
    INLAY_OPERATOR_TOKEN: operatorToken,
    INLAY_ORGANIZATION_ID: organizationId,
    INLAY_PUBLIC_URL: `http://localhost:${servicePort}`,
    INLAY_ENCRYPTION_KEY: 'b2Zm2nT8kVwQ4yJr6sXc1uLe9pHg3aDf5iKo7mNt0vE=',
    ...(ofService.url && { INLAY_DATABASE_URL: ofService.url }),
  };
  const past: Service[] = [];
  const running: Service[] = [];
  const startPlatform = () =>
    startService({ command: 'platform', dataDir: ofPlatform.dataDir, port: platformPort, env: platformEnv });
  let platform = await startPlatform();
  let next = 0;
  const front = replicas > 1 ? await startFront(servicePort, () => running[next++ % running.length]?.port) : undefined;

  async function send(url: string, method: string, { body, payload, headers, token }: RequestOptions): Promise<Answer> {
    const text = payload === undefined ? body && JSON.stringify(body) : String(payload);
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(text !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(text !== undefined && { body: text as string }),
    });
    const answer = await response.text();
    const isJson = /^application\/json(;|$)/.test(response.headers.get('content-type') ?? '');
    return {
      status: response.status,
      headers: { ...Object.fromEntries(response.headers), 'set-cookie': response.headers.getSetCookie() },
      text: answer,
      body: isJson && answer !== '' ? JSON.parse(answer) : undefined,
    };
  }

  const self: SeparatePlatform = {
    env,
    platformEnv,
    request: (method, path, options = {}) =>
      send(`${serviceUrl}${path}`, method, {
        ...options,
        token: options.token === undefined ? operatorToken : options.token,
      }),
    async platform(method, path, body) {
      const credentials = { client_id: clientId, client_secret: clientSecret };
      const base = `${platform.url}/platform/v1`;
      const { access_token } = (await send(`${base}/applications/token`, 'POST', { body: credentials })).body;
      return await send(`${base}${path}`, method, { token: access_token, ...(body && { body }) });
    },
    async startReplica() {
      const place = front ? join(ofService.dataDir, String(past.length)) : ofService.dataDir;
      const options = { dataDir: ofService.dataDir, env: { ...env, INLAY_DATA_DIR: place } };
      const replica = await startService({ ...options, ...(!front && { port: servicePort }) });
      running.push(replica);
      past.push(replica);
    },
    async stopReplicas(signal = 'SIGTERM') {
      await Promise.all(running.splice(0).map((replica) => replica.stop(signal)));
    },
    async restartPlatform(signal = 'SIGTERM') {
      await platform.stop(signal);
      past.push(platform);
      platform = await startPlatform();
    },
    output: () => [...past, platform].map((one) => one.output()).join('\n'),
    async startJob(connectionId) {
      const { status, body, text } = await self.platform('POST', '/jobs', { connectionId, jobType: 'sync' });
      if (status !== 200) throw new Error(`no job: ${status} ${text}`);
      return body.jobId;
    },
    async jobWhen(id, isSo) {
      let job: Answer['body'];
      await eventually(`job ${id} is as wanted`, async () => {
        job = (await self.platform('GET', `/jobs/${id}`)).body;
        return isSo(job);
      }).catch((error) => {
        throw new Error(`${error.message}: ${JSON.stringify(job)}\n${self.output()}`);
      });
      return job;
    },
    async stop() {
      front?.close();
      await self.stopReplicas('SIGKILL');
      await platform.stop('SIGKILL');
      await ofService.drop();
      await ofPlatform.drop();
    },
  };
  for (let i = 0; i < replicas; i++) await self.startReplica();
  return self;
}

/** Sends each connection to the next replica; without any, nobody is there. */
async function startFront(port: number, nextPort: () => number | undefined): Promise<Server> {
  const front = createServer((client) => {
    const target = nextPort();
    if (target === undefined) return client.destroy();
    const upstream = connect(target, '127.0.0.1');
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  await new Promise<void>((listening) => front.listen(port, '127.0.0.1', listening));
  return front;
}

/** A customer signs in and connects a source, which is set up but not synced yet. */
export async function connectSource(deployment: SeparatePlatform, rotating: RotatingProvider) {
  await deployment.request('POST', '/api/v1/integrations/templates/connections', {
    body: {
      ...{ destination_name: 'Files', destination_definition_id: localFiles, destination_config: { path: 'x' } },
      ...{ sync_on_create: false, cron_expression: null, skip_check: true },
    },
  });
  const { ask, signIn, check, source_template_id } = await startSigningIn(deployment, rotating);
  const credentialId = await signIn();
  const { id } = await ask('POST', '/sources', { source_template_id, credential_id: credentialId });
  await eventually('the source is set up', async () => (await ask('GET', `/sources/${id}`)).status === 'ready');
  const [{ connectionId }] = (await deployment.platform('GET', '/connections')).body.data;
  const [{ id: ownConnectionId }] = (await ask('GET', '/connections')).data;
  return { ask, check, credentialId, connectionId, ownConnectionId };
}
