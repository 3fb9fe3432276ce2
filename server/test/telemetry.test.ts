/** Spans on their way to a collector of OpenTelemetry: what arrives, what never does, and what a lost collector costs. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../scripts/disposable.mjs';
import { createLog } from '../src/kernel/telemetry/log.ts';
import { startTestApp } from './support/app.ts';
import { customer, makeSourceTemplate } from './support/pipelines.ts';

interface SentSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Record<string, string> }[];
  status: { code?: number; message?: string };
}

/** `statuses` are answered first, each once; then 200. */
async function startCollector(...statuses: number[]) {
  const texts: string[] = [];
  const paths: string[] = [];
  const headers: (string | undefined)[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const status = statuses.shift() ?? 200;
    paths.push(`${request.method} ${request.url} ${request.headers['content-type']} ${status}`);
    headers.push(request.headers['api-key'] as string | undefined);
    if (status === 200) texts.push(text);
    response.writeHead(status).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    texts,
    paths,
    headers,
    spans: (): SentSpan[] =>
      texts.flatMap((text) => JSON.parse(text).resourceSpans[0].scopeSpans[0].spans as SentSpan[]),
  };
}

const attributesOf = ({ attributes }: SentSpan) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

const lines: string[] = [];
const log = createLog('info', { write: (line) => void lines.push(line) });
afterEach(() => void lines.splice(0));

describe('OpenTelemetry', () => {
  it('gets a span for the request, the call to the platform and the process of the connector, in one trace', async () => {
    const collector = await startCollector();
    const test = await startTestApp('sqlite', {
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_HEADERS: 'api-key=only%20for%20the%20collector',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      },
      overrides: { log },
    });
    const templateId = await makeSourceTemplate(test);
    const acme = await customer(test, 'acme');
    expect(await acme.check(templateId, { count: 12345 })).toMatchObject({ status: 'succeeded' });
    await test.request('GET', '/health/ready', { token: null });
    await test.request('GET', '/api/v1/workspaces/not-an-id?token=in-a-query');
    await test.stop();

    expect(new Set(collector.paths)).toEqual(new Set(['POST /v1/traces application/json 200']));
    expect(new Set(collector.headers)).toEqual(new Set(['only for the collector']));
    const { resource } = JSON.parse(collector.texts[0] ?? '').resourceSpans[0];
    expect(attributesOf(resource)).toMatchObject({ 'service.name': 'inlay', 'deployment.environment.name': 'test' });

    const spans = collector.spans();
    const check = spans.find(({ name }) => name === 'connector check');
    const trace = spans.filter(({ traceId }) => traceId === check?.traceId);
    const parentOf = (span: SentSpan | undefined) => trace.find(({ spanId }) => spanId === span?.parentSpanId);
    const call = parentOf(check);
    const request = parentOf(call);
    expect([check?.kind, call?.kind, request?.kind, request?.parentSpanId]).toEqual([1, 3, 2, undefined]);
    expect(request?.name).toBe('POST /api/v1/embedded/sources/check');
    expect(attributesOf(request as SentSpan)).toMatchObject({
      'http.route': '/api/v1/embedded/sources/check',
      'http.response.status_code': '200',
      'inlay.request_id': expect.any(String),
    });
    for (const { startTimeUnixNano: start, endTimeUnixNano: end } of spans) {
      expect([start, end]).toEqual([expect.stringMatching(/^\d{19}$/), expect.stringMatching(/^\d{19}$/)]);
      expect(BigInt(end) >= BigInt(start)).toBe(true);
    }
    expect(spans.filter(({ name }) => name.includes('/health'))).toEqual([]);
    // A refusal is no failure of the service.
    const refused = spans.find(({ name }) => name === 'GET /api/v1/workspaces/:workspace_id');
    expect([refused?.status, attributesOf(refused as SentSpan)['inlay.error']]).toEqual([{}, 'invalid_request']);

    const all = collector.texts.join();
    for (const secret of [test.operatorToken, acme.token, 'in-a-query', '12345', 'acme']) {
      expect(all.includes(secret), secret.slice(0, 10)).toBe(false);
    }
  });

  it('is asked again when it has no time, and the request does not wait for it', async () => {
    const collector = await startCollector(503, 429);
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/` };
    const test = await startTestApp('sqlite', { env, overrides: { log } });
    expect((await test.request('GET', '/api/v1/workspaces')).status).toBe(200);
    await expect.poll(() => collector.spans().length).toBe(1);
    expect(collector.paths.map((path) => path.slice(-3))).toEqual(['503', '429', '200']);
    await test.stop();
    expect(lines.filter((line) => line.includes('Failed to export spans'))).toEqual([]);
  });

  it.each([
    ['refuses them', 400],
    ['is not there', 0],
  ])('that %s costs the spans, and a line in the log without what they held', async (_, status) => {
    const collector = await startCollector(status);
    const url = status === 0 ? `http://127.0.0.1:${await freePort()}` : collector.url;
    const test = await startTestApp('sqlite', { env: { OTEL_EXPORTER_OTLP_ENDPOINT: url }, overrides: { log } });
    expect((await test.request('GET', '/api/v1/workspaces')).status).toBe(200);
    await test.stop();
    const [line = '', ...others] = lines.filter((text) => text.includes('Failed to export spans'));
    expect(JSON.parse(line)).toMatchObject({
      level: 'warn',
      dropped: 1,
      problem: status === 0 ? 'no answer: ECONNREFUSED' : 'the collector answered 400',
    });
    expect(others).toEqual([]);
  });

  it('records only what the sampler wants, and passes its decision on', async () => {
    const collector = await startCollector();
    const sent: Record<string, string>[] = [];
    const test = await startTestApp('sqlite', {
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER: 'parentbased_always_off' },
      overrides: {
        log,
        wrapTransport: (transport) => ({
          ...transport,
          send: (request) => {
            sent.push(request.headers);
            return transport.send(request);
          },
        }),
      },
    });
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    await test.request('POST', '/api/v1/workspaces/sync');
    await test.request('POST', '/api/v1/workspaces/sync', { headers: { traceparent } });
    await test.stop();
    const spans = collector.spans();
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set(['a'.repeat(32)]));
    const flags = new Set(sent.flatMap((headers) => headers.traceparent?.replace(/-\w{16}-/, ' ') ?? []));
    expect(flags).toContain(`00-${'a'.repeat(32)} 01`);
    for (const text of flags) if (!text.includes('aaaa')) expect(text).toMatch(/ 00$/);
  });

  it('is not part of what every start of the product loads', async () => {
    const { metafile } = await build({
      absWorkingDir: fileURLToPath(new URL('../..', import.meta.url)),
      entryPoints: ['server/src/inlay.ts'],
      bundle: true,
      platform: 'node',
      packages: 'external',
      write: false,
      outdir: '.',
      format: 'esm',
      metafile: true,
    });
    const exporter = 'server/src/kernel/telemetry/otlp-tracer.ts';
    const importers = Object.entries(metafile.inputs).flatMap(([file, { imports }]) =>
      imports.filter(({ path }) => path === exporter).map(({ kind }) => ({ file, kind })),
    );
    expect(importers).toEqual([{ file: 'server/src/edge/open-tracer.ts', kind: 'dynamic-import' }]);
  });
});
