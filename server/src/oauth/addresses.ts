/**
 * The addresses of a provider, filled with what a customer has entered.
 *
 * What always holds: a value becomes one label of a host name, or one of the hosts that the provider lists. So the part
 * of a host name that decides whose host it is always comes from the provider's description, and the secret of the client
 * goes only to the hosts that `secretHosts` names, which the operator has confirmed.
 */
import type { OAuthProvider, ProviderValue } from '@inlay/contract/oauth-providers';

type Values = Record<string, ProviderValue>;
type AddressName = 'authorization_url' | 'token_url' | 'refresh_url' | 'revocation_url';

const placeholder = /\{([a-z_]+)\}/g;
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

export interface ValueFault {
  /** The name of the value. */
  name: string;
  message: string;
}

/** A value of the customer that no address can be made with. */
export class WrongValue extends Error {
  readonly faults: readonly ValueFault[];

  constructor(faults: readonly ValueFault[]) {
    super(faults.map(({ message }) => message).join(' '));
    this.faults = faults;
  }
}

/** All values, as they go into addresses. Throws a WrongValue. */
export function checkValues(
  provider: Pick<OAuthProvider, 'values'>,
  given: Record<string, string>,
): Record<string, string> {
  const faults: ValueFault[] = [];
  const checked = Object.entries(provider.values ?? {}).map(([name, { title, hosts, default: usual }]) => {
    const value = (Object.hasOwn(given, name) ? given[name]?.trim() : undefined) || usual || '';
    const isFit = hosts ? hosts.includes(value.toLowerCase()) : label.test(value);
    if (!isFit) faults.push({ name, message: wordsFor(title, hosts) });
    return [name, value.toLowerCase()];
  });
  if (faults.length > 0) throw new WrongValue(faults);
  return Object.fromEntries(checked);
}

function wordsFor(title: string, hosts: readonly string[] | undefined): string {
  if (hosts) return `${title}: enter one of ${hosts.join(', ')}.`;
  return `${title}: enter only the name itself, such as “acme”, with letters, digits and hyphens.`;
}

/** `values` as checkValues gives them. */
export function fillAddress(address: string, values: Record<string, string>): string {
  return address.replace(placeholder, (_, name: string) => encodeURIComponent(values[name] ?? ''));
}

/** What is wrong with the description of a provider, by the field. */
export function providerFaults(provider: OAuthProvider): { field: string; message: string }[] {
  const values = provider.values ?? {};
  const addresses = Object.entries({
    authorization_url: provider.authorization_url,
    token_url: provider.token_url,
    refresh_url: provider.refresh_url,
    revocation_url: provider.revocation_url,
    account: provider.account?.url,
  });
  return addresses.flatMap(([field, address]) => {
    const message = address === undefined ? undefined : addressFault(address, values);
    return message === undefined ? [] : [{ field, message }];
  });
}

function addressFault(address: string, values: Values): string | undefined {
  const names = [...address.matchAll(placeholder)].map(([, name = '']) => name);
  const unknown = names.find((name) => !Object.hasOwn(values, name));
  if (unknown !== undefined) return `{${unknown}} is not among the values`;
  const text = fillAddress(address, Object.fromEntries(names.map((name) => [name, 'x'])));
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url) return 'this is not a valid address';
  if (url.username !== '' || url.password !== '' || url.hash !== '') {
    return 'an address must have neither a user name nor a fragment';
  }
  const [, host = ''] = /^https?:\/\/([^/?#]*)/.exec(address) ?? [];
  const [, inHost, suffix = ''] = /^\{([a-z_]+)\}(.*)$/.exec(host) ?? [];
  if (inHost === undefined) return host.includes('{') ? 'a value can only be the beginning of the host' : undefined;
  if (values[inHost]?.hosts) return suffix === '' ? undefined : 'a value with a list of hosts must be the whole host';
  // `{value}.com` would be any company.
  return /^(\.[a-z0-9-]+){2,}(:\d+)?$/i.test(suffix)
    ? undefined
    : 'a value must be followed by a domain that belongs to the provider';
}

/** The hosts that get the secret of the client; `*.` stands for one label that a customer enters. */
export function secretHosts(provider: Pick<OAuthProvider, AddressName | 'values'>): string[] {
  const addresses = [provider.token_url, provider.refresh_url, provider.revocation_url].filter(
    (one) => one !== undefined,
  );
  const hosts = addresses.flatMap((address) => {
    const [, host = ''] = /^https?:\/\/([^/?#]*)/.exec(address) ?? [];
    const [, name, suffix = ''] = /^\{([a-z_]+)\}(.*)$/.exec(host) ?? [];
    if (name === undefined) return [host.toLowerCase()];
    return provider.values?.[name]?.hosts ?? [`*${suffix.toLowerCase()}`];
  });
  return [...new Set(hosts)].sort();
}
