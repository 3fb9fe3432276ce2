/** Requests that are broken, smuggled or slow, byte by byte against the real process. */

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { refusalWith } from '../../src/kernel/http/error-catalogue.ts';
import { startTestApp } from '../support/app.ts';
import { type Service, startService } from '../support/service.ts';
import { exchange, readAnswer, untilClosed, widgetToken } from './support.ts';

const operatorToken = randomBytes(32).toString('hex');
const path = '/api/v1/embedded/scoped-token';
let dataDir: string;
let service: Service;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'inlay-test-'));
  service = await startService({ dataDir, env: { INLAY_OPERATOR_TOKEN: operatorToken } });
});
afterAll(async () => {
  await service.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const head = (...lines: string[]) =>
  [
    `POST ${path} HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${operatorToken}`,
    'Content-Type: application/json',
    ...lines,
    '',
    '',
  ].join('\r\n');
const body = '{"workspace_name":"smuggled"}';
const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
const smuggled = `GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n`;

async function expectRefused(request: string, status: number, reason: string): Promise<void> {
  const answer = await exchange(service.port, request);
  expect([answer.status, answer.body], request.slice(0, 300)).toEqual([status, `{"detail":"${reason}"}`]);
  expect(answer.head).toContain('content-type: application/json; charset=utf-8');
  expect(answer.head).toContain('connection: close');
  expect(answer.head).toContain(`x-inlay-error: ${refusalWith(status)}`);
}

async function workspaceNames(): Promise<string[]> {
  const headers = { authorization: `Bearer ${operatorToken}` };
  const answer = await fetch(`${service.url}/api/v1/workspaces`, { headers });
  const { data } = (await answer.json()) as { data: { name: string }[] };
  return data.map(({ name }) => name);
}

describe('The connection', () => {
  it('accepts a request that gives its length once, in one way', async () => {
    const close = 'Connection: close';
    const plain = await exchange(service.port, head(`Content-Length: ${body.length}`, close) + body);
    expect(plain.status).toBe(200);
    expect((await exchange(service.port, head('Transfer-Encoding: chunked', close) + chunked)).status).toBe(200);
  });

  it('is refused with 400 when the length of the body is ambiguous, and what follows is not served', async () => {
    const length = `Content-Length: ${body.length}`;
    const name = (text: string) => body.replace('smuggled', text);
    const ambiguous = [
      head(length, 'Transfer-Encoding: chunked') + chunked,
      head('Transfer-Encoding: chunked', length) + chunked,
      head('Content-Length: 0', 'Transfer-Encoding: chunked') + chunked + smuggled,
      head(length, length) + body,
      head(length, 'Content-Length: 5') + body,
      head(`${length}, ${body.length}`) + body,
      head('Content-Length: 5', `content-length: ${body.length}`) + body,
      head(`Content-Length: +${body.length}`) + body,
      head('Content-Length: -1') + body,
      head(`Content-Length: 0x1d`) + body,
      head('Content-Length: 1e2') + body,
      head('Content-Length: 99999999999999999999') + body,
      head('Transfer-Encoding : chunked') + chunked,
      head('Transfer-Encoding: chunked', 'Transfer-Encoding: identity') + chunked,
      head('Transfer-Encoding: chunked, identity') + chunked,
      head('Transfer-Encoding: xchunked') + chunked,
      head('Transfer-Encoding: chunked') + chunked.replace('1d\r\n', '1d\n'),
      head('Transfer-Encoding: chunked') + chunked.replace('1d', '-1'),
      head('Transfer-Encoding: chunked') + chunked.replace('1d', 'fffffffffffffffff'),
    ].map((request, index) => request.replaceAll(body, name(`ambig-${String(index).padStart(2, '0')}`)));
    for (const request of ambiguous) await expectRefused(request, 400, 'Bad Request');
    expect((await workspaceNames()).filter((found) => found.startsWith('ambig'))).toEqual([]);
  });

  it('is refused with 400 for bare line feeds, control characters and nonsense where headers belong', async () => {
    const good = head(`Content-Length: ${body.length}`) + body;
    const broken = [
      good.replaceAll('\r\n', '\n'),
      good.replace('Host: x\r\n', 'Host: x\n'),
      good.replace('Host: x\r\n', 'Host: x\r'),
      good.replace('Host: x\r\n', 'Host: x\r\n\0Folded: y\r\n'),
      good.replace('Host: x', 'Host : x'),
      good.replace('Host: x', 'Ho st: x'),
      good.replace('Host: x', 'Host: x\r\nX-A: a\0b'),
      good.replace('Host: x', 'Host: x\r\nNoColon'),
      good.replace('HTTP/1.1', 'HTTP/9.9'),
      good.replace(`POST ${path}`, `POST ${path} x`),
      good.replace('POST', 'P\0ST'),
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
      'SSH-2.0-OpenSSH_9.6\r\n',
    ];
    for (const request of broken) await expectRefused(request, 400, 'Bad Request');
  });

  it('is refused with 431 for headers over 16 kB, in one line or in many', async () => {
    const reason = 'Request Header Fields Too Large';
    await expectRefused(head(`X-Long: ${'a'.repeat(17_000)}`), 431, reason);
    await expectRefused(head(...Array.from({ length: 600 }, (_, i) => `X-${i}: ${'a'.repeat(30)}`)), 431, reason);
    await expectRefused(`GET /${'a'.repeat(17_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431, reason);
    await expectRefused(
      `GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${'a'.repeat(1_048_576)}\r\n\r\n`,
      431,
      reason,
    );
  });

  it('answers in the shape of the contract even to a request without Host or with an odd Expect', async () => {
    await expectRefused('GET /health/live HTTP/1.1\r\n\r\n', 400, 'Bad Request');
    const expecting = 'GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: the-unexpected\r\n\r\n';
    await expectRefused(expecting, 417, 'Expectation Failed');
  });

  it('is ended when headers or body come too slowly, and others are served meanwhile', async () => {
    const slow = (start: string) => {
      const socket = connect(service.port, '127.0.0.1');
      socket.write(start);
      const drip = setInterval(() => socket.writable && socket.write('a'), 500);
      return untilClosed(socket).finally(() => clearInterval(drip));
    };
    let waiting = true;
    const statuses = new Set<number>();
    const others = (async () => {
      while (waiting) {
        const answer = await fetch(`${service.url}/health/ready`);
        await answer.body?.cancel();
        statuses.add(answer.status);
        await delay(100);
      }
    })();
    const answers = await Promise.all([
      slow('GET /health/live HTTP/1.1\r\nHost: x\r\nX-Slow: '),
      ...Array.from({ length: 50 }, () => slow('GET / HTTP/1.1\r\nX-')),
      slow(head('Content-Length: 1000')),
      slow(`${head('Transfer-Encoding: chunked')}ffff\r\n`),
    ]).finally(() => {
      waiting = false;
    });
    await others;
    expect([...statuses]).toEqual([200]);
    for (const text of answers) {
      const answer = readAnswer(text);
      expect([answer.status, answer.body]).toEqual([408, '{"detail":"Request Timeout"}']);
    }
  });
});

describe('The host that a request names', () => {
  const spoofed = {
    host: 'evil.example',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'gopher',
    'x-forwarded-port': '666',
    'x-forwarded-for': '6.6.6.6',
    'x-real-ip': '6.6.6.6',
    forwarded: 'for=6.6.6.6;host=evil.example;proto=gopher',
    'x-original-url': '/metrics',
    'x-rewrite-url': '/metrics',
  };

  it('changes neither next nor widgetUrl, with trusted proxies or without', async () => {
    const test = await startTestApp('sqlite', { env: { INLAY_PUBLIC_URL: 'https://inlay.example/base' } });
    onTestFinished(() => test.stop());
    await test.scopedToken('one');
    await test.scopedToken('two');
    for (const proxies of ['', '127.0.0.1,::1']) {
      await test.restart({ env: { INLAY_TRUSTED_PROXIES: proxies } });
      const listed = await test.request('GET', '/api/v1/workspaces?limit=1', { headers: spoofed });
      expect(listed.body.next).toMatch(/^https:\/\/inlay\.example\/base\/api\/v1\/workspaces\?limit=1&cursor=/);
      const answer = await test.request('POST', '/api/v1/embedded/widget-token', {
        body: { workspace_name: 'one', allowed_origin: 'https://app.example' },
        headers: spoofed,
      });
      const envelope = Buffer.from(answer.body.token, 'base64').toString();
      expect(JSON.parse(envelope).widgetUrl).toMatch(/^https:\/\/inlay\.example\/base\/widget\?workspaceId=/);
      const { url } = await widgetToken(test, {});
      const page = await test.request('GET', `/widget${url.search}`, { headers: spoofed });
      for (const { text, headers } of [listed, page, answer]) {
        expect(`${text}${JSON.stringify(headers)}${envelope}`).not.toMatch(/evil\.example|6\.6\.6\.6|gopher/);
      }
    }
  });

  it('does not count in the request line either', async () => {
    const lines = `Host: evil.example\r\nConnection: close\r\nAuthorization: Bearer ${operatorToken}`;
    const target = 'http://evil.example/api/v1/workspaces?limit=1';
    const answer = await exchange(service.port, `GET ${target} HTTP/1.1\r\n${lines}\r\n\r\n`);
    expect(answer.status).toBeLessThan(500);
    expect(answer.body).not.toContain('evil.example');
  });
});
