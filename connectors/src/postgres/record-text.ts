/*
 * Turns lines of COPY's text format into records. The bytes of a value are copied from the line to the record: no
 * number becomes a double on the way, and no text is decoded. In a line, fields are separated by tabs, `\N` is NULL,
 * and a backslash starts an escape: https://www.postgresql.org/docs/current/sql-copy.html, "Text Format".
 *
 * Invariant: a record is valid JSON, whatever the server sends, because nothing checks it again. A value that does not
 * match its column's type, such as an invalid number, becomes a string with the received text.
 */
import { endOfJson, endOfNumber } from '@inlay/contract/text/json-check';
import type { TextBuffer } from '@inlay/protocol/text-buffer';
import type { TextForm } from './column-values.ts';

export interface RecordColumn {
  name: string;
  form: TextForm;
  toJson(text: string): string;
}

const code = (character: string) => character.charCodeAt(0);
const tab = 9;
const newline = 10;
const space = 32;
const quotationMark = code('"');
const backslash = code('\\');
const closingBrace = code('}');
const capitalN = code('N');
const capitalT = code('T');
const capitalZ = code('Z');
const plus = code('+');

/** One byte of a line becomes at most `\u001f`. */
const longestByte = 6;
const nullText = Buffer.from('null');
const trueText = Buffer.from('true');
const falseText = Buffer.from('false');

/** Lookup table: 1 for bytes that need no escaping in JSON. */
const isOrdinary = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= space && byte !== quotationMark && byte !== backslash ? 1 : 0,
);

/** What stands after the backslash of an escape, and the byte it means. */
const escapes = new Map(
  Object.entries({ b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 }).map(([key, byte]) => [code(key), byte]),
);
/** How JSON escapes a byte: with a backslash and this letter. */
const letters = new Map(Object.entries({ b: 8, t: 9, n: 10, f: 12, r: 13 }).map(([key, byte]) => [byte, code(key)]));

export class RecordText {
  readonly #columns: readonly RecordColumn[];
  /** What stands before each value: a brace or a comma, and the name. */
  readonly #heads: readonly Buffer[];
  readonly #headBytes: number;

  constructor(columns: readonly RecordColumn[]) {
    this.#columns = columns;
    this.#heads = columns.map(({ name }, index) => Buffer.from(`${index === 0 ? '{' : ','}${JSON.stringify(name)}:`));
    this.#headBytes = this.#heads.reduce((sum, head) => sum + head.length + 4, 16);
  }

  /** Adds the record of the line from `start` to `end`, and returns where the fields start that are not part of it. */
  add(to: TextBuffer, lines: Buffer, start: number, end: number): number {
    let from = start;
    let out = to.room(this.#headBytes + (end - start) * longestByte);
    let at = to.length;
    for (let index = 0; index < this.#columns.length; index++) {
      if (from > end) throw otherFields();
      const head = this.#heads[index] as Buffer;
      for (let place = 0; place < head.length; place++) out[at++] = head[place] as number;
      if (lines[from] === backslash && lines[from + 1] === capitalN) {
        at = put(nullText, out, at);
        from += 3;
        continue;
      }
      const { form, toJson } = this.#columns[index] as RecordColumn;
      if (form === 'other') {
        const fieldEnd = endOfField(lines, from, end);
        const json = toJson(fieldText(lines, from, fieldEnd));
        to.length = at;
        to.add(json);
        out = to.room(this.#headBytes + (end - fieldEnd) * longestByte);
        at = to.length;
        from = fieldEnd + 1;
        continue;
      }
      if (form === 'boolean') {
        at = put(lines[from] === code('t') ? trueText : falseText, out, at);
        from += 2;
        continue;
      }
      if (form === 'number') {
        const numberEnd = endOfNumber(lines, from);
        if (isEndOfField(lines[numberEnd])) {
          while (from < numberEnd) out[at++] = lines[from++] as number;
          from++;
          continue;
        }
      }
      if (form === 'document') {
        const fieldEnd = endOfField(lines, from, end);
        const documentEnd = addDocument(out, at, lines, from, fieldEnd);
        if (documentEnd !== -1) {
          at = documentEnd;
          from = fieldEnd + 1;
          continue;
        }
      }
      let byte = lines[from] as number;
      out[at++] = quotationMark;
      if (form === 'timestamp' || form === 'timestamptz') {
        // What stands before the first space is the day. The offset is that of UTC.
        for (let isDay = true; isOrdinary[byte] === 1; byte = lines[++from] as number) {
          const isOffset = byte === plus && form === 'timestamptz';
          out[at++] = isOffset ? capitalZ : byte === space && isDay ? capitalT : byte;
          if (isOffset) from += 2;
          isDay &&= byte !== space;
        }
      }
      while (!isEndOfField(byte)) {
        while (isOrdinary[byte] === 1) {
          out[at++] = byte;
          byte = lines[++from] as number;
        }
        if (isEndOfField(byte)) break;
        const escaped = byte === backslash ? (lines[++from] as number) : undefined;
        at = addByte(out, at, escaped === undefined ? byte : (escapes.get(escaped) ?? escaped));
        byte = lines[++from] as number;
      }
      out[at++] = quotationMark;
      from++;
    }
    // Reading has continued into the next line, and what is written may lack its end.
    if (from > end + 1) throw otherFields();
    if (this.#columns.length === 0) out[at++] = code('{');
    out[at++] = closingBrace;
    to.length = at;
    return from;
  }
}

function otherFields(): Error {
  return new Error('The server sent a row with different fields than requested.');
}

/** The texts of a line's fields from `start` on; null for NULL. */
export function fieldTexts(lines: Buffer, start: number, end: number): (string | null)[] {
  const texts: (string | null)[] = [];
  for (let from = start; from <= end; ) {
    const fieldEnd = endOfField(lines, from, end);
    const isNull = fieldEnd === from + 2 && lines[from] === backslash && lines[from + 1] === capitalN;
    texts.push(isNull ? null : fieldText(lines, from, fieldEnd));
    from = fieldEnd + 1;
  }
  return texts;
}

function endOfField(lines: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && lines[at] !== tab) at++;
  return at;
}

function fieldText(lines: Buffer, start: number, end: number): string {
  const text = lines.toString('utf8', start, end);
  if (!text.includes('\\')) return text;
  return text.replace(/\\(.)/g, (_, letter: string) => {
    const byte = escapes.get(code(letter));
    return byte === undefined ? letter : String.fromCharCode(byte);
  });
}

/**
 * Adds a JSON text on one line: a line break within it is whitespace, because strings would escape it. Returns the
 * position after it, or -1 if it is not JSON.
 */
function addDocument(out: Buffer, start: number, lines: Buffer, fieldStart: number, fieldEnd: number): number {
  let at = start;
  for (let from = fieldStart; from < fieldEnd; from++) {
    const byte = lines[from] as number;
    const escaped = byte === backslash ? (lines[++from] as number) : undefined;
    out[at++] = Math.max(escaped === undefined ? byte : (escapes.get(escaped) ?? escaped), space);
  }
  // The check goes up to the end of a line.
  out[at] = newline;
  return endOfJson(out, start) === at || isJson(out.toString('utf8', start, at)) ? at : -1;
}

/** Also if it is nested too deeply for the check. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function addByte(out: Buffer, start: number, byte: number): number {
  let at = start;
  if (isOrdinary[byte] === 1) {
    out[at++] = byte;
    return at;
  }
  out[at++] = backslash;
  const letter = byte < space ? letters.get(byte) : byte;
  if (letter !== undefined) {
    out[at++] = letter;
    return at;
  }
  return at + out.write(`u00${byte.toString(16).padStart(2, '0')}`, at, 'latin1');
}

function isEndOfField(byte: number | undefined): boolean {
  return byte === tab || byte === newline;
}

function put(bytes: Buffer, out: Buffer, at: number): number {
  for (let place = 0; place < bytes.length; place++) out[at + place] = bytes[place] as number;
  return at + bytes.length;
}
