/**
 * Keeps one client from taking all connections. The number of connections of one address is limited; and a connection
 * that is refused or too slow is closed for certain, whatever its client does.
 */
import { BlockList, isIP, isIPv4, type Server, type Socket } from 'node:net';
import type { Logger } from 'pino';

interface ConnectionLimits {
  /** 0: no limit. */
  maxPerAddress: number;
  /** Addresses and networks of proxies. Each stands for many clients, so their connections are not counted. */
  trustedProxies: string[];
  log: Logger;
  onRefused(reason: 'address' | 'total'): void;
}

/** Limit for all clients together. */
const maxConnections = 5_000;
/** How often the log may name an address that has too many. */
const warningEveryMs = 60_000;
/** Time for the client to read the answer and to close. A client that does neither would hold the connection for good. */
const lingerMs = 1_000;

export function limitConnections(server: Server, { maxPerAddress, trustedProxies, log, onRefused }: ConnectionLimits) {
  server.maxConnections = maxConnections;
  // Node itself refuses connections beyond server.maxConnections, and reports each here.
  server.on('drop', () => onRefused('total'));
  // A connection that never became a request gets an answer elsewhere. Here it is closed for certain.
  server.on('clientError', (_error, socket: Socket) => {
    const linger = setTimeout(() => socket.destroy(), lingerMs).unref();
    socket.once('close', () => clearTimeout(linger));
  });
  if (maxPerAddress === 0) return;
  const isProxy = addressMatcher(trustedProxies);
  const open = new Map<string, number>();
  let warnedAt = Number.NEGATIVE_INFINITY;

  server.on('connection', (socket: Socket) => {
    const address = plainAddress(socket.remoteAddress ?? '');
    if (isProxy(address)) return;
    const client = clientOf(address);
    const count = (open.get(client) ?? 0) + 1;
    if (count > maxPerAddress) {
      socket.destroy();
      onRefused('address');
      if (performance.now() - warnedAt < warningEveryMs) return;
      warnedAt = performance.now();
      log.warn({ address, maxPerAddress }, 'Connection limit per address reached; refusing further connections');
      return;
    }
    open.set(client, count);
    socket.once('close', () => {
      const left = (open.get(client) ?? 1) - 1;
      if (left === 0) open.delete(client);
      else open.set(client, left);
    });
  });
}

/** An IPv4 address in its own form, also where the server listens on IPv6. */
function plainAddress(address: string): string {
  const inner = address.replace(/^::ffff:/i, '');
  return isIPv4(inner) ? inner : address;
}

/** A client with one IPv6 address has the other addresses of its network of 64 bits as well. */
function clientOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail ? tail.split(':') : [];
  const zeros = tail === undefined ? [] : Array<string>(8 - before.length - after.length).fill('0');
  return [...before, ...zeros, ...after].slice(0, 4).join(':');
}

function addressMatcher(list: string[]): (address: string) => boolean {
  const matching = new BlockList();
  for (const entry of list) {
    const [address = '', prefix] = entry.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    if (prefix === undefined) matching.addAddress(address, family);
    else matching.addSubnet(address, Number(prefix), family);
  }
  return (address) => isIP(address) !== 0 && matching.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}
