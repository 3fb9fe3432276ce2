/**
 * One line of a connector as the message it is meant to be. Read are also lines that Python programs write: with the
 * words NaN, Infinity and -Infinity in place of numbers, which JSON does not have, and with a byte order mark or spaces
 * in front. Those words are read as null.
 */
import { isObject } from '@inlay/contract/catalog/connector-configuration';
import type { Message, rowsType } from '@inlay/protocol/protocol';
import { skipString } from './json-members.ts';

/** A message and its text, or JSON that is not a message, which the protocol treats as a log line. */
export type ReadLine = HeardMessage | 'other JSON';

export interface HeardMessage {
  message: Message;
  /** The message as valid JSON: the original line, or its repaired form. */
  text: string;
  /** How many words were read as null. */
  notNumbers: number;
}

/** Undefined for a line that is not JSON. */
export function readLine(line: string): ReadLine | undefined {
  // Also strips a byte order mark.
  const text = line.startsWith('{') ? line : line.trimStart();
  if (!text.startsWith('{')) return undefined;
  const parsed = parse(text);
  if (parsed) return asMessage(parsed.value, text, 0);
  const valid = withoutNotNumbers(text);
  const repaired = valid.count > 0 ? parse(valid.text) : undefined;
  return repaired && asMessage(repaired.value, valid.text, valid.count);
}

function asMessage(value: unknown, text: string, notNumbers: number): ReadLine {
  if (!isObject(value) || typeof value.type !== 'string') return 'other JSON';
  return { message: value as unknown as Message, text, notNumbers };
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

const notNumberWords = ['NaN', 'Infinity', '-Infinity'];

/** The same text with each of the words replaced by null; strings are unchanged. */
export function withoutNotNumbers(text: string): { text: string; count: number } {
  if (!text.includes('NaN') && !text.includes('Infinity')) return { text, count: 0 };
  const parts: string[] = [];
  let done = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = skipString(text, at) - 1;
    if (character !== 'N' && character !== 'I' && character !== '-') continue;
    const word = notNumberWords.find((each) => text.startsWith(each, at));
    if (word === undefined) continue;
    parts.push(text.slice(done, at));
    at += word.length - 1;
    done = at + 1;
  }
  return { text: [...parts, text.slice(done)].join('null'), count: parts.length };
}

export type IntendedType = 'RECORD' | 'STATE' | typeof rowsType;

/** What a line that cannot be read was meant to be, whatever stands before or after it. */
export function intendedType(line: string): IntendedType | undefined {
  return /["']type["']\s*:\s*["'](RECORD|STATE|INLAY_ROWS)["']/.exec(line)?.[1] as IntendedType | undefined;
}

/** The name of the stream in a line that cannot be read, if it can be seen. */
export function intendedStream(line: string): string | undefined {
  const [, name] = /["'](?:stream|name)["']\s*:\s*["']([^"'\\]{1,100})["']/.exec(line) ?? [];
  return name;
}
