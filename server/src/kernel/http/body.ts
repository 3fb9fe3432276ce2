/**
 * Reads JSON bodies, and YAML for the routes that take a manifest. A compressed body is never unpacked. A body that is
 * not readable JSON does not fail here but becomes an `UnreadableBody`, so that its fault is reported together with those
 * of path and query.
 */
import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { UnreadableBody } from './validation.ts';

const maxDepth = 64;

export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(/^application\/json\b/i, { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    const encoding = request.headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity') {
      done(Object.assign(new Error('Unsupported content coding'), { code: 'FST_ERR_CTP_ENCODING', statusCode: 415 }));
      return;
    }
    done(null, parseJson(body));
  });
  app.addContentTypeParser(
    /^(application|text)\/(x-)?yaml\b/i,
    { parseAs: 'buffer' },
    (request, body: Buffer, done) => {
      const encoding = request.headers['content-encoding'];
      const isPlain = encoding === undefined || encoding === 'identity';
      if (!isPlain || !request.routeOptions.config.takesYaml) {
        done(Object.assign(new Error('Unsupported media type'), { code: 'FST_ERR_CTP_YAML', statusCode: 415 }));
        return;
      }
      // The text is read later, by a process of its own.
      done(
        null,
        isUtf8(body) ? { manifest: body.toString('utf8') } : new UnreadableBody('the body must be valid UTF-8'),
      );
    },
  );
}

function parseJson(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  if (!isUtf8(body)) return new UnreadableBody('the body must be valid UTF-8');
  if (isDeeper(body, maxDepth)) return new UnreadableBody(`the body must not be nested deeper than ${maxDepth} levels`);
  const text = body.toString('utf8');
  let poisoned = false;
  try {
    // A reviver sees every key, which takes time. So it is used only for bodies that could hold a dangerous key.
    const value: unknown = suspicious.test(text)
      ? JSON.parse(text, function (this: unknown, key, member: unknown) {
          if (key === '__proto__' || (key === 'constructor' && hasOwn(member, 'prototype'))) poisoned = true;
          return member;
        })
      : JSON.parse(text);
    return poisoned ? new UnreadableBody('the body contains a forbidden property name') : value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return new UnreadableBody(withPosition(error.message, text));
  }
}

/** Bodies longer than this get no position: finding it costs several parses. */
const maxSearchedLength = 16_384;

/**
 * The parser does not always name the place of the fault. The fault is after the longest beginning that is correct so
 * far.
 */
function withPosition(message: string, text: string): string {
  if (/position \d/.test(message) || text.length > maxSearchedLength) return message;
  let [good, bad] = [0, text.length + 1];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (couldContinue(text.slice(0, middle))) good = middle;
    else bad = middle;
  }
  return `${message} at position ${good}`;
}

function couldContinue(beginning: string): boolean {
  try {
    JSON.parse(beginning);
    return true;
  } catch (error) {
    return /end of JSON|Unterminated|position (\d+)/.test((error as Error).message)
      ? endsTheText((error as Error).message, beginning.length)
      : false;
  }
}

function endsTheText(message: string, length: number): boolean {
  const position = /position (\d+)/.exec(message)?.[1];
  return position === undefined || Number(position) >= length;
}

/** The names may be written with escapes, so any backslash-u counts as a reason to look. */
const suspicious = /__proto__|constructor|\\u/;

function hasOwn(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name);
}

const quote = 0x22;
const backslash = 0x5c;

function isDeeper(json: Buffer, limit: number): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < json.length; i++) {
    const byte = json[i];
    if (inString) {
      if (byte === backslash) i++;
      else if (byte === quote) inString = false;
    } else if (byte === quote) inString = true;
    else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > limit) return true;
    } else if (byte === 0x7d || byte === 0x5d) depth--;
  }
  return false;
}
