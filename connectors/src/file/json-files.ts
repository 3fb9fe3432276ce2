/* Reads JSON Lines object by object, however long the file, and whole JSON documents up to a size. */
import { ConnectorError } from '../kit/connector.ts';
import { isCutOffJson } from '../kit/cut-off-json.ts';
import { isJsonObject, parseJson } from '../kit/json.ts';
import { recordsAt } from '../kit/records.ts';

const maxDocumentLength = 64 * 1024 * 1024;
const maxLineLength = 20 * 1024 * 1024;

export async function* readJsonLines(text: AsyncIterable<string>): AsyncGenerator<Record<string, unknown>> {
  let rest = '';
  let line = 0;
  for await (const chunk of text) {
    if (!chunk.includes('\n')) {
      // Not looked through again with every chunk that a long line takes.
      rest += chunk;
      if (rest.length > maxLineLength) throw tooLong(line + 1);
      continue;
    }
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const one of lines) {
      line += 1;
      if (one.trim() !== '') yield readLine(one, line);
    }
  }
  if (rest.trim() !== '') yield readLine(rest, line + 1, true);
}

function tooLong(line: number): ConnectorError {
  return new ConnectorError(`Line ${line} is longer than 20 MB. Check that the file has one JSON object a line.`);
}

function readLine(text: string, line: number, isAtEnd = false): Record<string, unknown> {
  const hint = 'Check that the file has one JSON object a line.';
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
      throw new ConnectorError('The file is longer than 64 MB, the most for JSON. Provide it as JSON Lines instead.');
    }
  }
  if (whole.trim() === '') throw new ConnectorError('The file is empty. Check the location.');
  yield* recordsAt(parseOrExplain(whole, 'The file is not valid JSON. Check the format.', true), recordPath, false);
}

/** The reason that the language gives quotes the data, and is left out. */
function parseOrExplain(text: string, message: string, isAtEnd: boolean): unknown {
  try {
    return parseJson(text);
  } catch {
    if (!isAtEnd || !isCutOffJson(text)) throw new ConnectorError(message);
    throw new ConnectorError('The file ends in the middle of a record. Try again when it is complete.', {
      failureType: 'transient_error',
    });
  }
}
