/**
 * The secrets of connectors over a whole journey: they are in templates, sources and destinations, which are checked,
 * set up and synced; the other side refuses them and quotes them. Afterwards the test searches for them in everything
 * that was answered, printed, counted and stored.
 *
 * A short run goes the way once, with PostgreSQL: the data directory has the same files then, but for the service's own
 * database, and at-rest.test.ts looks into that on both databases. INLAY_LONG_TESTS goes it on both.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isLongRun } from '../../../scripts/long-run.ts';
import { createTestDatabase, databaseKinds, type TestDatabase } from '../support/databases.ts';
import { call, eventually, operatorToken, type Reply } from '../support/deployment.ts';
import { httpApi, localFiles, postgresSource } from '../support/pipelines.ts';
import { type Service, startService } from '../support/service.ts';

const secret = (name: string) => `${name}-${randomBytes(16).toString('hex')}`;
const secrets = {
  ofTemplate: secret('template'),
  ofSource: secret('source'),
  replaced: secret('replaced'),
  ofDestination: secret('destination'),
};

async function dump(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows: tables } = await client.query("select tablename from pg_tables where schemaname = 'public'");
  let text = '';
  for (const { tablename } of tables) {
    text += JSON.stringify((await client.query(`select * from "${tablename}"`)).rows);
  }
  await client.end();
  expect(text).toContain('sealed_config');
  return text;
}

describe.each(isLongRun ? databaseKinds : (['postgres'] as const))('No secret of a connector [%s]', (kind) => {
  let database: TestDatabase;
  let service: Service;
  let api: Server;
  let accepts = true;
  let asked = 0;
  const answers: string[] = [];

  async function ask(method: string, path: string, body?: unknown): Promise<Reply> {
    const reply = await call(service, method, path, body);
    answers.push(JSON.stringify(reply.body));
    return reply;
  }

  /** Everything below the data directory, as it lies there. */
  function filesIn(directory: string): string[] {
    return readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .map((name) => join(directory, name))
      .filter((path) => statSync(path).isFile());
  }

  async function journey(): Promise<void> {
    const templates = '/api/v1/integrations/templates';
    const { token } = (await ask('POST', '/api/v1/embedded/scoped-token', { workspace_name: 'acme' })).body;
    answers.length = 0;
    const { sub } = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString());
    const within = `workspace_id=${sub}`;
    const base_url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
    const web = await ask('POST', `${templates}/sources`, {
      actor_definition_id: httpApi,
      name: 'API',
      partial_default_config: {
        base_url,
        authentication: { type: 'bearer', token: secrets.ofTemplate },
        streams: [{ name: 'things', path: '/things' }],
      },
    });
    const database = await ask('POST', `${templates}/sources`, {
      actor_definition_id: postgresSource,
      name: 'Database',
      partial_default_config: { port: 1 },
    });
    const { body } = await ask('GET', '/api/v1/integrations/definitions/destinations?name=postgres');
    const files = { destination_definition_id: localFiles, destination_config: { path: 'out' } };
    const warehouse = {
      destination_definition_id: body.destinations[0].id,
      destination_config: {
        host: '127.0.0.1',
        port: 1,
        database: 'd',
        username: 'u',
        password: secrets.ofDestination,
      },
    };
    for (const [destination_name, given] of Object.entries({ files, warehouse })) {
      const made = await ask('POST', `${templates}/connections`, {
        destination_name,
        ...given,
        sync_on_create: true,
        skip_check: true,
      });
      expect(made.status, JSON.stringify(made.body)).toBe(201);
    }
    for (const list of ['sources', 'connections']) await ask('GET', `${templates}/${list}`);
    await ask('GET', `${templates}/sources/${web.body.id}`);

    const config = (password: string) => ({ host: '127.0.0.1', database: 'd', username: 'u', password });
    const path = (rest: string) => `/api/v1/integrations/${rest}?${within}`;
    for (const request of [
      { source_template_id: web.body.id, source_config: {} },
      { source_template_id: database.body.id, source_config: config(secrets.ofSource) },
    ]) {
      const started = await ask('POST', path('sources/check'), request);
      const outcome = () => ask('GET', path(`sources/check/${started.body.id}/status`));
      await eventually('the check is over', async () => (await outcome()).body.status !== 'running');
    }
    const one = (await ask('POST', path('sources'), { source_template_id: web.body.id, name: 'web' })).body;
    const two = (
      await ask('POST', path('sources'), {
        source_template_id: database.body.id,
        name: 'db',
        source_config: config(secrets.replaced),
      })
    ).body;
    await ask('PUT', path(`sources/${two.id}`), { source_config: config(secrets.ofSource) });
    await ask('PUT', path(`sources/${two.id}`), { source_config: { ...config('x'), password: 5 } });
    const settled = async (id: string) => (await ask('GET', path(`sources/${id}`))).body.status !== 'pending';
    for (const { id } of [one, two]) await eventually('the source is settled', () => settled(id));

    interface Listed {
      id: string;
      source_id: string;
      last_run: { status: string } | null;
    }
    const connectionsOfWeb = async (): Promise<Listed[]> =>
      (await ask('GET', path('connections'))).body.data.filter((each: Listed) => each.source_id === one.id);
    // A job that will be tried again has failed often enough for this test.
    const hasRun = ({ last_run }: Listed) => /^(succeeded|failed|incomplete)$/.test(last_run?.status ?? '');
    await eventually('the first syncs have run', async () => (await connectionsOfWeb()).every(hasRun));
    accepts = false;
    const again = (await connectionsOfWeb()).filter(({ last_run }) => last_run?.status === 'succeeded');
    expect(again).toHaveLength(1);
    for (const { id } of again) expect((await ask('POST', path(`connections/${id}/sync`))).status).toBe(200);
    await eventually('the next one has failed', async () => (await connectionsOfWeb()).every(hasRun));
    for (const { id } of await connectionsOfWeb()) await ask('GET', path(`connections/${id}/jobs`));
    await ask('GET', path('sources'));
    await ask('DELETE', path(`sources/${two.id}`));
  }

  beforeAll(async () => {
    database = await createTestDatabase(kind, { migrated: true });
    api = createServer(({ headers }, response) => {
      asked++;
      // An API that quotes what it was sent.
      if (!accepts) response.writeHead(401, { 'x-echo': `${headers.authorization}` }).end(headers.authorization);
      else response.setHeader('content-type', 'application/json').end('[{"id":1},{"id":2}]');
    });
    await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
    service = await startService({
      dataDir: database.dataDir,
      env: {
        LOG_LEVEL: 'trace',
        INLAY_OPERATOR_TOKEN: operatorToken,
        ...(database.url ? { INLAY_DATABASE_URL: database.url } : {}),
      },
    });
    await journey();
    answers.push(await (await fetch(`${service.url}/metrics`)).text());
    // While a connector runs, its configuration is in a file for it alone.
    expect(await service.stop()).toBe(0);
  });
  afterAll(async () => {
    await service?.kill();
    await new Promise((resolve) => api?.close(resolve));
    await database?.drop();
  });

  const absent = (text: string | Buffer, where: string) => {
    for (const [name, value] of Object.entries(secrets))
      expect(text.includes(value), `${name} in ${where}`).toBe(false);
  };

  it('is in any answer, in the metrics, or in anything printed', () => {
    expect(asked).toBeGreaterThan(2);
    expect(answers.length).toBeGreaterThan(20);
    absent(answers.join('\n'), 'an answer');
    expect(answers.join('\n')).toContain('"**********"');
    absent(service.output(), 'the output');
  });

  it('is in the databases, the logs of jobs or any other file', async () => {
    const files = filesIn(database.dataDir);
    expect(files.some((file) => file.endsWith('platform.db'))).toBe(true);
    expect(files.some((file) => /jobs?[/-]/.test(file) || file.endsWith('.log'))).toBe(true);
    for (const file of files) absent(readFileSync(file), file);
    if (database.url) absent(await dump(database.url), 'the database');
  });
});
