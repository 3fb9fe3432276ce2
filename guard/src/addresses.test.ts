import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Surroundings } from '@inlay/protocol/connector';
import { request } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isPublicAddress, type Resolve, reachableAddress, reachableAddresses } from './addresses.ts';
import { guardedDispatcher } from './guarded-dispatcher.ts';

const guarded: Surroundings = {
  workspaceDir: undefined,
  readableDirs: [],
  allowPrivateNetworks: false,
  serviceEndpoints: [],
};
const open: Surroundings = { ...guarded, allowPrivateNetworks: true };
const at = (host: string, port = 443) => ({ host, port });
const notPublic = 'is not on the public internet. Use a public host.';

/** Answers each look-up with the next list; the last one repeats. */
function resolver(...answers: string[][]) {
  const asked: string[] = [];
  const resolve: Resolve = async (host) => {
    asked.push(host);
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    return (answer ?? []).map((address) => ({ address }));
  };
  return { resolve, asked };
}

/** A server that reports which of this machine's addresses was called. */
async function startServer(listenOn?: string) {
  const server = createServer((request, reply) => {
    requests.push(request.url ?? '');
    // Each request has its own connection, and so its own look-up.
    reply.setHeader('connection', 'close').end(request.socket.localAddress?.replace('::ffff:', ''));
  });
  const requests: string[] = [];
  await new Promise<void>((done) => server.listen(0, listenOn, done));
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, requests };
}

async function get(url: string, surroundings: Surroundings, resolve?: Resolve): Promise<string> {
  const dispatcher = guardedDispatcher(surroundings, resolve ? { resolve } : {});
  onTestFinished(() => dispatcher.close());
  return (await request(url, { dispatcher })).body.text();
}

describe('an address', () => {
  test.each([
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '10.255.255.255',
    '100.64.0.1',
    '100.100.100.200',
    '127.0.0.1',
    '127.255.255.254',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '0:0:0:0:0:0:0:1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '0:0:0:0:0:FFFF:7F00:0001',
    '::ffff:0:0',
    '::ffff:10.0.0.1',
    '::ffff:a9fe:a9fe',
    '::ffff:0:7f00:1',
    '64:ff9b::127.0.0.1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b::a00:1',
    '64:ff9b::',
    '64:ff9b:1::808:808',
    '64:ff9b:0:0:0:1:808:808',
    '100::1',
    '2001::1',
    '2001:0:808:808::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '2002:808:808::1',
    '3fff::1',
    '5f00::1',
    'fc00::1',
    'fd00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    '2600::1%eth0',
    'febf::1',
    'fec0::1',
    'ff02::1',
    'localhost',
    '127.1',
    '',
  ])('such as %s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test.each([
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '169.253.255.255',
    '172.15.255.255',
    '172.32.0.0',
    '192.0.1.0',
    '192.167.255.255',
    '223.255.255.255',
    '::ffff:8.8.8.8',
    '::ffff:808:808',
    '64:ff9b::808:808',
    '64:ff9b::8.8.8.8',
    '2001:4860:4860::8888',
    '2600::1',
    '2a00:1450:4001:81b::200e',
  ])('such as %s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

describe('a host', () => {
  test.each([
    '127.0.0.1',
    '127.1',
    '0x7f.1',
    '0x7f000001',
    '2130706433',
    '017700000001',
    '0',
    '0.0.0.0',
    '[::]',
    '::1',
    '[::ffff:7f00:1]',
    '169.254.169.254',
    'localhost',
    'LOCALHOST.',
    'anything.localhost',
    'a.b.localhost.',
  ])('written as %s is refused', async (host) => {
    await expect(reachableAddress(at(host), guarded)).rejects.toThrow(`The host ${host} ${notPublic}`);
  });

  test('of a private network is reached when that is allowed', async () => {
    expect(await reachableAddress(at('127.1'), open)).toBe('127.0.0.1');
    expect(await reachableAddress(at('[::1]'), open)).toBe('::1');
    expect(await reachableAddress(at('localhost'), open)).toBe('127.0.0.1');
  });

  test('has only its public addresses used', async () => {
    const { resolve } = resolver(['10.0.0.1', '9.9.9.9', '::1', '2620:fe::fe']);
    expect(await reachableAddresses(at('mixed.test'), guarded, resolve)).toEqual(['9.9.9.9', '2620:fe::fe']);
    const onlyPrivate = resolver(['10.0.0.1', 'fd00::1']);
    await expect(reachableAddresses(at('mixed.test'), guarded, onlyPrivate.resolve)).rejects.toThrow(notPublic);
  });

  test('is requested once, so that a second answer has no say', async () => {
    const { resolve, asked } = resolver(['9.9.9.9'], ['127.0.0.1']);
    expect(await reachableAddress(at('rebinding.test'), guarded, resolve)).toBe('9.9.9.9');
    expect(asked).toEqual(['rebinding.test']);
  });

  test('that is none is unknown', async () => {
    const unknown = 'Unknown host';
    await expect(reachableAddress(at(''), open)).rejects.toThrow(unknown);
    await expect(reachableAddress(at('a\0b'), open)).rejects.toThrow(unknown);
    const resolve = () => Promise.reject(Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }));
    await expect(reachableAddress(at('nowhere.test'), open, resolve)).rejects.toThrow(`${unknown} nowhere.test.`);
    await expect(reachableAddress(at('empty.test'), open, resolver([]).resolve)).rejects.toThrow(unknown);
  });

  test('that cannot be looked up just now may be tried again', async () => {
    const resolve = () => Promise.reject(Object.assign(new Error('getaddrinfo'), { code: 'EAI_AGAIN' }));
    await expect(reachableAddress(at('slow.test'), guarded, resolve)).rejects.toMatchObject({
      failureType: 'transient_error',
    });
  });
});

describe('the dispatcher', () => {
  test.each([
    '127.0.0.1',
    '127.1',
    '0x7f.1',
    '2130706433',
    '0.0.0.0',
    '[::ffff:7f00:1]',
    '[::]',
    '[::1]',
    'localhost',
    'x.localhost',
  ])('does not connect to http://%s', async (host) => {
    const { port, requests } = await startServer();
    await expect(get(`http://${host}:${port}/`, guarded)).rejects.toThrow(notPublic);
    expect(requests).toEqual([]);
  });

  test('does not connect to a name that leads to a private address', async () => {
    const { port, requests } = await startServer();
    const { resolve } = resolver(['127.0.0.1', '::1']);
    await expect(get(`http://inside.test:${port}/`, guarded, resolve)).rejects.toThrow(notPublic);
    await expect(get(`https://inside.test:${port}/`, guarded, resolve)).rejects.toThrow(notPublic);
    expect(requests).toEqual([]);
  });

  test('connects to the address that was judged, and judges again for a new connection', async () => {
    const { port } = await startServer();
    const { resolve, asked } = resolver(['127.0.0.2'], ['127.0.0.3']);
    expect(await get(`http://changing.test:${port}/`, open, resolve)).toBe('127.0.0.2');
    expect(asked).toEqual(['changing.test']);
    expect(await get(`http://changing.test:${port}/`, open, resolve)).toBe('127.0.0.3');
  });

  test('tries the other addresses of a name when the first does not answer', async () => {
    const { port } = await startServer('127.0.0.2');
    const { resolve } = resolver(['127.0.0.1', '127.0.0.2']);
    expect(await get(`http://several.test:${port}/`, open, resolve)).toBe('127.0.0.2');
  });
});

describe('the service itself', () => {
  const itself = 'is Inlay itself. Use a different host.';
  const surroundings = (port: number, host = 'inlay.example'): Surroundings => ({
    ...open,
    serviceEndpoints: [
      { host: '127.0.0.1', port: 1 },
      { host, port },
    ],
  });
  const ownAddresses = Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address)),
  );
  const spellings = [
    ...['127.0.0.1', '127.1', '127.8.9.10', '0x7f.1', '2130706433', '0.0.0.0', 'localhost'],
    ...['[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', ...ownAddresses],
  ];

  test.each(spellings)('is not reached at %s, and another port there is', async (host) => {
    const service = await startServer();
    const other = await startServer();
    await expect(get(`http://${host}:${service.port}/`, surroundings(service.port))).rejects.toThrow(itself);
    await expect(reachableAddress(at(host, service.port), surroundings(service.port))).rejects.toThrow(
      `The host ${host} at port ${service.port} ${itself}`,
    );
    expect(service.requests).toEqual([]);
    expect(await reachableAddress(at(host, other.port), surroundings(service.port))).toMatch(/./);
  });

  test('is not reached by a name that leads to this machine', async () => {
    const { port, requests } = await startServer();
    for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.2', '0.0.0.0']) {
      const { resolve } = resolver([address]);
      for (const host of ['inside.test', 'x.localhost']) {
        await expect(get(`http://${host}:${port}/`, surroundings(port), resolve)).rejects.toThrow(itself);
      }
    }
    expect(requests).toEqual([]);
  });

  test('is left out of the addresses of a name that has others', async () => {
    const { resolve } = resolver(['127.0.0.1', '192.0.2.7', '::1']);
    expect(await reachableAddresses(at('mixed.test', 8080), surroundings(8080), resolve)).toEqual(['192.0.2.7']);
    expect(await reachableAddresses(at('mixed.test', 8081), surroundings(8080), resolve)).toHaveLength(3);
  });

  test('is not reached under its public name, wherever that leads, on its own port or that of the scheme', async () => {
    const { resolve } = resolver(['192.0.2.7']);
    for (const host of ['inlay.example', 'INLAY.example', 'inlay.example.']) {
      await expect(reachableAddress(at(host), surroundings(443), resolve)).rejects.toThrow(itself);
      await expect(get(`https://${host}/`, surroundings(443), resolve)).rejects.toThrow(itself);
      await expect(get(`http://${host}/`, surroundings(80), resolve)).rejects.toThrow(itself);
    }
    expect(await reachableAddress(at('inlay.example', 444), surroundings(443), resolve)).toBe('192.0.2.7');
    expect(await reachableAddress(at('other.inlay.example'), surroundings(443), resolve)).toBe('192.0.2.7');
  });

  test('is not reached at the address in its public URL, by any spelling', async () => {
    for (const host of ['192.0.2.7', '[::ffff:192.0.2.7]', '[::ffff:c000:207]']) {
      await expect(reachableAddress(at(host), surroundings(443, '192.0.2.7'))).rejects.toThrow(itself);
    }
    const { resolve } = resolver(['2001:db8::0:7']);
    await expect(reachableAddress(at('a.test'), surroundings(443, '[2001:db8::7]'), resolve)).rejects.toThrow(itself);
  });

  test('is no different where private networks are closed: nothing about this machine is revealed', async () => {
    const closed = { ...surroundings(8080), allowPrivateNetworks: false };
    await expect(reachableAddress(at('127.0.0.1', 8080), closed)).rejects.toThrow(notPublic);
    await expect(get('http://127.0.0.1:8080/', closed)).rejects.toThrow(notPublic);
  });
});
