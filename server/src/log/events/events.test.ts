/** Reading events as operators and customers do. */
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addTenant } from '../../../test/security/support.ts';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { describeOnBothDatabases } from '../../../test/support/databases.ts';
import { customer, makeConnectionTemplate, makeSourceTemplate } from '../../../test/support/pipelines.ts';
import { createStreamCounts } from './stream-counts.ts';

interface Shown {
  id: string;
  position: number;
  type: string;
  timestamp: string;
  workspace_id: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: each type has its own data
  data: any;
}

describeOnBothDatabases('Events', (kind) => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp(kind);
  });
  afterAll(() => test.stop());

  async function read(query = '', token?: string): Promise<{ data: Shown[]; next: number }> {
    await test.app.workers.sequencer.pass();
    const path = token === undefined ? '/api/v1/events' : '/api/v1/embedded/events';
    const answer = await test.request('GET', `${path}?${query}`, token === undefined ? {} : { token });
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  }
  const typesOf = ({ data }: { data: Shown[] }) => data.map(({ type }) => type);

  it('are one list with positions from 1, of the organization alone, that every filter reads in the same order', async () => {
    const template = await makeSourceTemplate(test);
    await makeConnectionTemplate(test, { destination_name: 'Warehouse' });
    const acme = await customer(test, 'acme');
    const sourceId = await acme.connect(template, { name: 'Shop' });
    const other = await addTenant(test, 'other');
    await other.request('POST', '/api/v1/integrations/templates/tags', { body: { name: 'theirs' } });

    const all = await read();
    expect(all.data.map(({ position }) => position)).toEqual(all.data.map((_, index) => index + 1));
    expect(all.next).toBe(all.data.length);
    expect(JSON.stringify(all)).not.toContain('theirs');
    const created = all.data.find(({ type }) => type === 'connection.created');
    expect(created).toMatchObject({
      workspace_id: acme.workspaceId,
      data: {
        workspace: { id: acme.workspaceId, name: 'acme' },
        connection: { name: 'Shop → Warehouse', source_id: sourceId },
      },
    });
    expect((await test.request('GET', `/api/v1/events/${created?.id}`)).body).toEqual(created);
    expect((await other.request('GET', `/api/v1/events/${created?.id}`)).status).toBe(404);

    const pages: Shown[] = [];
    for (let after = 0; ; ) {
      const page = await read(`after=${after}&limit=3`);
      pages.push(...page.data);
      if (page.data.length === 0) break;
      after = page.next;
    }
    expect(pages).toEqual(all.data);
    expect(typesOf(await read('types=source.*,template.published'))).toEqual(
      typesOf(all).filter((type) => type.startsWith('source.') || type === 'template.published'),
    );
    expect((await read('types=nothing.here')).data).toEqual([]);
    expect((await read(`workspace_id=${acme.workspaceId}`)).data).toEqual(
      all.data.filter(({ workspace_id }) => workspace_id === acme.workspaceId),
    );
    const since = created?.timestamp ?? '';
    expect((await read(`since=${since}`)).data).toEqual(all.data.filter(({ timestamp }) => timestamp >= since));
    expect((await read('since=2999-01-01T00:00:00.000Z')).data).toEqual([]);
    // A page that finds nothing has looked at everything all the same.
    expect((await read('types=key.removed')).next).toBe(all.next);
  });

  it('of a workspace are reported to its own token, in words for customers and without what is not theirs', async () => {
    const acme = await customer(test, 'acme');
    const own = await read('', acme.token);
    expect(typesOf(own)).toEqual(['source.created', 'connection.created']);
    expect(own.data[1]?.data.connection).not.toHaveProperty('connection_template_id');
    const beta = await customer(test, 'beta');
    expect((await read('', beta.token)).data).toEqual([]);
    expect((await read('types=workspace.*', acme.token)).data).toEqual([]);

    const failure = {
      ...{ kind: 'config_error', origin: 'source', message: 'for operators', customer_message: 'for you' },
      ...{ code: 'sign_in_ended', parameters: { why: 'revoked' } },
      ...{ customer_code: 'sign_in_ended', customer_parameters: {} },
    };
    const { store } = test.app;
    const entry = await store.db
      .selectFrom('log_entries')
      .selectAll()
      .where('type', '=', 'source.created')
      .executeTakeFirstOrThrow();
    const { trail_position: _, position: __, sequenced_at: ___, hash: ____, commitments: _____, ...facts } = entry;
    const data = { ...JSON.parse(entry.data), attention_by: 'customer', problem: failure };
    await store.db
      .insertInto('log_pending')
      .values({
        ...facts,
        ...{ id: '6f0f5a1e-5a0c-4f5e-8d5f-2f3b1c9a7d10', type: 'source.needs_attention', is_event: 1 },
        data: JSON.stringify(data),
      })
      .execute();
    const told = (await read('types=source.needs_attention', acme.token)).data[0];
    expect(told?.data.problem).toEqual({
      ...{ kind: 'config_error', origin: 'source', message: 'for you' },
      ...{ code: 'sign_in_ended', parameters: {} },
    });
    const operators = (await read('types=source.needs_attention')).data[0];
    expect(operators?.data.problem).toEqual(failure);
  });

  it('are waited for: a long poll answers with the next one, and with nothing when its time is over', async () => {
    const { next } = await read();
    const waiting = test.request('GET', `/api/v1/events?after=${next}&wait=30`);
    await test.request('POST', '/api/v1/integrations/templates/tags', { body: { name: 'awaited' } });
    await test.app.workers.sequencer.pass();
    const { body } = await waiting;
    expect(typesOf(body)).toEqual(['tag.created']);
    // Pauses of this app are a tenth of what they are.
    const nothing = await test.request('GET', `/api/v1/events?after=${body.next}&wait=1`);
    expect(nothing.body).toEqual({ data: [], next: body.next });
  });
});

/** On a socket, because a stream has no end. */
describeOnBothDatabases('The stream of events', (kind) => {
  let test: TestApp;
  let port: number;
  beforeAll(async () => {
    test = await startTestApp(kind);
    await test.app.http.listen({ port: 0, host: '127.0.0.1' });
    port = (test.app.http.server.address() as AddressInfo).port;
  });
  afterAll(() => test.stop());

  function open(query: string, headers: Record<string, string> = {}) {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    let hasEnded = false;
    socket.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    socket.on('close', () => {
      hasEnded = true;
    });
    const given = { host: 'x', authorization: `Bearer ${test.operatorToken}`, ...headers };
    const lines = Object.entries(given).map(([name, value]) => `${name}: ${value}`);
    socket.write(`GET /api/v1/events/stream?${query} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    return { text: () => text, hasEnded: () => hasEnded, close: () => socket.destroy() };
  }
  const addTag = async (name: string) => {
    const answer = await test.request('POST', '/api/v1/integrations/templates/tags', { body: { name } });
    expect(answer.status, answer.text).toBe(201);
    await test.app.workers.sequencer.pass();
  };

  it('reports what was, continues with what happens, and resumes after the last id without a gap', async () => {
    await addTag('one');
    const stream = open('types=tag.*');
    await expect.poll(stream.text).toContain('"name":"one"');
    expect(stream.text()).toContain('content-type: text/event-stream');
    await addTag('two');
    await expect.poll(stream.text).toContain('"name":"two"');
    const ids = [...stream.text().matchAll(/^id: (\d+)\nevent: tag\.created\ndata: (\{.*\})$/gm)];
    expect(ids.map(([, id, data]) => [Number(id), JSON.parse(data ?? '').position])).toEqual([
      [Number(ids[0]?.[1]), Number(ids[0]?.[1])],
      [Number(ids[0]?.[1]) + 1, Number(ids[0]?.[1]) + 1],
    ]);
    stream.close();
    await addTag('three');
    const resumed = open('types=tag.*', { 'last-event-id': String(ids[1]?.[1]) });
    await expect.poll(resumed.text).toContain('"name":"three"');
    expect(resumed.text()).not.toContain('"name":"two"');
    resumed.close();
  });

  it('is refused with a position that cannot be read', async () => {
    for (const [id, status] of [
      ['999999', 410],
      ['x', 422],
    ] as const) {
      const refused = open('', { 'last-event-id': id, connection: 'close' });
      await expect.poll(refused.hasEnded).toBe(true);
      expect(refused.text()).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    }
  });

  it('is refused where a token has too many, until one of them ends', async () => {
    const { body } = await test.request('POST', '/api/v1/operator-tokens', { body: { name: 'busy' } });
    const headers = { authorization: `Bearer ${body.token}` };
    const streams = Array.from({ length: 50 }, () => open('types=tag.*', headers));
    await expect.poll(() => streams.every((stream) => stream.text().includes('retry:'))).toBe(true);
    const refused = open('', { ...headers, connection: 'close' });
    await expect.poll(refused.hasEnded).toBe(true);
    expect(refused.text()).toMatch(/^HTTP\/1.1 429 [\s\S]*x-inlay-error: too_many_event_streams\r\n/);
    expect(refused.text()).toMatch(/\r\nretry-after: 10\r\n[\s\S]*whose=token; limit=50\r\n/);
    const other = open('types=tag.*');
    await expect.poll(other.text).toContain('retry:');
    other.close();
    streams.pop()?.close();
    await expect
      .poll(async () => {
        const again = open('types=tag.*', headers);
        streams.push(again);
        await expect.poll(again.text).toMatch(/^HTTP/);
        return again.text().slice(0, 12);
      })
      .toBe('HTTP/1.1 200');
    for (const stream of streams) stream.close();
  });

  it('is refused where an organization has too many, whatever tokens they have', () => {
    const count = createStreamCounts();
    const endings = Array.from({ length: 500 }, () => new AbortController());
    const principal = (tokenId: string, organizationId = 'one') => ({
      ...{ kind: 'operator' as const, tokenName: '', permission: 'full' as const },
      ...{ tokenId, organizationId },
    });
    for (const [index, { signal }] of endings.entries()) count(principal(`token ${index % 10}`), signal);
    const next = (of = principal('another')) => count(of, new AbortController().signal);
    expect(() => next()).toThrow(expect.objectContaining({ code: 'too_many_event_streams' }));
    next(principal('theirs', 'two'));
    endings[0]?.abort();
    next();
    expect(() => next()).toThrow(expect.objectContaining({ facts: { whose: 'organization', limit: 500 } }));
  });

  it('reports nothing more once its token is revoked', async () => {
    const { body } = await test.request('POST', '/api/v1/operator-tokens', { body: { name: 'short' } });
    const stream = open('types=tag.*', { authorization: `Bearer ${body.token}` });
    await expect.poll(stream.text).toContain('retry:');
    await test.request('DELETE', `/api/v1/operator-tokens/${body.id}`);
    await addTag('after the end');
    await expect.poll(() => stream.text().endsWith('0\r\n\r\n') || stream.hasEnded()).toBe(true);
    expect(stream.text()).not.toContain('after the end');
    stream.close();
  });
});
