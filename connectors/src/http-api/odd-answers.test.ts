import type { ServerResponse } from 'node:http';
import { wholeStream } from '@inlay/manifests/run/slice';
import { describe, expect, test } from 'vitest';
import { openSurroundings } from '../../test/run-source.ts';
import { items, startApi } from '../../test/start-api.ts';
import { readConfiguration } from './configuration.ts';
import { sourceFor } from './http-api.ts';

type Answer = (reply: ServerResponse) => unknown;
const answer =
  (status: number, body = '', headers = {}): Answer =>
  (reply) =>
    void reply.writeHead(status, headers).end(body);

/** Reads pages of an API that answers in turn like this, on a clock that does not wait. */
async function readTurns(turns: Answer[], { hasWorked = true } = {}) {
  let turn = 0;
  const { configuration, asked } = await startApi(
    (_, reply) => {
      turn += 1;
      return (turns[turn - 1] ?? turns.at(-1))?.(reply);
    },
    { record_path: 'list', pagination: { type: 'page' } },
  );
  const withoutWaits = { waitsFile: '/dev/null' };
  const { source, config } = sourceFor(readConfiguration(configuration), { attempts: 6, hasWorked }, withoutWaits);
  const ids: unknown[] = [];
  let failure: unknown;
  await source.withStreams(config, openSurroundings, async ([stream]) => {
    try {
      const pages = stream?.open().read(wholeStream) ?? [];
      for await (const records of pages) ids.push(...records.map(({ id }) => id));
    } catch (error) {
      failure = error;
    }
  });
  return { ids, failure, requests: asked.length };
}

const page = (from: number, to: number, isLast = false) => ({ list: items(from, to), has_more: !isLast });
const cut = JSON.stringify(page(0, 3)).slice(0, 25);

describe('an answer that is cut off', () => {
  test('Retrying in', async () => {
    const read = await readTurns([answer(200, cut), () => page(0, 3), answer(200, cut), () => page(3, 5, true)]);
    expect(read).toMatchObject({ ids: [0, 1, 2, 3, 4], failure: undefined, requests: 4 });
  });

  test('is a passing failure when it stays so, and is not quoted', async () => {
    const { failure, requests } = await readTurns([answer(200, '{"list":[{"key":"hidden')], { hasWorked: false });
    expect(failure).toMatchObject({
      message: expect.stringMatching(/incomplete JSON/),
      failureType: 'transient_error',
    });
    expect(requests).toBe(6);
  });
});

describe('an API that has worked before and now answers', () => {
  test.each([
    ['with a web page', answer(200, '<html>We are back soon.</html>', { 'content-type': 'text/html' })],
    ['with nothing', answer(200)],
    ['with a message', answer(200, 'upstream connect error')],
    ['with an empty packed body', answer(200, '', { 'content-encoding': 'gzip' })],
  ])('%s is asked again', async (_, odd) => {
    const read = await readTurns([odd, () => page(0, 3), odd, () => page(3, 5, true)]);
    expect(read).toMatchObject({ ids: [0, 1, 2, 3, 4], failure: undefined, requests: 4 });
    const { failure } = await readTurns([odd]);
    expect(failure).toMatchObject({ failureType: 'transient_error' });
  });
});

describe('an API that was never seen to work and answers', () => {
  test.each([
    ['with a web page', answer(200, '<html>')],
    ['with something else', answer(200, 'Hello')],
  ])('%s is not asked again', async (_, odd) => {
    const { failure, requests } = await readTurns([odd], { hasWorked: false });
    expect(failure).toMatchObject({ failureType: 'config_error' });
    expect(requests).toBe(1);
  });

  test('well once is asked again when a later page is odd', async () => {
    const read = await readTurns([() => page(0, 3), answer(200, '<html>'), () => page(3, 5, true)], {
      hasWorked: false,
    });
    expect(read).toMatchObject({ ids: [0, 1, 2, 3, 4], failure: undefined });
  });
});

describe('an encoding', () => {
  const body = (bytes: Buffer, contentType: string): Answer => {
    return (reply) => void reply.writeHead(200, { 'content-type': contentType }).end(bytes);
  };
  const named = (name: string) => `{"list":[{"id":"${name}"}],"has_more":false}`;

  test.each([
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${named('Müller €')}`), 'application/json'],
    ['the one that is named', Buffer.from(named('Müller \x80'), 'latin1'), 'application/json; charset="Windows-1252"'],
    ['UTF-16', Buffer.from(named('Müller €'), 'utf16le'), 'application/json;charset=utf-16le'],
  ])('is read: %s', async (_, bytes, contentType) => {
    expect(await readTurns([body(bytes, contentType)])).toMatchObject({ ids: ['Müller €'], failure: undefined });
  });

  test('that is not the one it should be is a failure, and no character is replaced', async () => {
    const { ids, failure } = await readTurns([body(Buffer.from(named('Müller'), 'latin1'), 'application/json')]);
    expect(ids).toEqual([]);
    expect(failure).toMatchObject({
      message: expect.stringMatching(/UTF-8.*Content-Type/),
    });
  });
});
