/**
 * Runs a bundled CommonJS program, and spares its compilation: V8 takes the functions from `<program>.cache`, which the
 * build has written after a start of the program (code-cache.mjs). That halves the CPU time of a start. V8
 * refuses a cache of another version of Node.js, of another program or of other options for the heap; then it compiles as
 * usual. `import()` fails in code that comes from a cache: the program is one file, and is given what it must import later.
 */
const { isAscii } = require('node:buffer');
const { existsSync, readFileSync, realpathSync } = require('node:fs');
const { createRequire } = require('node:module');
const { dirname } = require('node:path');
const { Script } = require('node:vm');
const { nameSourcesInStackTraces, noteProgram } = require('./stack-traces.js');

const before = '(function (exports, require, module, __filename, __dirname) {';
const after = '\n})';

/**
 * @param {string} program
 * @returns {{ script: Script, exports: any }} whose code is compiled so far as it was used, and what the program exports
 */
function loadProgram(program) {
  // The program keeps the build it started with, as Node.js itself would do it.
  const filename = realpathSync(program);
  const cacheFile = `${filename}.cache`;
  const bytes = readFileSync(filename);
  // V8 keeps one byte for each character of Latin 1, and ASCII is the same text in both.
  const encoding = isAscii(bytes) ? 'latin1' : 'utf8';
  noteProgram(filename);
  nameSourcesInStackTraces();
  const script = new Script(before + bytes.toString(encoding) + after, {
    filename,
    // Stack traces name places of the file.
    columnOffset: -before.length,
    ...(existsSync(cacheFile) && { cachedData: readFileSync(cacheFile) }),
  });
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(filename), module, filename, dirname(filename));
  return { script, exports: module.exports };
}

/** @param {string} program @returns {Script} */
const runProgram = (program) => loadProgram(program).script;

module.exports = { loadProgram, runProgram };
