/* Reads JSON Lines object by object, however long the file, and whole JSON documents up to a size. */
import { ShortMembers, textOf } from '@inlay/contract/text/short-members';
import { ConnectorError } from '@inlay/protocol/connector';
import { isCutOffJson } from '@inlay/protocol/cut-off-json';
import { isJsonObject, parseJson } from '@inlay/protocol/json';
import { maxRecordBytes } from '@inlay/protocol/protocol';
import { recordsAt } from '../kit/records.ts';

const maxDocumentLength = 64 * 1024 * 1024;
/** JSON may take three times the bytes of a character to spell it. A longer line has a record that is too long. */
const maxLineLength = 3 * maxRecordBytes;

/** Skips a line over the record size limit; `onSkipped` gets its short fields. */
export async function* readJsonLines(
  text: AsyncIterable<string>,
  fields: readonly string[] = [],
  onSkipped: (known: Record<string, unknown>) => void = () => {},
  maxLength = maxLineLength,
): AsyncGenerator<Record<string, unknown>> {
  let rest = '';
  let line = 0;
  let long: ShortMembers | undefined;
  for await (const chunk of text) {
    const end = chunk.indexOf('\n');
    if (!long && rest.length + (end === -1 ? chunk.length : end) > maxLength) {
      long = new ShortMembers(fields.map((field) => [field]));
      long.add(Buffer.from(rest));
      rest = '';
    }
    if (end === -1) {
      // Not looked through again with every chunk that a long line takes.
      if (long) long.add(Buffer.from(chunk));
      else rest += chunk;
      continue;
    }
    long?.add(Buffer.from(chunk.slice(0, end)));
    if (long) onSkipped(knownOf(long));
    if (long) line += 1;
    const lines = (long ? chunk.slice(end + 1) : rest + chunk).split('\n');
    long = undefined;
    rest = lines.pop() ?? '';
    for (const one of lines) {
      line += 1;
      if (one.trim() !== '') yield readLine(one, line);
    }
  }
  if (long) onSkipped(knownOf(long));
  if (rest.trim() !== '') yield readLine(rest, line + 1, true);
}

function knownOf({ found }: ShortMembers): Record<string, unknown> {
  return Object.fromEntries([...found].map(([field, json]) => [field, textOf(json) ?? json]));
}

function readLine(text: string, line: number, isAtEnd = false): Record<string, unknown> {
  const hint = 'Check that the file has one JSON object per line.';
  const value = parseOrExplain(text, `Line ${line} is not valid JSON. ${hint}`, isAtEnd);
  if (isJsonObject(value)) return value;
  throw new ConnectorError(`Line ${line} is not a JSON object. ${hint}`);
}

export async function* readJsonDocument(
  text: AsyncIterable<string>,
  recordPath: string,
): AsyncGenerator<Record<string, unknown>> {
  let whole = '';
  for await (const chunk of text) {
    whole += chunk;
    if (whole.length > maxDocumentLength) {
      throw new ConnectorError('The file is larger than 64 MB, the limit for JSON. Provide it as JSON Lines instead.');
    }
  }
  if (whole.trim() === '') throw new ConnectorError('The file is empty. Check the location.');
  yield* recordsAt(parseOrExplain(whole, 'The file is not valid JSON. Check the format.', true), recordPath, false);
}

/** The parser's message quotes the data, so it is omitted. */
function parseOrExplain(text: string, message: string, isAtEnd: boolean): unknown {
  try {
    return parseJson(text);
  } catch {
    if (!isAtEnd || !isCutOffJson(text)) throw new ConnectorError(message);
    throw new ConnectorError('The file ends in the middle of a record. Try again once it is complete.', {
      failureType: 'transient_error',
    });
  }
}
