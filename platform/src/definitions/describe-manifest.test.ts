/* Reading manifests in a process with limits: what is too large is refused, tenants take turns, and a manifest can end it. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { QueueFull } from '@inlay/schedule/fair-queue';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../../connectors/test/run-source.ts';
import { booksManifest } from '../../../manifests/test/books-manifest.ts';
import { connectorsProgram } from '../../test/connectors.ts';
import { describeManifest, ManifestReader, UnreadableManifest } from './describe-manifest.ts';

/** Answers each manifest with its own process id, unless the manifest says otherwise. */
const program = `
process.stdin.on('data', (chunk) => {
  const text = JSON.parse(String(chunk));
  if (text === 'never ends') for (;;);
  if (text === 'dies') process.kill(process.pid, 'SIGKILL');
  if (text === 'fails') throw new Error('planted');
  const answer = text === 'is none' ? { refusal: 'That is no manifest.' } : { version: String(process.pid) };
  process.stdout.write(JSON.stringify(answer) + '\\n');
});`;

const tooMuch = new UnreadableManifest('Reading the manifest takes too long or needs too much memory.');

function startReader(timeoutMs?: number) {
  const file = join(temporaryFolder(), 'program.cjs');
  writeFileSync(file, program);
  const reader = new ManifestReader({ connectorsProgram: file, ...(timeoutMs !== undefined && { timeoutMs }) });
  onTestFinished(() => reader.close());
  return { reader, processOf: async (text: string) => (await reader.describe(text)).version };
}

test('one process reads all manifests, and a manifest that it does not survive costs only itself', async () => {
  const { reader, processOf } = startReader();
  const first = await processOf('good');
  await expect(reader.describe('is none')).rejects.toThrow(new UnreadableManifest('That is no manifest.'));
  expect(await processOf('good')).toBe(first);
  await expect(reader.describe('dies')).rejects.toThrow(tooMuch);
  const second = await processOf('good');
  expect(second).not.toBe(first);
  await expect(reader.describe('fails')).rejects.toThrow('the manifest reader failed');
  expect(await processOf('good')).not.toBe(second);
});

test('a manifest that keeps the process busy is given up after a time', async () => {
  const { reader } = startReader(1);
  await expect(reader.describe('never ends')).rejects.toThrow(tooMuch);
});

const url = 'https://api.books.example';
const read = (manifest: string) => describeManifest({ connectorsProgram }, 'tenant', manifest);

/** Aliases in the specification, each level of which doubles the one before. */
function doubling(levels: number, of = (inner: string) => `{ oneOf: [${inner}, ${inner}] }`): string {
  const names = Array.from({ length: levels }, (_, level) => `s${level}`);
  const lines = names.map(
    (name, level) => `      ${name}: &${name} ${level === 0 ? '{ type: string }' : of(`*s${level - 1}`)}\n`,
  );
  return booksManifest({ url, properties: lines.join('') });
}

describe('A specification', () => {
  it.each([10, 20, 30])(
    'whose aliases double at each of %i levels is refused, with what is too large',
    async (levels) => {
      const manifest = doubling(levels);
      expect(manifest.length).toBeLessThan(4_000);
      const words = await read(manifest).then(
        ({ errors }) => errors.map(({ path, message }) => `${path}: ${message}`).join(),
        (error: Error) => `${error.name}: ${error.message}`,
      );
      expect(words).toMatch(
        levels > 12
          ? /^UnreadableManifest: .* too large\. With aliases /
          : /^$|^spec\.connection_specification: The specification is too large/,
      );
    },
  );

  it('is refused for more values than can be compiled quickly, written out or made by choices within choices', async () => {
    const large = Array.from({ length: 4_000 }, (_, index) => `      p${index}: { type: string, title: x }\n`);
    const nested = doubling(
      7,
      (inner) =>
        `{ type: object, oneOf: [{ properties: { k: { const: a }, v: ${inner} } }, { properties: { k: { const: b }, v: ${inner} } }] }`,
    );
    // Each takes milliseconds to compile.
    const patterns = Array.from({ length: 500 }, (_, index) => `(a*)*b{1,900}${index}`);
    const asValues = patterns.map((pattern, index) => `      p${index}: { type: string, pattern: "${pattern}" }\n`);
    const asNames = `      p: { type: object, patternProperties: { ${patterns.map((name) => `"${name}": {}`).join(', ')} } }\n`;
    const withPatterns = [asValues.join(''), asNames].map((more) => booksManifest({ url, properties: more }));
    for (const manifest of [booksManifest({ url, properties: large.join('') }), nested, ...withPatterns]) {
      const { errors } = await read(manifest);
      expect(errors).toEqual([
        {
          path: 'spec.connection_specification',
          message: expect.stringMatching(/specification is too large: .* 10000 values/),
        },
      ]);
    }
  });

  it('is refused for more than a megabyte, and for more than a hundred levels', async () => {
    const long = booksManifest({
      url,
      properties: `      p: { type: string, description: ${'x'.repeat(1_100_000)} }\n`,
    });
    await expect(read(long)).rejects.toThrow(/^The specification .* too large\. .* 1 MiB\.$/);
    const deep = `${'{ type: object, properties: { p: '.repeat(60)}{ type: string }${' } }'.repeat(60)}`;
    await expect(read(booksManifest({ url, properties: `      p: ${deep}\n` }))).rejects.toThrow('100 levels deep');
  });
});

describe('Tenants', () => {
  /** Reads a manifest only when the test says so. */
  function slowProgram() {
    const folder = mkdtempSync(join(tmpdir(), 'inlay-describe-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [program, go] = [join(folder, 'slow.js'), join(folder, 'go')];
    writeFileSync(
      program,
      `const { existsSync } = require('node:fs');
      const answer = (text) => {
        if (text !== 'slow' || existsSync(${JSON.stringify(go)})) process.stdout.write(JSON.stringify({ manifest: text }) + '\\n');
        else setTimeout(answer, 20, text);
      };
      process.stdin.on('data', (line) => answer(JSON.parse(line)));`,
    );
    const ask = (tenant: string, text: string) => describeManifest({ connectorsProgram: program }, tenant, text);
    return { ask, goOn: () => writeFileSync(go, ''), isGoingOn: () => existsSync(go) };
  }

  it('take turns: one that keeps all its turns busy holds up nobody else, and may wait with so many', async () => {
    const { ask, goOn, isGoingOn } = slowProgram();
    const slow = Array.from({ length: 11 }, () => ask('hostile', 'slow'));
    await expect(ask('hostile', 'slow')).rejects.toThrow(QueueFull);
    for (const tenant of ['a', 'b']) expect(await ask(tenant, 'quick')).toEqual({ manifest: 'quick' });
    expect(isGoingOn()).toBe(false);
    goOn();
    expect(await Promise.all(slow)).toHaveLength(11);
  });
});
