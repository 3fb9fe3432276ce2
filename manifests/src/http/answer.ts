/* The answer to a request, as components look at it. */
import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import { isCutOffJson } from '@inlay/protocol/cut-off-json';
import { isJsonObject, parseJson, parseJsonWithFloats } from '@inlay/protocol/json';

const [openingBrace, openingBracket] = [...'{['].map((character) => character.charCodeAt(0));

export class Answer {
  readonly status: number;
  readonly rawHeaders: readonly string[];
  readonly bytes: Buffer;
  /** The body of an answer that is read while it comes. Then `bytes` is empty. */
  readonly stream: Readable | undefined;
  /** The address that was asked. Missing for an answer that came inside another. */
  readonly url: URL | undefined;
  /** How many records the extractor has found in it, before any was filtered out. */
  extractedRecords = 0;
  #isDamaged: boolean | undefined;
  #json: { value: unknown } | undefined;
  #plainJson: { value: unknown } | undefined;

  constructor(status: number, rawHeaders: readonly string[], bytes: Buffer, stream?: Readable, url?: URL) {
    this.status = status;
    this.rawHeaders = rawHeaders;
    this.bytes = bytes;
    this.stream = stream;
    this.url = url;
  }

  /** Below 400. Only such an answer has records. */
  get isGood(): boolean {
    return this.status < 400;
  }

  /** Whether it is JSON that ends in the middle. A body that is read while it comes is not looked at here. */
  get isCutOff(): boolean {
    const start = this.bytes[0];
    const isJson = start === openingBrace || start === openingBracket;
    return isJson && this.json === undefined && isCutOffJson(this.text);
  }

  /** Decoded with the response's encoding, or UTF-8. Invalid bytes are replaced. */
  get text(): string {
    const { value, isDamaged } = decode(this.bytes, this.encoding);
    this.#isDamaged = isDamaged;
    return value;
  }

  /** Whether a character of the text had to be replaced. */
  get isTextDamaged(): boolean {
    return this.#isDamaged ?? decode(this.bytes, this.encoding).isDamaged;
  }

  /** The name of its encoding. */
  get encoding(): string {
    return /charset="?([\w.:-]+)/i.exec(this.header('content-type') ?? '')?.[1] ?? 'utf-8';
  }

  /** Undefined for a body that is not JSON. */
  get json(): unknown {
    this.#json ??= { value: readJson(this.text, parseJsonWithFloats) };
    return this.#json.value;
  }

  /** The same where 5.0 is the number 5, as everywhere outside of manifests. */
  get plainJson(): unknown {
    this.#plainJson ??= { value: readJson(this.text, parseJson) };
    return this.#plainJson.value;
  }

  /** The first value of a header, whatever letters the server used. */
  header(name: string): string | undefined {
    const wanted = name.toLowerCase();
    for (let index = 0; index + 1 < this.rawHeaders.length; index += 2) {
      if (this.rawHeaders[index]?.toLowerCase() === wanted) return this.rawHeaders[index + 1];
    }
    return undefined;
  }

  /** By the server's names, with `link` parsed as links. */
  get headersWithLinks(): Record<string, unknown> {
    return { ...this.#headersAsSent(), link: readLinks(this.header('link')) };
  }

  /** By the server's names; look-ups ignore case. */
  get headersByAnyCase(): Record<string, unknown> {
    const headers = this.#headersAsSent();
    for (const [name, value] of Object.entries(headers)) {
      const small = name.toLowerCase();
      const title = small.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
      for (const other of [small, title, name.toUpperCase()]) {
        if (!Object.hasOwn(headers, other)) Object.defineProperty(headers, other, { value, enumerable: false });
      }
    }
    return headers;
  }

  #headersAsSent(): Record<string, unknown> {
    const headers = new Map<string, string>();
    for (let index = 0; index + 1 < this.rawHeaders.length; index += 2) {
      const [name = '', value = ''] = this.rawHeaders.slice(index, index + 2);
      const before = headers.get(name);
      headers.set(name, before === undefined ? value : `${before}, ${value}`);
    }
    return Object.fromEntries(headers);
  }

  /** What the answer says went wrong, wherever it says so; undefined if it says nothing. */
  get errorMessage(): string | undefined {
    const { json } = this;
    return findMessage(json === undefined ? this.text : json) ?? undefined;
  }
}

function decode(bytes: Buffer, encoding: string): { value: string; isDamaged: boolean } {
  if (/^utf-?8$/i.test(encoding) && isUtf8(bytes)) return { value: bytes.toString('utf8'), isDamaged: false };
  try {
    const decoder = new TextDecoder(encoding, { fatal: true });
    // In one call, Node.js confuses Windows-1252 with Latin-1.
    return { value: decoder.decode(bytes, { stream: true }) + decoder.decode(), isDamaged: false };
  } catch {
    return { value: bytes.toString('utf8'), isDamaged: true };
  }
}

function readJson(text: string, parse: (text: string) => unknown): unknown {
  try {
    return parse(text.startsWith('\ufeff') ? text.slice(1) : text);
  } catch {
    return readPythonJson(text, parse);
  }
}

/** Python writes and reads numbers that JSON does not have. They are null here, as in a record of the reference runtime. */
function readPythonJson(text: string, parse: (text: string) => unknown): unknown {
  if (!/\bNaN\b|\bInfinity\b/.test(text)) return undefined;
  try {
    return parse(
      text.replace(/"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/g, (part) => (part.startsWith('"') ? part : 'null')),
    );
  } catch {
    return undefined;
  }
}

const messageKeys = [
  'message',
  'messages',
  'error',
  'errors',
  'failures',
  'failure',
  'detail',
  'err',
  'error_message',
  'msg',
  'reason',
  'status_message',
];

function findMessage(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) {
    return value
      .map(findMessage)
      .filter((message) => message !== null)
      .join(', ');
  }
  if (!isJsonObject(value)) return null;
  const key = messageKeys.find((name) => Object.hasOwn(value, name) && !isNothing(value[name]));
  return key === undefined ? null : findMessage(value[key]);
}

function isNothing(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return !value;
}

/** The links of a Link header by their relation, or by their address where they have none. */
export function readLinks(header: string | undefined): Record<string, Record<string, string>> {
  const links: [string, Record<string, string>][] = [];
  const text = (header ?? '').replace(/^[ '"]+|[ '"]+$/g, '');
  if (text === '') return {};
  for (const part of text.split(/, *</)) {
    const semicolon = part.indexOf(';');
    const address = semicolon === -1 ? part : part.slice(0, semicolon);
    const link: Record<string, string> = { url: address.replace(/^[<> '"]+|[<> '"]+$/g, '') };
    for (const parameter of semicolon === -1 ? [] : part.slice(semicolon + 1).split(';')) {
      const equals = parameter.split('=');
      if (equals.length !== 2) break;
      const [key = '', value = ''] = equals.map((side) => side.replace(/^[ '"]+|[ '"]+$/g, ''));
      link[key] = value;
    }
    links.push([link.rel || link.url || '', link]);
  }
  return Object.fromEntries(links);
}
