/** `inlay encryption-key rotate` beside services that are processes, with their own pauses: it takes most of a minute. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createTestDatabase, describeOnBothDatabases } from '../support/databases.ts';
import { runCli, type Service, startService } from '../support/service.ts';

const operatorToken = 'an-operator-token-for-the-key-tests-00001';
const templates = '/api/v1/integrations/templates/sources';

async function call({ url }: Service, method: string, path: string, body?: object) {
  const headers = { authorization: `Bearer ${operatorToken}`, ...(body && { 'content-type': 'application/json' }) };
  const answer = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return { status: answer.status, body: (await answer.json()) as { id: string; partial_default_config?: object } };
}

describeOnBothDatabases('A rotation beside processes', (kind) => {
  it('keeps everything that they store, and removes the old key', async () => {
    const database = await createTestDatabase(kind, { migrated: true });
    onTestFinished(() => database.drop());
    const { dataDir, url } = database;
    const env = { INLAY_OPERATOR_TOKEN: operatorToken, ...(url !== undefined && { INLAY_DATABASE_URL: url }) };
    const start = () => startService({ dataDir, env });
    const services = [await start(), ...(kind === 'postgres' ? [await start()] : [])];
    onTestFinished(async () => void (await Promise.all(services.map((service) => service.stop()))));
    const key = () => readFileSync(join(dataDir, 'encryption.key'), 'utf8').trim();
    const before = key();

    const made: string[] = [];
    let isOver = false;
    const clients = services.map(async (service, index) => {
      for (let seed = 1; !isOver; seed++) {
        const actor_definition_id = '5d3a1c52-6f0e-4b8e-9a61-2c7f4e0b9d14';
        const given = { name: `${index} ${seed}`, actor_definition_id, partial_default_config: { seed } };
        const { status, body } = await call(service, 'POST', templates, given);
        expect(status, JSON.stringify(body)).toBe(201);
        made.push(body.id);
        await new Promise((done) => setTimeout(done, 200));
      }
    });
    const rotated = await runCli(['encryption-key', 'rotate'], { env: { ...env, INLAY_DATA_DIR: dataDir } });
    isOver = true;
    await Promise.all(clients);
    expect(rotated).toMatchObject({ code: 0, stdout: expect.stringContaining('with the new key') });
    expect(key()).not.toContain(before);
    expect(key().split('\n')).toHaveLength(1);
    expect(made.length).toBeGreaterThan(20);

    const last = services.pop() as Service;
    await last.stop();
    services.push(await start());
    for (const service of services) {
      for (const id of made) {
        const { body } = await call(service, 'GET', `${templates}/${id}`);
        expect(body.partial_default_config, id).toEqual({ seed: expect.any(Number) });
      }
    }
  });
});
