/** One trace from the caller of the service to the connector: what is passed on, and what can be found under its id. */
import { randomBytes } from 'node:crypto';
import type { NewSpan } from '@inlay/contract/spans';
import { type TraceContext, traceparentOf } from '@inlay/contract/text/trace-context';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { PlatformRequest } from '../src/kernel/platform/transport.ts';
import { createLog } from '../src/kernel/telemetry/log.ts';
import type { Tracer } from '../src/kernel/telemetry/tracing.ts';
import { startTestApp, type TestApp } from './support/app.ts';
import { customer, makeConnectionTemplate, makeSourceTemplate } from './support/pipelines.ts';

const newId = (bytes: number) => randomBytes(bytes).toString('hex');
const newCaller = (): TraceContext => ({
  traceId: newId(16),
  spanId: newId(8),
  flags: 1,
  tracestate: 'host=of-the-caller',
});
const headersOf = (trace: TraceContext) => ({ traceparent: traceparentOf(trace), tracestate: trace.tracestate ?? '' });

interface Recorded extends NewSpan {
  trace: TraceContext;
  failure?: string;
}

/** Gives each span an id of its own, as OpenTelemetry does. */
function recordingTracer(): Tracer & { spans: Recorded[] } {
  const spans: Recorded[] = [];
  return {
    isRecording: true,
    spans,
    start(span) {
      const trace = { ...(span.parent ?? { traceId: newId(16), flags: 0 }), spanId: newId(8) };
      const recorded: Recorded = { ...span, trace };
      spans.push(recorded);
      return { trace, end: (result) => Object.assign(recorded, result) };
    },
    close: async () => {},
  };
}

describe('A trace', () => {
  const tracer = recordingTracer();
  const lines: Record<string, unknown>[] = [];
  const calls: PlatformRequest[] = [];
  let test: TestApp;

  beforeAll(async () => {
    const log = createLog('debug', { write: (line) => void lines.push(JSON.parse(line)) });
    test = await startTestApp('sqlite', {
      overrides: {
        tracer,
        log,
        wrapTransport: (transport) => ({
          ...transport,
          send: (request) => {
            calls.push(request);
            return transport.send(request);
          },
        }),
      },
    });
  });
  afterAll(() => test.stop());

  it('of the caller is passed to the platform, and its id is in the answer and in the log', async () => {
    const caller = newCaller();
    const body = { workspace_name: 'traced' };
    const headers = { ...headersOf(caller), 'x-request-id': 'asked-by-a-test' };
    const answer = await test.request('POST', '/api/v1/embedded/scoped-token', { body, headers });
    expect([answer.status, answer.headers['x-trace-id']]).toEqual([200, caller.traceId]);

    const [request] = tracer.spans.filter(({ parent }) => parent?.spanId === caller.spanId);
    expect(request).toMatchObject({ name: 'POST /api/v1/embedded/scoped-token', kind: 'server' });
    const create = tracer.spans.find(
      ({ name, parent }) => name === 'platform create_workspace' && parent === request?.trace,
    );
    const sent = calls.filter(({ headers }) => headers['x-request-id'] === 'asked-by-a-test');
    expect(sent.length).toBeGreaterThan(0);
    expect(sent.find(({ path, method }) => path === '/workspaces' && method === 'POST')?.headers).toMatchObject({
      traceparent: `00-${caller.traceId}-${create?.trace.spanId}-01`,
      tracestate: caller.tracestate,
    });
    const [line, ...others] = lines.filter(({ reqId, msg }) => reqId === 'asked-by-a-test' && msg === 'request');
    expect([line?.traceId, others]).toEqual([caller.traceId, []]);
  });

  it('is begun for a caller that names none, or names one that breaks the rules', async () => {
    const seen = new Set<unknown>();
    const bad = [`00-${'0'.repeat(32)}-${newId(8)}-01`, 'nonsense', traceparentOf(newCaller()).toUpperCase()];
    for (const headers of [{}, ...bad.map((traceparent) => ({ traceparent, tracestate: 'a=1' }))]) {
      const answer = await test.request('GET', '/api/v1/workspaces', { headers });
      expect(answer.status).toBe(200);
      expect(answer.headers['x-trace-id']).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
      seen.add(answer.headers['x-trace-id']);
    }
    expect(seen.size).toBe(1 + bad.length);
  });

  it('has its id in every error, and in the lines that the failure writes, each name once', async () => {
    for (const [method, path, token, status] of [
      ['GET', '/api/v1/workspaces', null, 401],
      ['GET', '/nowhere', null, 404],
      ['POST', '/api/v1/workspaces/sync', 'x', 401],
      ['GET', '/api/v1/workspaces/not-a-uuid', undefined, 422],
      ['GET', '/%zz', null, 404],
    ] as const) {
      const caller = newCaller();
      const options = { headers: headersOf(caller), ...(token === undefined ? {} : { token }) };
      const answer = await test.request(method, path, options);
      expect([path, answer.status, answer.headers['x-trace-id']]).toEqual([
        path,
        status,
        // A path that cannot be decoded is refused before anything else is looked at.
        path === '/%zz' ? undefined : caller.traceId,
      ]);
    }
  });

  it('reaches the connector that a check runs, through the queue of its workspace', async () => {
    const templateId = await makeSourceTemplate(test);
    const acme = await customer(test, 'acme');
    const caller = newCaller();
    const body = { source_template_id: templateId, source_config: { count: 10 } };
    const started = await test.request('POST', '/api/v1/embedded/sources/check', {
      token: acme.token,
      body,
      headers: headersOf(caller),
    });
    expect(started.status).toBe(200);
    const status = async () => (await acme.request('GET', `/sources/check/${started.body.id}/status`)).body.status;
    await expect.poll(status).toBe('succeeded');
    const check = tracer.spans.find(
      ({ name, trace }) => name === 'connector check' && trace.traceId === caller.traceId,
    );
    expect(check).toMatchObject({ attributes: { 'inlay.connector.kind': 'source' } });
    const call = tracer.spans.find(({ trace }) => trace.spanId === check?.parent?.spanId);
    expect(call?.name).toMatch(/^platform /);
  });

  it('is kept with the job that a request asks for, and the job reports its id', async () => {
    const templateId = await makeSourceTemplate(test, { name: 'Synced' });
    await makeConnectionTemplate(test);
    const acme = await customer(test, 'acme');
    await acme.settled(await acme.connect(templateId));
    const [connection] = (await acme.request('GET', '/connections')).body.data;
    const caller = newCaller();
    const headers = { ...headersOf(caller), 'x-request-id': 'asked-for-a-sync' };
    const answer = await test.request('POST', `/api/v1/embedded/connections/${connection.id}/sync`, {
      token: acme.token,
      body: {},
      headers,
    });
    expect(answer.status, answer.text).toBeLessThan(300);
    const { data } = (await test.platform('GET', `/jobs?workspaceIds=${acme.workspaceId}`)).body;
    expect(data).toMatchObject([{ traceId: caller.traceId }]);

    // Operators see which request started the job, in the list and alone; the log entry has the same.
    const asked = { id: answer.body.id, request_id: 'asked-for-a-sync', trace_id: caller.traceId };
    const [listed] = (await test.request('GET', '/api/v1/integrations/jobs')).body.data;
    const alone = (await test.request('GET', `/api/v1/integrations/jobs/${answer.body.id}`)).body;
    expect([listed, alone]).toMatchObject([asked, asked]);
    const [own] = (await acme.request('GET', `/connections/${connection.id}/jobs`)).body.data;
    expect(Object.keys(own)).not.toContain('request_id');
    const { db } = test.app.store;
    const entry = db.selectFrom('log_pending').selectAll().where('type', '=', 'sync.started');
    expect(await entry.executeTakeFirst()).toMatchObject({ request_id: asked.request_id, trace_id: asked.trace_id });
    // Later reports of the platform don't remove it.
    await test.app.workers.jobWatch.pass();
    expect((await test.request('GET', '/api/v1/integrations/jobs')).body.data).toMatchObject([asked]);
  });

  it('never carries a secret: attributes are ids, counts, routes and kinds', () => {
    const names = new Set(tracer.spans.flatMap(({ attributes = {} }) => Object.keys(attributes)));
    for (const name of names) {
      expect(name).toMatch(
        /^(http\.(request\.method|route|response\.status_code)|inlay\.(request_id|operation|attempt|error|job_id|connection_id|outcome|records|connector\.(kind|command)))$/,
      );
    }
    expect(JSON.stringify(tracer.spans)).not.toContain(test.operatorToken);
  });
});

describe('Without a collector of spans', () => {
  it('the trace of a caller passes through unchanged, and nothing is passed on that nobody follows', async () => {
    const calls: PlatformRequest[] = [];
    const test = await startTestApp('sqlite', {
      overrides: {
        wrapTransport: (transport) => ({
          ...transport,
          send: (request) => {
            calls.push(request);
            return transport.send(request);
          },
        }),
      },
    });
    onTestFinished(() => test.stop());
    const sync = async (headers: Record<string, string>) => {
      calls.splice(0);
      const answer = await test.request('POST', '/api/v1/workspaces/sync', { headers });
      const listed = calls.filter(({ path }) => !path.startsWith('/applications'));
      expect([answer.status, listed.length > 0]).toEqual([200, true]);
      return { answer, headers: listed[0]?.headers ?? {} };
    };
    const caller = newCaller();
    const followed = await sync(headersOf(caller));
    expect(followed.headers).toMatchObject({
      ...headersOf(caller),
      'x-request-id': followed.answer.headers['x-request-id'],
    });
    expect(followed.answer.headers['x-trace-id']).toBe(caller.traceId);
    const alone = await sync({});
    expect(alone.answer.headers['x-trace-id']).toMatch(/^[0-9a-f]{32}$/);
    expect(Object.keys(alone.headers)).not.toContain('traceparent');
  });
});
