/*
 * Describes manifests as a program: reads one per line of standard input, as a JSON string, and answers each with one
 * line: the description, or the `refusal` of text that is not a manifest. Separate from the program that runs
 * manifests, which starts often and does not need what this one loads. `--components FILE`: code for the classes that
 * manifests name.
 */
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { describeManifest } from './describe.ts';
import type { ImportModule } from './import-module.ts';
import { ManifestError } from './manifest/problems.ts';
import { useClasses } from './own-classes.ts';

export async function run([option, file]: readonly string[], importModule: ImportModule): Promise<number> {
  if (option === '--components') useClasses(await importModule(pathToFileURL(file ?? '').href));
  let chunks: Buffer[] = [];
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    // The caller waits for the answer, so nothing follows the line.
    if (chunk.at(-1) !== newline) continue;
    const answer = answerTo(JSON.parse(Buffer.concat(chunks).toString('utf8')));
    chunks = [];
    if (!process.stdout.write(`${JSON.stringify(answer)}\n`)) await once(process.stdout, 'drain');
  }
  return 0;
}

const newline = 10;

function answerTo(text: string): object {
  try {
    return describeManifest(text);
  } catch (error) {
    if (error instanceof ManifestError) return { refusal: error.message };
    // A text that is nested too deep to be read at all.
    if (error instanceof RangeError) return { refusal: 'The manifest is nested too deeply.' };
    throw error;
  }
}
