/*
 * The HTTP client that connects only to addresses allowed by addresses.ts. A separate file because the client takes
 * longer to load than everything else in a connector, and connectors without HTTP need the addresses too.
 */
import { isIP, type LookupFunction } from 'node:net';
import type { Surroundings } from '@inlay/protocol/connector';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import {
  isItself,
  isPublicAddress,
  isService,
  notReachable,
  type Resolve,
  reachableAddresses,
  withoutBrackets,
} from './addresses.ts';

/** Judges at connect time, so that redirects and renewed connections are judged as well. */
export function guardedDispatcher(
  surroundings: Surroundings,
  { resolve, ...options }: Agent.Options & { resolve?: Resolve } = {},
): Dispatcher {
  /** A look-up does not get the port, so there is one per port. */
  function connectorFor(port: number): buildConnector.connector {
    const lookupReachable: LookupFunction = (host, { all }, done) => {
      reachableAddresses({ host, port }, surroundings, resolve).then(
        (addresses) => {
          const found = addresses.map((address) => ({ address, family: isIP(address) }));
          if (all) done(null, found);
          else done(null, addresses[0], isIP(addresses[0]));
        },
        (error) => done(error, '', 0),
      );
    };
    return buildConnector({ timeout: 10_000, autoSelectFamily: true, lookup: lookupReachable });
  }
  const connectors = new Map<number, buildConnector.connector>();
  return new Agent({
    ...options,
    connect: (target, done) => {
      const port = Number(target.port) || (target.protocol === 'https:' ? 443 : 80);
      const connect = connectors.get(port) ?? connectorFor(port);
      connectors.set(port, connect);
      // Node does not look up what is an address already.
      const literal = withoutBrackets(target.hostname);
      if (isIP(literal) && !surroundings.allowPrivateNetworks && !isPublicAddress(literal)) {
        done(notReachable(target.hostname), null);
      } else if (isIP(literal) && isService(literal, literal, port, surroundings)) {
        done(isItself(target.hostname, port), null);
      } else {
        connect(target, done);
      }
    },
  });
}
