/*
 * Which addresses a connector may reach. Customers choose where connectors connect to, so a connector must not become a
 * way into the operator's network (SSRF). Even if the operator allows private networks, the service itself is out of
 * reach.
 *
 * Invariant: the check applies to the very address that is connected to, after name resolution and before the
 * connection. So neither unusual spellings, nor DNS rebinding, nor a redirect bypasses it. http-client.ts decides
 * whether to follow redirects.
 */
import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { ConnectorError, type Endpoint, type Surroundings } from '@inlay/protocol/connector';

/** Addresses that are not on the public internet: this machine, private networks, and special-purpose ranges. */
const notPublic = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // The machine that hosts an Azure virtual machine: its keys and settings, at a public-looking address.
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  notPublic.addSubnet(network, prefix, 'ipv4');
}
/** In IPv6, only 2000::/3 is public, except for reserved ranges in it and 6to4, which tunnels to any IPv4 address. */
const publicIpv6 = new BlockList();
publicIpv6.addSubnet('2000::', 3, 'ipv6');
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  notPublic.addSubnet(network, prefix, 'ipv6');
}

export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !notPublic.check(address, 'ipv4');
  // An address with a zone (fe80::1%eth0) belongs to one link of this machine.
  if (isIP(address) !== 6 || address.includes('%')) return false;
  const inner = ipv4Inside(address);
  if (inner !== undefined) return isPublicAddress(inner);
  return publicIpv6.check(address, 'ipv6') && !notPublic.check(address, 'ipv6');
}

/** The IPv4 address that an IPv4-mapped (::ffff:0:0/96) or NAT64 (64:ff9b::/96) address leads to. */
function ipv4Inside(address: string): string | undefined {
  // A URL writes every spelling of an address the same way: lower case, without an IPv4 part.
  const [head = '', tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === '' ? [] : tail.split(':');
  const zeros: string[] = Array(8 - before.length - after.length).fill('0');
  const groups = [...before, ...zeros, ...after];
  const prefix = groups.slice(0, 6).join(':');
  if (prefix !== '0:0:0:0:0:ffff' && prefix !== '64:ff9b:0:0:0:0') return undefined;
  return groups
    .slice(6)
    .map((group) => Number.parseInt(group, 16))
    .flatMap((pair) => [pair >> 8, pair & 255])
    .join('.');
}

/** Addresses that lead to this machine whatever interfaces it has. Connecting to 0.0.0.0 or :: does as well. */
const alwaysThisMachine = new BlockList();
alwaysThisMachine.addSubnet('127.0.0.0', 8, 'ipv4');
alwaysThisMachine.addSubnet('0.0.0.0', 8, 'ipv4');
alwaysThisMachine.addAddress('::1', 'ipv6');
alwaysThisMachine.addAddress('::', 'ipv6');

/** Interfaces come and go, so they are looked at each time. */
function isThisMachine(address: string): boolean {
  const plain = plainAddress(address);
  if (alwaysThisMachine.check(plain, isIP(plain) === 4 ? 'ipv4' : 'ipv6')) return true;
  const own = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses);
  return own.some((one) => plainAddress(one.address) === plain);
}

/** Canonical spelling of an address: without a zone, and an IPv4-mapped IPv6 address as IPv4. */
function plainAddress(address: string): string {
  const [unzoned = ''] = address.split('%');
  if (isIP(unzoned) !== 6) return unzoned;
  return ipv4Inside(unzoned) ?? withoutBrackets(new URL(`http://[${unzoned}]`).hostname);
}

/**
 * Whether a connection leads to the service. Every port of the service is blocked on every address of this machine: a
 * service that listens on one of them, or a proxy in front of it, may be reachable through the others.
 */
export function isService(host: string, address: string, port: number, { serviceEndpoints }: Surroundings): boolean {
  const onThisPort = serviceEndpoints.filter((endpoint) => endpoint.port === port);
  if (onThisPort.length === 0) return false;
  const isNamed = ({ host: own }: Endpoint) =>
    plainName(own) === plainName(host) || (isIP(withoutBrackets(own)) && sameAddress(withoutBrackets(own), address));
  return onThisPort.some(isNamed) || isThisMachine(address);
}

function sameAddress(one: string, other: string): boolean {
  return plainAddress(one) === plainAddress(other);
}

function plainName(host: string): string {
  return withoutBrackets(host).toLowerCase().replace(/\.$/, '');
}

export type Resolve = (host: string) => Promise<{ address: string }[]>;

/** IPv4 first: a client that tries only one address has the best chance with it, `localhost` included. */
const resolveName: Resolve = (host) => lookup(host, { all: true, verbatim: false });

/** The address behind a host name or address; throws a ConnectorError for a host that may not be reached or is unknown. */
export async function reachableAddress(
  target: Endpoint,
  surroundings: Surroundings,
  resolve?: Resolve,
): Promise<string> {
  const [first] = await reachableAddresses(target, surroundings, resolve);
  return first;
}

/** All allowed addresses of a host, at least one; its other addresses are omitted. */
export async function reachableAddresses(
  { host, port }: Endpoint,
  surroundings: Surroundings,
  resolve: Resolve = resolveName,
): Promise<[string, ...string[]]> {
  const name = withoutBrackets(host);
  const isLocalName = /(^|\.)localhost\.?$/i.test(name);
  if (isLocalName && !surroundings.allowPrivateNetworks) throw notReachable(host);
  const found = (await resolveOrExplain(name, resolve)).map(({ address }) => address);
  const allowed = found.filter((address) => surroundings.allowPrivateNetworks || isPublicAddress(address));
  if (allowed.length === 0) throw notReachable(host);
  const [first, ...others] = allowed.filter((address) => !isService(name, address, port, surroundings));
  if (first === undefined) throw isItself(host, port);
  return [first, ...others];
}

async function resolveOrExplain(name: string, resolve: Resolve): Promise<{ address: string }[]> {
  try {
    const found = name === '' ? [] : await resolve(name);
    if (found.length > 0) return found;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EAI_AGAIN') {
      const message = `Looking up the host ${name} failed. Check its spelling or try again later.`;
      throw new ConnectorError(message, { failureType: 'transient_error', cause });
    }
    throw new ConnectorError(`Unknown host ${name}. Check its spelling.`, { cause });
  }
  throw new ConnectorError(`Unknown host ${name}. Check its spelling.`);
}

export function notReachable(host: string): ConnectorError {
  return new ConnectorError(`The host ${host} is not on the public internet. Use a public host.`);
}

export function isItself(host: string, port: number): ConnectorError {
  return new ConnectorError(`The host ${host} at port ${port} is Inlay itself. Use a different host.`);
}

export function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}
