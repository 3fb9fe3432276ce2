/**
 * Lets stack traces name our TypeScript sources, not lines of the bundle. Node.js can do this, too, but then it reads
 * every source map at every start, which takes a tenth of the start. Here a map is read for the first trace that needs it.
 */
const { existsSync, readFileSync } = require('node:fs');
const { SourceMap } = require('node:module');
const { basename } = require('node:path');
const { fileURLToPath, pathToFileURL } = require('node:url');

/** @type {Map<string, SourceMap | undefined>} */
const maps = new Map();

/**
 * Where the programs of this process are, by their name. Code that comes from a cache names the file that it was compiled
 * from, and a build has moved since then. Programs that load others contain a copy of this file; all copies share the names.
 * @type {Map<string, string>}
 */
const programs = /** @type {any} */ (globalThis)[Symbol.for('inlay.programs')] ?? new Map();
Object.assign(globalThis, { [Symbol.for('inlay.programs')]: programs });

/** @param {string} file */
function noteProgram(file) {
  programs.set(basename(file), file);
}

/** @param {string} file */
function mapOf(file) {
  if (!maps.has(file)) {
    const text = existsSync(`${file}.map`) ? readFileSync(`${file}.map`, 'utf8') : undefined;
    maps.set(file, text === undefined ? undefined : new SourceMap(JSON.parse(text)));
  }
  return maps.get(file);
}

/** @param {NodeJS.CallSite} frame */
function described(frame) {
  const text = String(frame);
  const place = frame.getFileName();
  const line = frame.getLineNumber();
  const column = frame.getColumnNumber();
  if (!place || place.startsWith('node:') || line === null || column === null) return text;
  const named = place.startsWith('file:') ? fileURLToPath(place) : place;
  const file = existsSync(named) ? named : (programs.get(basename(named)) ?? named);
  const at = (/** @type {string} */ shown) => text.replace(`${place}:${line}:${column}`, shown);
  const found = mapOf(file)?.findEntry(line - 1, column - 1);
  if (found && 'originalSource' in found && found.originalSource) {
    const source = fileURLToPath(new URL(found.originalSource, pathToFileURL(file)));
    // A release comes without the sources. Its maps name them by their path in the repository.
    const shown = existsSync(source) ? source : found.originalSource;
    return at(`${shown}:${found.originalLine + 1}:${found.originalColumn + 1}`);
  }
  return at(`${file}:${line}:${column}`);
}

function nameSourcesInStackTraces() {
  Error.prepareStackTrace = (error, frames) => {
    let title = 'Error';
    try {
      title = Error.prototype.toString.call(error);
    } catch {
      // Its message cannot be read. A stack trace must not throw.
    }
    return [title, ...frames.map((frame) => `    at ${described(frame)}`)].join('\n');
  };
}

module.exports = { nameSourcesInStackTraces, noteProgram };
