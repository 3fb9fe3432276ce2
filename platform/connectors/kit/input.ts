/* Reads protocol messages from a stream, a batch for each chunk that arrives. */
import type { Readable } from 'node:stream';
import type { DestinationInput } from './connector.ts';

/** Lines that are no protocol message of use to a destination are passed over, as the protocol asks. */
export async function* readInput(input: Readable): AsyncGenerator<DestinationInput[]> {
  let rest = '';
  input.setEncoding('utf8');
  for await (const chunk of input as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    const batch = lines.flatMap(readMessage);
    if (batch.length > 0) yield batch;
  }
  const last = readMessage(rest);
  if (last.length > 0) yield last;
}

function readMessage(line: string): DestinationInput[] {
  if (!line.startsWith('{')) return [];
  let message: { type?: unknown };
  try {
    message = JSON.parse(line);
  } catch {
    // Somebody printed to the wrong stream; a cut-off line is the end of a sender that died.
    return [];
  }
  const { type } = message;
  return type === 'RECORD' || type === 'STATE' || type === 'TRACE' ? [message as DestinationInput] : [];
}
