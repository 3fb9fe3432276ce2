/** The listener for servers of Node.js: what it answers, and what never ends the receiver's program. */
import { request as ask, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { receiver, WebhookKeyError } from '../src/inlay-webhooks.ts';
import { signerOf } from '../src/signatures.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const payload = '{"type":"tag.created","timestamp":"2026-01-31T09:30:00.000Z","data":{}}';
const handle = vi.fn();
const server = createServer(receiver(secret, handle));

beforeEach(async () => {
  handle.mockReset();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  await new Promise((resolve) => server.close(resolve));
});

const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
const headersFor = (body: string) => {
  const timestamp = Math.floor(Date.now() / 1000);
  const signature = signerOf(secret)({ id: 'msg_1', timestamp, payload: body });
  return {
    connection: 'close',
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signature,
  };
};
const post = (body: string, headers = headersFor(body)) => fetch(address(), { method: 'POST', body, headers });

it('hands over the event with its id, and answers when that is done', async () => {
  let isDone = false;
  handle.mockImplementation(async () => {
    await new Promise(setImmediate);
    isDone = true;
  });
  expect((await post(payload)).status).toBe(204);
  expect(isDone).toBe(true);
  expect(handle.mock.calls).toEqual([[JSON.parse(payload), 'msg_1']]);
});

it('refuses a forged event without handing it over', async () => {
  const answer = await post(payload, headersFor('{}'));
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('No signature')]);
  expect(handle).not.toHaveBeenCalled();
});

it('asks for the event once more when it could not be handled, and continues', async () => {
  const print = vi.spyOn(console, 'error').mockReturnValue();
  handle.mockRejectedValueOnce(new Error('The disk is full.'));
  expect((await post(payload)).status).toBe(500);
  expect(String(print.mock.calls[0])).toContain('The disk is full.');
  print.mockRestore();
  expect((await post(payload)).status).toBe(204);
});

it('survives a sender that breaks off, and keeps nothing of a body without end', async () => {
  const broken = ask(address(), { method: 'POST', headers: { 'content-length': 100 } });
  const arrived = new Promise((resolve) => server.once('request', resolve));
  broken.on('error', () => {}).write('{');
  await arrived;
  broken.destroy();
  expect((await post(' '.repeat(2_000_000))).status).toBe(413);
  expect((await post(payload)).status).toBe(204);
});

it('says at the start that the key is missing or wrong', () => {
  expect(() => receiver(undefined, handle)).toThrow(WebhookKeyError);
  expect(() => receiver('whsec_not base64', handle)).toThrow(WebhookKeyError);
});
