/** Checks on a platform that has none: a source is made for the purpose, its streams are listed, and it is deleted. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { TestApp } from '../../../test/support/app.ts';
import { describeInTurns } from '../../../test/support/databases.ts';
import {
  answering,
  type FaultyPlatform,
  first,
  lostAnswer,
  type Match,
  unreachable,
} from '../../../test/support/faults.ts';
import { type HostedApp, startHost, startHostedApp } from '../../../test/support/hosted-app.ts';
import { type Customer, customer, httpApi, makeSourceTemplate, onPlatform } from '../../../test/support/pipelines.ts';

/** A path that ends in a slash stands for all below it. */
const to =
  (method: string, path: string): Match =>
  (request) => {
    const [asked = ''] = request.path.split('?');
    return request.method === method && (path.endsWith('/') ? asked.startsWith(path) : asked === path);
  };
const unavailable = { code: 'check_not_run', parameters: {} };

describeInTurns('a check on a hosted platform', (kind, it) => {
  let hosted: HostedApp;
  let test: TestApp;
  let faulty: FaultyPlatform;
  let acme: Customer;
  let sample: string;
  let host: TestApp;
  beforeAll(async () => {
    host = await startHost();
  });
  afterAll(() => host?.stop());
  beforeEach(async () => {
    hosted = await startHostedApp(kind, host);
    ({ test, faulty } = hosted);
    sample = await makeSourceTemplate(test);
    acme = await customer(test, 'acme');
  });
  afterEach(() => hosted.stop());

  const sourcesThere = async () => (await onPlatform(hosted.host, acme.workspaceId)).sources;
  const tidyUp = async () => {
    await hosted.letSettle();
    await test.app.keepHouse();
  };

  it('succeeds, and leaves nothing behind', async () => {
    expect(await acme.check(sample, { count: 1 })).toMatchObject({ status: 'succeeded', error_message: null });
    expect(faulty.sent.some(to('DELETE', '/sources/'))).toBe(true);
    expect(await sourcesThere()).toEqual([]);
    expect((await acme.request('GET', '/sources')).body).toEqual({ data: [] });
  });

  it('fails with the reason that the connector gives, without the secrets it was given', async () => {
    const secret = 'a-token-nobody-else-may-read';
    const api: Server = createServer((_request, response) => {
      response.writeHead(403, { 'content-type': 'application/json' }).end(JSON.stringify({ error: `bad ${secret}` }));
    });
    await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
    const template = await makeSourceTemplate(test, {
      actor_definition_id: httpApi,
      name: 'API',
      partial_default_config: { authentication: { type: 'bearer', token: secret } },
    });
    // A platform that, unlike the bundled one, lets a connector quote what it was given.
    faulty.rule(async (request, forward) => {
      if (!to('GET', '/streams')(request)) return undefined;
      const answer = await forward();
      const { data } = JSON.parse(answer.text);
      return { ...answer, text: JSON.stringify({ data: { message: `${data.message} Sent: ${secret}` } }) };
    });
    const outcome = await acme.check(template, {
      base_url: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
      streams: [{ name: 'things', path: '/things' }],
    });
    expect(outcome.status).toBe('failed');
    expect(outcome.error_message).toMatch(/403.*Sent: \*{10}$/s);
    expect(outcome.error_message).not.toContain(secret);
    expect(await sourcesThere()).toEqual([]);
    await new Promise((resolve) => api.close(resolve));
  });

  it('does not blame the configuration for a gateway that gave up, nor for a platform that is away', async () => {
    for (const rule of [
      answering(to('GET', '/streams'), 504, '<html>'),
      answering(to('GET', '/streams'), 503),
      unreachable(to('GET', '/streams')),
      unreachable(to('POST', '/sources')),
    ]) {
      const restore = faulty.rule(rule);
      expect(await acme.check(sample, { count: 1 })).toMatchObject({ status: 'failed', error_reason: unavailable });
      restore();
    }
    expect(await sourcesThere()).toEqual([]);
  });

  it('that the platform refuses says so in words of our own', async () => {
    faulty.rule(answering(to('POST', '/sources'), 422, '{"data":{"message":"no such definition hunter2"}}'));
    expect(await acme.check(sample, { count: 1 })).toMatchObject({
      status: 'failed',
      error_reason: { code: 'rejected_by_platform', parameters: { what: 'configuration' } },
    });
  });

  it('keeps its outcome when its source cannot be deleted, which is done later', async () => {
    const restore = faulty.rule(unreachable(to('DELETE', '/sources/')));
    expect(await acme.check(sample, { count: 1 })).toMatchObject({ status: 'succeeded' });
    expect(await sourcesThere()).toMatchObject([{ name: expect.stringMatching(/^inlay check /) }]);
    await tidyUp();
    expect(await sourcesThere()).toHaveLength(1);
    restore();
    await tidyUp();
    expect(await sourcesThere()).toEqual([]);
  });

  it('that was cut off by a crash, or whose create was not answered, leaves nothing behind in the end', async () => {
    faulty.rule(first(1, to('POST', '/sources'), lostAnswer));
    expect(await acme.check(sample, { count: 1 })).toMatchObject({ status: 'failed', error_reason: unavailable });
    const own = await acme.connect(sample);
    await acme.settled(own);
    expect(await sourcesThere()).toHaveLength(2);
    await test.app.keepHouse();
    expect(await sourcesThere(), 'not before it can no longer be at work').toHaveLength(2);
    await tidyUp();
    expect(await sourcesThere()).toMatchObject([{ name: expect.stringMatching(/^Shop /) }]);
    const left = await test.app.store.db.selectFrom('source_checks').where('may_linger', '=', 1).selectAll().execute();
    expect(left).toEqual([]);
  });

  it('is forgotten together with its workspace', async () => {
    faulty.rule(unreachable(to('DELETE', '/sources/')));
    await acme.check(sample, { count: 1 });
    expect((await test.request('DELETE', `/api/v1/workspaces/${acme.workspaceId}`)).status).toBe(200);
    const before = faulty.sent.length;
    await tidyUp();
    expect(faulty.sent.slice(before)).toEqual([]);
  });
});
