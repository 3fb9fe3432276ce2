/* A request as components describe it, and how it is written for the wire. */
import { isJsonObject, stringifyJson } from '@inlay/protocol/json';
import { pythonText } from '../values/printing.ts';
import { RunFailure } from './failures.ts';

export type Values = Record<string, unknown>;

/** The four places of a request that options can go to. */
export interface RequestParts {
  query: Values;
  headers: Values;
  /** A form, or text that is sent unchanged. */
  form: Values | string;
  json: Values | string;
}

export interface PreparedRequest {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body: string | undefined;
}

export const emptyParts = (): RequestParts => ({ query: {}, headers: {}, form: {}, json: {} });

const partNames = ['query', 'headers', 'form', 'json'] as const;

/** Throws a RunFailure if two of them set the same thing. Only in a JSON body may they agree on a value. */
export function combineParts(all: readonly RequestParts[]): RequestParts {
  const combined = emptyParts();
  for (const name of partNames) {
    combined[name] = combine(
      all.map((parts) => parts[name]),
      name === 'json',
    ) as Values;
  }
  return combined;
}

function combine(all: readonly (Values | string)[], mayAgree: boolean): Values | string {
  const given = all.filter((part) => typeof part === 'string' || Object.keys(part).length > 0);
  const texts = given.filter((part) => typeof part === 'string');
  if (texts.length > 0) {
    if (given.length > 1) throw new RunFailure('A request body that is a string cannot be combined with options.');
    return texts[0] ?? '';
  }
  const combined: Values = {};
  for (const part of given) mergeInto(combined, part as Values, mayAgree, '');
  return combined;
}

function mergeInto(target: Values, source: Values, mayAgree: boolean, path: string): void {
  for (const [key, value] of Object.entries(source)) {
    const before = target[key];
    if (!Object.hasOwn(target, key)) target[key] = copyOf(value);
    else if (mayAgree && isJsonObject(before) && isJsonObject(value)) mergeInto(before, value, true, `${path}${key}.`);
    else if (!mayAgree || stringifyJson(before) !== stringifyJson(value)) {
      throw new RunFailure(`Two parts of the manifest set ${path}${key} of the same request. Remove one of them.`);
    }
  }
}

/** What is merged must not change what it was made from. */
function copyOf(value: unknown): unknown {
  if (!isJsonObject(value) || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copyOf(item)]));
}

const bodyMethods = ['GET', 'POST', 'PUT', 'PATCH'];

/** Throws a RunFailure for a request that cannot be sent. */
export function prepareRequest(method: string, address: string, parts: RequestParts): PreparedRequest {
  const url = readAddress(address);
  const query = withoutRepeats(url, parts.query);
  for (const [key, value] of Object.entries(query)) {
    if (isJsonObject(value))
      throw new RunFailure(`The request parameter ${key} is an object. Parameters must be strings.`);
  }
  const added = encodeForm(query);
  if (added !== '') url.search = url.search === '' ? `?${added}` : `${url.search}&${added}`;
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(parts.headers)) headers[name] = pythonText(value);
  const hasHeader = (name: string) => Object.keys(headers).some((header) => header.toLowerCase() === name);
  let body: string | undefined;
  if (bodyMethods.includes(method)) {
    const [hasJson, hasForm] = [isGiven(parts.json), isGiven(parts.form)];
    if (hasJson && hasForm) throw new RunFailure('A request cannot have both a JSON body and a form.');
    if (typeof parts.json === 'string' && hasJson)
      throw new RunFailure('The JSON body of a request must not be a string.');
    if (hasJson) {
      body = stringifyJson(parts.json);
      if (!hasHeader('content-type')) headers['Content-Type'] = 'application/json';
    } else if (typeof parts.form === 'string' && hasForm) {
      body = parts.form;
    } else if (hasForm) {
      body = encodeForm(parts.form as Values);
      if (!hasHeader('content-type')) headers['Content-Type'] = 'application/x-www-form-urlencoded';
    }
  }
  return { method, url, headers, body };
}

function isGiven(part: Values | string): boolean {
  return typeof part === 'string' ? part !== '' : Object.keys(part).length > 0;
}

function readAddress(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new RunFailure(
      `The manifest requests "${address.split('?')[0]}", which is not an http or https URL.`,
      'config_error',
    );
  }
  return url;
}

/** A link to the next page often has the parameters already: what it has with the same value is not sent twice. */
function withoutRepeats(url: URL, query: Values): Values {
  const inAddress = new Map<string, string>();
  for (const [key, value] of url.searchParams) if (!inAddress.has(key)) inAddress.set(key, value);
  return Object.fromEntries(
    Object.entries(query).filter(([key, value]) => {
      const known = inAddress.get(key);
      // An empty value in an address counts as none.
      return known === undefined || known === '' || known !== pythonText(value);
    }),
  );
}

/** A list repeats its key for each item; null is omitted. */
export function encodeForm(values: Values): string {
  const pairs: string[] = [];
  for (const [key, value] of Object.entries(values)) {
    const items = Array.isArray(value) ? value : [value];
    for (const item of items) {
      if (item !== null && item !== undefined) pairs.push(`${quote(key)}=${quote(pythonText(item))}`);
    }
  }
  return pairs.join('&');
}

function quote(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replaceAll('%20', '+')
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Joins as a browser follows a relative link, without empty steps in the path. */
export function joinAddress(base: string, path: string): string {
  if (path === '') return base;
  const folder = base.endsWith('/') ? base : `${base}/`;
  if (/^[a-z][a-z0-9+.-]*:/i.test(path)) return path;
  if (path.startsWith('//')) return URL.canParse(folder) ? `${new URL(folder).protocol}${path}` : path;
  const match = /^([a-z][a-z0-9+.-]*:\/\/[^/?#]*)([^?#]*)/i.exec(folder);
  if (!match) return `${folder}${path}`;
  const [, origin = '', basePath = '/'] = match;
  const [, pathOnly = '', rest = ''] = /^([^?#]*)(.*)$/s.exec(path) ?? [];
  if (pathOnly === '') return `${origin}${basePath}${rest}`;
  const before = pathOnly.startsWith('/') ? [] : basePath.split('/').slice(0, -1);
  const steps = [...before, ...pathOnly.split('/')];
  const middle = steps.slice(1, -1).filter((step) => step !== '');
  return `${origin}${resolveDots([steps[0] ?? '', ...middle, ...steps.slice(Math.max(1, steps.length - 1))])}${rest}`;
}

function resolveDots(steps: readonly string[]): string {
  const resolved: string[] = [];
  for (const step of steps) {
    if (step === '..') resolved.pop();
    else if (step !== '.') resolved.push(step);
  }
  const last = steps.at(-1);
  if (last === '.' || last === '..') resolved.push('');
  const path = resolved.join('/');
  return path.startsWith('/') ? path : `/${path}`;
}
