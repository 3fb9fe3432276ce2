/*
 * Which addresses a connector may reach. Customers say where connectors connect to, so a connector must not become a way
 * into the operator's own network: the address is checked after the name is resolved and before the connection is
 * made, so neither odd spellings of an address nor a name that changes its mind gets around it.
 */
import { lookup as resolveName } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import { ConnectorError, type Surroundings } from './connector.ts';

/** Addresses that are not on the public internet: this machine, private networks, and what has a meaning of its own. */
const notPublic = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
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
/** Of IPv6 only 2000::/3 is public, less what is set apart in it or carries an IPv4 address. */
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
  return isIP(address) === 6 && publicIpv6.check(address, 'ipv6') && !notPublic.check(address, 'ipv6');
}

/** The address behind a host name or address; throws a ConnectorError for one that may not be reached or is unknown. */
export async function reachableAddress(host: string, surroundings: Surroundings): Promise<string> {
  const name = host.replace(/^\[(.*)\]$/, '$1');
  let found: { address: string }[];
  try {
    found = await resolveName(name, { all: true });
  } catch (cause) {
    throw new ConnectorError(`The host ${host} is unknown. Check its spelling.`, { cause });
  }
  const allowed = found.find(({ address }) => surroundings.allowPrivateNetworks || isPublicAddress(address));
  if (!allowed) throw new ConnectorError(`The host ${host} is not on the public internet and may not be reached.`);
  return allowed.address;
}

/** For undici: checks at connect time, so redirects and renewed connections are checked as well. */
export function guardedDispatcher(surroundings: Surroundings, options: Agent.Options = {}): Dispatcher {
  const lookup: LookupFunction = (host, { all }, done) => {
    reachableAddress(host, surroundings).then(
      (address) => (all ? done(null, [{ address, family: isIP(address) }]) : done(null, address, isIP(address))),
      (error) => done(error, '', 0),
    );
  };
  const agent = new Agent({ ...options, connect: { timeout: 10_000, lookup } });
  return agent.compose((dispatch) => (request, handler) => {
    const { hostname } = new URL(String(request.origin));
    const literal = hostname.replace(/^\[(.*)\]$/, '$1');
    // The lookup is skipped for an address.
    if (isIP(literal) && !surroundings.allowPrivateNetworks && !isPublicAddress(literal)) {
      throw new ConnectorError(`The host ${hostname} is not on the public internet and may not be reached.`);
    }
    return dispatch(request, handler);
  });
}
