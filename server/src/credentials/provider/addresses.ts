/**
 * The addresses of a provider, filled with what a customer has entered.
 *
 * What always holds: a value becomes one label of a host name, or one of the hosts that the provider lists. Below it, the
 * address fixes at least a registrable domain (public suffix list, with its private section). So the owner of a host never
 * follows from a value, and the secret of the client goes only to the hosts that `secretHosts` names, which the operator has
 * confirmed. Both are checked when a provider is described, and again when an address is filled to be asked.
 */
import type { OAuthPreset, OAuthProvider, ProviderValue } from '@inlay/contract/credentials/oauth-providers';

/** As a client has it: a preset may vouch for public suffixes of its own. */
export type Provider = OAuthProvider & Pick<OAuthPreset, 'own_suffixes'>;
type AddressName = 'authorization_url' | 'token_url' | 'refresh_url' | 'revocation_url';

const placeholder = /\{([a-z_]+)\}/g;
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** Stands for a value while an address is looked at. It is a label, so the address is parsed as with a real value. */
const mark = 'inlay-value';

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

/** An address that nothing may be sent to: a value would decide whose host it is. */
export class OpenAddress extends Error {}

/** All values, as they go into addresses. Throws a WrongValue. */
export function checkValues(
  provider: Pick<OAuthProvider, 'values'>,
  given: Record<string, string>,
): Record<string, string> {
  const faults: ValueFault[] = [];
  const checked = Object.entries(provider.values ?? {}).flatMap(
    ([name, { title, hosts, sets = {}, default: usual }]) => {
      const value = ((Object.hasOwn(given, name) ? given[name]?.trim() : undefined) || usual || '').toLowerCase();
      const choice = hosts ? hosts.findIndex((host) => isHostOf(host, value)) : isLabel(value) ? 0 : -1;
      if (choice === -1) faults.push({ name, message: wordsFor(title, hosts) });
      const others = Object.entries(sets).map(([other, list]) => [other, list[choice] ?? ''] as const);
      return [[name, value] as const, ...others];
    },
  );
  if (faults.length > 0) throw new WrongValue(faults);
  return Object.fromEntries(checked);
}

/** Not every label can be in an address: `xn--a` is no name in any script. */
const isLabel = (text: string) => label.test(text) && URL.canParse(`https://${text}.example`);

/** `host` may be a list entry such as `*.example.com`. */
function isHostOf(host: string, value: string): boolean {
  if (!host.startsWith('*.')) return value === host;
  const suffix = host.slice(1);
  return value.endsWith(suffix) && isLabel(value.slice(0, -suffix.length));
}

function wordsFor(title: string, hosts: readonly string[] | undefined): string {
  if (hosts) return `${title}: enter one of ${hosts.join(', ')}.`;
  return `${title}: enter only the name, such as “acme”, with letters, digits and hyphens.`;
}

/** `values` as checkValues gives them. */
function fillAddress(address: string, values: Record<string, string>): string {
  return address.replace(placeholder, (_, name: string) => encodeURIComponent(values[name] ?? ''));
}

/**
 * An address that is about to get a secret or a token. Throws a WrongValue or an OpenAddress: what is stored may be older than
 * the rules.
 */
export async function addressToAsk(
  provider: Provider,
  address: string,
  values: Record<string, string>,
): Promise<string> {
  const fault = await addressFault(address, provider);
  if (fault !== undefined) throw new OpenAddress(fault);
  const url = new URL(fillAddress(address, checkValues(provider, values)));
  const isFixed = hostsOf(address, provider).some((host) => isHostOf(host, url.hostname));
  if (!isFixed) throw new OpenAddress('the host does not belong to the provider');
  return url.href;
}

/** The host that would be called, for comparison only. Nothing is sent to it because of this. */
export function hostToAsk(provider: Provider, address: string, values: Record<string, string>): string {
  try {
    return new URL(fillAddress(address, checkValues(provider, values))).host;
  } catch {
    // With these values nothing is ever sent.
    return address;
  }
}

/** What is wrong with the description of a provider, by the field. */
export async function providerFaults(provider: Provider): Promise<{ field: string; message: string }[]> {
  const faults = await Promise.all(
    [...addressesOf(provider)].map(async ([field, address]) => ({
      field,
      message: await addressFault(address, provider),
    })),
  );
  return [...valueFaults(provider), ...faults].flatMap(({ field, message }) =>
    message === undefined ? [] : [{ field, message }],
  );
}

/** Every address of the provider by its field. */
export function addressesOf(provider: OAuthProvider): Map<string, string> {
  const { authorization_url, token_url, refresh_url, revocation_url, account } = provider;
  const all = { authorization_url, token_url, refresh_url, revocation_url, 'account.url': account?.url };
  return new Map(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function valueFaults({ values = {} }: Provider): { field: string; message: string | undefined }[] {
  return Object.values(values).map(({ hosts = [], sets = {} }) => {
    const lists = Object.values(sets);
    if (lists.some((list) => list.length !== hosts.length)) {
      return { field: 'values', message: 'each list in sets must have one host for each entry of hosts' };
    }
    const isOpen = lists.flat().some((host) => host.startsWith('*.'));
    return { field: 'values', message: isOpen ? 'a value in sets must be a complete host' : undefined };
  });
}

async function addressFault(address: string, provider: Provider): Promise<string | undefined> {
  const known = choicesOf(provider);
  const names = [...address.matchAll(placeholder)].map(([, name = '']) => name);
  const unknown = names.find((name) => !known.has(name));
  if (unknown !== undefined) return `{${unknown}} is not defined in values`;
  const url = parse(address);
  if (!url) return 'this is not a valid URL';
  if (url.username !== '' || url.password !== '' || url.hash !== '') {
    return 'a URL must not contain a user name or fragment';
  }
  const place = url.hostname.indexOf(mark);
  if (place === -1) return undefined;
  if (place > 0 || url.hostname.lastIndexOf(mark) > 0) return 'a value can only be at the start of the host';
  const name = nameInHost(address);
  if (name !== undefined && known.get(name)) {
    if (url.hostname !== mark) return 'a value with a list of hosts must be the complete host';
  } else if (!url.hostname.startsWith(`${mark}.`)) {
    return 'a value must be followed by a domain of the provider';
  }
  for (const host of hostsOf(address, provider)) {
    if (host.startsWith('*.') && !(await isFixed(host.slice(2), provider))) {
      return `a value must be followed by a domain of the provider, but anybody can register a name under ${host.slice(2)}`;
    }
  }
  return undefined;
}

/** Whether everything under this domain has one owner. The list is large, so it is loaded when it is first needed. */
async function isFixed(domain: string, { own_suffixes = [] }: Provider): Promise<boolean> {
  if (own_suffixes.includes(domain)) return true;
  const { getDomain } = await import('./public-suffixes.ts');
  // With a label in front: of some suffixes, every name under them is a public suffix.
  const registrable = getDomain(`${mark}.${domain}`, { allowPrivateDomains: true });
  return registrable !== null && (domain === registrable || domain.endsWith(`.${registrable}`));
}

/** The values that addresses may name, with the hosts that each may be. */
function choicesOf({ values = {} }: Provider): Map<string, readonly string[] | undefined> {
  return new Map(
    Object.entries(values).flatMap(([name, { hosts, sets = {} }]: [string, ProviderValue]) => [
      [name, hosts] as const,
      ...Object.entries(sets),
    ]),
  );
}

function parse(address: string): URL | undefined {
  const text = address.replace(placeholder, mark);
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** Which value is in the host. */
function nameInHost(address: string): string | undefined {
  const names = [...address.matchAll(placeholder)].map(([, name = '']) => name);
  return names.find((name) =>
    new URL(address.replaceAll(`{${name}}`, mark).replace(placeholder, 'x')).hostname.includes(mark),
  );
}

/** The hosts that an address may have; `*.` stands for one label that a customer enters. With the port, if there is one. */
function hostsOf(address: string, provider: Provider, { withPort = false } = {}): string[] {
  const url = parse(address);
  if (!url) return [];
  const port = withPort && url.port !== '' ? `:${url.port}` : '';
  const name = url.hostname.includes(mark) ? nameInHost(address) : undefined;
  if (name === undefined) return [`${url.hostname}${port}`];
  const listed = choicesOf(provider).get(name);
  if (listed) return listed.map((host) => `${host}${port}`);
  return [`*${url.hostname.slice(mark.length)}${port}`];
}

/** The hosts that get the secret of the client; `*.` stands for one label that a customer enters. */
export function secretHosts(provider: Pick<OAuthProvider, AddressName | 'values' | 'account'>): string[] {
  const { account } = provider;
  return hostsIn(provider, [
    provider.token_url,
    provider.refresh_url,
    provider.revocation_url,
    account?.introspects === true ? account.url : undefined,
  ]);
}

/** The hosts that get tokens of customers, beside those that get the secret. */
export function accountHosts(provider: Pick<OAuthProvider, AddressName | 'values' | 'account'>): string[] {
  return hostsIn(provider, [provider.account?.url]);
}

function hostsIn(provider: Provider, addresses: readonly (string | undefined)[]): string[] {
  const given = addresses.filter((one) => one !== undefined);
  return [...new Set(given.flatMap((address) => hostsOf(address, provider, { withPort: true })))].sort();
}
