/** How the service starts: with the compiled code that the build has kept, and with stack traces that name our sources. */
import { execFile } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, expect, it } from 'vitest';
import { connectorProgram, type Launch } from '../../platform/src/runner/programs.ts';

const bin = fileURLToPath(new URL('../bin/', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'inlay-program-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a script in a process without the options of this one: V8 keeps code only for the options that it was compiled with. */
async function run(script: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { env: { PATH: process.env.PATH } });
  return stdout.trim();
}

const startOf = (launch: Launch) =>
  connectorProgram(launch, 'source', {
    connectorsProgram: join(bin, '../dist/connectors/main.js'),
    workspaceDir: folder,
    readableDirs: [],
    allowPrivateNetworks: false,
    serviceEndpoints: [],
  });

const productPrograms = ['inlay.cjs', 'commands.cjs', 'command-modules.cjs'];

it.each(productPrograms)('the compiled code of %s fits it', async (name) => {
  const program = JSON.stringify(join(bin, '../dist', name));
  // Stopped at its first line, when V8 has looked at the code.
  const script = `
    const { Script } = require('node:vm');
    Script.prototype.runInThisContext = function () {
      console.log(this.cachedDataRejected);
      process.exit();
    };
    require(${JSON.stringify(join(bin, 'compiled-program.js'))}).runProgram(${program});`;
  expect(await run(script)).toBe('false');
});

it.each<Launch>([
  { type: 'bundled', name: 'file' },
  { type: 'bundled', name: 'http-api' },
  { type: 'bundled', name: 's3' },
  { type: 'manifest', manifest: '{}' },
])(
  'the compiled code of a connector fits it, with the options that connectors are started with: %j',
  async (launch) => {
    const trap = join(folder, 'trap.cjs');
    writeFileSync(
      trap,
      `require('node:vm').Script.prototype.runInThisContext = function () {
      console.log(this.cachedDataRejected);
      process.exit();
    };`,
    );
    const { program, args } = startOf(launch);
    const { stdout } = await promisify(execFile)(program, ['--require', trap, ...(args as string[]), 'spec'], {
      env: { PATH: process.env.PATH },
    });
    expect(stdout.trim()).toBe('false');
  },
);

it('a connector with its compiled code loads the classes that a manifest names', async () => {
  const componentsFile = join(folder, 'classes.mjs');
  writeFileSync(componentsFile, "console.error('the classes are loaded');\nexport class Auth {}");
  const manifest = JSON.stringify({
    version: '6.44.0',
    type: 'DeclarativeSource',
    spec: { type: 'Spec', connection_specification: { title: 'Coded' } },
  });
  const { program, args } = startOf({ type: 'manifest', manifest, componentsFile });
  const running = promisify(execFile)(program, [...(args as string[]), 'spec'], { env: { PATH: process.env.PATH } });
  running.child.stdin?.end(`${manifest}\n`);
  const { stdout, stderr } = await running;
  expect(stderr).toBe('the classes are loaded\n');
  expect(JSON.parse(stdout)).toMatchObject({ type: 'SPEC', spec: { connectionSpecification: { title: 'Coded' } } });
});

it('a program runs with its compiled code, with code that does not fit, and without any', async () => {
  const program = join(folder, 'program.cjs');
  writeFileSync(program, "console.log(require('node:path').basename(__filename));");
  const load = `const { runProgram } = require(${JSON.stringify(join(bin, 'compiled-program.js'))});`;
  const start = `${load} const script = runProgram(${JSON.stringify(program)}); console.log(script.cachedDataRejected);`;
  expect(await run(start)).toBe('program.cjs\nundefined');
  const cache = JSON.stringify(`${program}.cache`);
  await run(`${start} require('node:fs').writeFileSync(${cache}, script.createCachedData());`);
  expect(await run(start)).toBe('program.cjs\nfalse');
  appendFileSync(program, ' // changed');
  expect(await run(start)).toBe('program.cjs\ntrue');
});

it('a program keeps the characters of its texts and of its regular expressions', async () => {
  const program = join(folder, 'letters.cjs');
  writeFileSync(program, "console.log('Straße'.replace(/[ß-ü]/gu, 'ẞ'), /^[😀]$/u.test('\\u{1f600}'));");
  const load = `const { runProgram } = require(${JSON.stringify(join(bin, 'compiled-program.js'))});`;
  const start = `${load} const script = runProgram(${JSON.stringify(program)});`;
  expect(await run(start)).toBe('Straẞe true');
  await run(
    `${start} require('node:fs').writeFileSync(${JSON.stringify(`${program}.cache`)}, script.createCachedData());`,
  );
  expect(await run(`${start} console.log(script.cachedDataRejected);`)).toBe('Straẞe true\nfalse');
});

it('the programs of the product are in ASCII, of which V8 keeps one byte for each character', () => {
  const dist = join(bin, '../dist');
  const connectors = readdirSync(join(dist, 'connectors')).map((name) => `connectors/${name}`);
  const programs = [...productPrograms, ...connectors.filter((name) => connectors.includes(`${name}.cache`))];
  expect(programs.length).toBeGreaterThan(2);
  const beyond = (name: string) => /.{0,40}[^\0-\x7f]/.exec(readFileSync(join(dist, name), 'utf8'))?.[0];
  expect(programs.flatMap((name) => beyond(name) ?? [])).toEqual([]);
});

it('a stack trace names the lines of our sources, in a part and in a program with compiled code', async () => {
  const source = join(folder, 'fault.ts');
  writeFileSync(
    source,
    "interface Unused {}\n\nexport function fail(): never {\n  throw new Error('planted');\n}\nfail();\n",
  );
  const program = join(folder, 'fault.cjs');
  await build({ entryPoints: [source], outfile: program, format: 'cjs', sourcemap: 'linked', minifyWhitespace: true });
  const traces = `require(${JSON.stringify(join(bin, 'stack-traces.js'))}).nameSourcesInStackTraces();`;
  const show = (load: string) => run(`${traces} try { ${load} } catch (error) { console.log(error.stack); }`);
  const started = `require(${JSON.stringify(join(bin, 'compiled-program.js'))}).runProgram(${JSON.stringify(program)})`;
  for (const load of [`require(${JSON.stringify(program)})`, started]) {
    const [title, first, second] = (await show(load)).split('\n');
    expect(title).toBe('Error: planted');
    expect(first).toMatch(/^ {4}at fail \(.*fault\.ts:4:\d+\)$/);
    expect(second).toMatch(/fault\.ts:6:\d+\)?$/);
  }
});

it('help and the version are there without the modules of the commands, and no command loads the service', async () => {
  const trap = join(folder, 'trap-loaded.cjs');
  writeFileSync(
    trap,
    `const fs = require('node:fs');
    const { realpathSync } = fs;
    fs.realpathSync = (file) => {
      const name = require('node:path').basename(String(file));
      if (${JSON.stringify(productPrograms)}.includes(name)) console.error(name);
      return realpathSync(file);
    };`,
  );
  const loadedBy = async (...args: string[]) => {
    const env = { PATH: process.env.PATH, INLAY_DATA_DIR: folder };
    const command = ['--require', trap, join(bin, 'inlay.js'), ...args];
    const ended = await promisify(execFile)(process.execPath, command, { env }).catch((error) => error);
    return String(ended.stderr).match(/^[\w-]+\.cjs$/gm);
  };
  expect(await loadedBy('--version')).toEqual(['commands.cjs']);
  expect(await loadedBy('backup', '--help')).toEqual(['commands.cjs']);
  expect(await loadedBy('status')).toEqual(['commands.cjs', 'command-modules.cjs']);
  expect(await loadedBy('start', '--help')).toEqual(['inlay.cjs']);
});

/** Throws where the program asks for a file that ends like this. */
function trapAt(end: string): string {
  const trap = join(folder, `trap-${end}.cjs`);
  writeFileSync(
    trap,
    `const fs = require('node:fs');
    for (const name of ['existsSync', 'readFileSync']) {
      const real = fs[name];
      fs[name] = (file, ...rest) => {
        if (String(file).endsWith(${JSON.stringify(end)})) throw new Error('planted');
        return real(file, ...rest);
      };
    }`,
  );
  return trap;
}

/** The files that a stack trace names, without what Node.js has inside. */
const filesIn = (stack: string) =>
  [...stack.matchAll(/^ +at .*?\(?(\/[^()]+):\d+:\d+\)?$/gm)].map(([, file]) => file ?? '');

it('a stack trace of the built product and of its connectors names sources, and only files that exist', async () => {
  const env = { PATH: process.env.PATH, INLAY_DATA_DIR: folder };
  const command = ['--require', trapAt('inlay.db'), join(bin, 'inlay.js'), 'status'];
  const failed = await promisify(execFile)(process.execPath, command, { env }).catch((error) => error);
  const { program, args } = startOf({ type: 'bundled', name: 'file' });
  const config = join(folder, 'trapped.json');
  const connector = ['--require', trapAt('trapped.json'), ...(args as string[]), 'check', '--config', config];
  const trapped = await promisify(execFile)(program, connector, { env }).catch((error) => error);
  const { trace } = JSON.parse(trapped.stdout.trim().split('\n').at(-1));
  for (const [stack, source] of [
    [failed.stderr, 'server/src/edge/cli/opened-store.ts'],
    [trace.error.stack_trace, 'protocol/src/program.ts'],
  ]) {
    const files = filesIn(stack);
    expect(
      files.filter((file) => !existsSync(file)),
      stack,
    ).toEqual([]);
    expect(
      files.some((file) => file.endsWith(source)),
      stack,
    ).toBe(true);
  }
});

it('a stack trace names the source as the map does where the sources were not delivered', async () => {
  const program = join(folder, 'alone.cjs');
  const source = join(folder, 'alone.ts');
  writeFileSync(source, "throw new Error('planted');\n");
  await build({ entryPoints: [source], outfile: program, format: 'cjs', sourcemap: 'linked' });
  rmSync(source);
  const load = `require(${JSON.stringify(join(bin, 'compiled-program.js'))}).runProgram(${JSON.stringify(program)})`;
  const stack = await run(`try { ${load} } catch (error) { console.log(error.stack); }`);
  expect(stack).toMatch(/^ +at alone\.ts:1:7$/m);
});
