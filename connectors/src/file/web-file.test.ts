import { describe, expect, test } from 'vitest';
import { openSurroundings } from '../../test/run-source.ts';
import { csv, startFiles, startWeb } from '../../test/start-files.ts';
import { connector } from './file.ts';

describe('a web address', () => {
  test('is read with credentials', async () => {
    const { asked, read } = await startWeb((_, reply) => void reply.end('id\n1\n'), csv, {
      authentication: { type: 'basic', username: 'me', password: 'hidden' },
    });
    expect((await read()).all).toMatchObject([{ id: 1, _file: 'things.csv' }]);
    expect(asked[0]).toMatchObject({
      path: '/files/things.csv',
      query: { signature: 'hidden' },
      headers: { authorization: 'Basic bWU6aGlkZGVu' },
    });
  });

  test.each([{ etag: '"v1"' }, { etag: 'W/"v1"' }, { 'last-modified': 'Tue, 02 Jan 2024 00:00:00 GMT' }])(
    'is not read again while it is the same: %j',
    async (headers) => {
      let isAttentive = true;
      const { read } = await startWeb(({ headers: { 'if-none-match': etag, 'if-modified-since': since } }, reply) => {
        const isKnown = isAttentive && Object.values<string | undefined>(headers).includes(etag ?? since);
        reply.writeHead(isKnown ? 304 : 200, headers).end(isKnown ? '' : 'id\n1\n');
      }, csv);
      const { states, all } = await read({ syncMode: 'incremental' });
      expect(all).toHaveLength(1);
      if ('last-modified' in headers) expect(all[0]?._file_modified_at).toBe('2024-01-02T00:00:00.000Z');
      const second = await read({ syncMode: 'incremental', state: states });
      expect(second.things).toEqual([]);
      isAttentive = false;
      expect((await read({ syncMode: 'incremental', state: second.states })).things).toEqual([]);
    },
  );

  test('without a version is read every time', async () => {
    const { read } = await startWeb((_, reply) => void reply.end('id\n1\n'), csv);
    const { states } = await read({ syncMode: 'incremental' });
    expect((await read({ syncMode: 'incremental', state: states })).things).toHaveLength(1);
  });

  test.each([
    [401, 'The server rejected the token or password (401). Check the authentication.'],
    [403, 'The server denied access to the file (403). Check the URL and the permissions.'],
    [404, 'The file was not found (404). Check the URL.'],
    [418, 'The server returned 418 instead of the file. Check the URL.'],
  ])('that answers %i is explained', async (status, message) => {
    const { check } = await startWeb((_, reply) => void reply.writeHead(status).end(), csv);
    await expect(check()).rejects.toThrow(message);
  });

  test('that shows a web page is explained', async () => {
    const { check } = await startWeb((_, reply) => {
      reply.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<html>');
    }, csv);
    await expect(check()).rejects.toThrow(/web page/);
  });

  test('that breaks off in the middle fails for now, after what came', async () => {
    let isSample = true;
    const { read } = await startWeb((_, reply, request) => {
      reply.writeHead(200, { 'content-length': String(10_000_000) }).write('id\n1\n2\n');
      if (isSample) reply.write('3\n'.repeat(10_000));
      else setImmediate(() => request.socket.resetAndDestroy());
      isSample = false;
    }, csv);
    await expect(read()).rejects.toMatchObject({
      message: expect.stringMatching(/^things.csv: http:\S+ closed the connection/),
      failureType: 'transient_error',
    });
  });

  test('of a private network is not reached unless that is allowed', async () => {
    const { check, asked } = await startWeb(() => [], csv);
    await expect(check({ allowPrivateNetworks: false })).rejects.toThrow('public internet');
    expect(asked).toEqual([]);
  });

  test('is not the service itself, even where private networks are allowed', async () => {
    const { check, asked, origin } = await startWeb(() => [], csv);
    const serviceEndpoints = [{ host: 'localhost', port: Number(new URL(origin).port) }];
    await expect(check({ allowPrivateNetworks: true, serviceEndpoints })).rejects.toThrow('is Inlay itself');
    expect(asked).toEqual([]);
  });

  test('with a user name in it is refused', async () => {
    const { check } = startFiles({ location: { type: 'url', url: 'https://me:hidden@files.test/a' }, format: csv }, []);
    await expect(check()).rejects.toThrow(/username.*authentication/);
  });

  test('is sampled without being read to the end', async () => {
    let sent = 0;
    const { configuration } = await startWeb((_, reply) => {
      const send = (): void => {
        sent += 1;
        if (reply.writable && sent < 10_000) reply.write('1\n'.repeat(50_000), () => send());
      };
      reply.write('id\n');
      send();
    }, csv);
    const { streams } = await connector.discover(configuration, openSurroundings);
    expect(streams[0]?.json_schema.properties).toMatchObject({ id: { type: ['null', 'integer'] } });
    expect(sent).toBeLessThan(10_000);
  });
});
