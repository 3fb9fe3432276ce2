// Records the SQL statements that the product prepares during tests, for the check that the next version's schema still
// takes them (server/test/statements.test.ts). The tests' set-up loads it when INLAY_RECORD_STATEMENTS names a folder.

import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { SqliteConnection } from '@inlay/database/connection';
import pg from 'pg';

/** @type {Record<string, Set<string>>} */
const recorded = { service: new Set(), platform: new Set() };
const storeOfFile = { 'inlay.db': 'service', 'platform.db': 'platform' };

let isOn = false;

/** Once for all test files of a process. */
export function recordStatements() {
  if (isOn) return;
  isOn = true;
  const { prepare } = SqliteConnection.prototype;
  SqliteConnection.prototype.prepare = function (text) {
    const store = storeOfFile[/** @type {keyof typeof storeOfFile} */ (basename(this.file))];
    if (store) note(store, numbered(text));
    return prepare.call(this, text);
  };
  const { query } = pg.Client.prototype;
  // @ts-expect-error one implementation of many overloads
  pg.Client.prototype.query = function (...given) {
    const text = typeof given[0] === 'string' ? given[0] : given[0]?.text;
    if (typeof text === 'string') note('service', text);
    return Reflect.apply(query, this, given);
  };
}

/** @param {string} folder */
export function saveStatements(folder) {
  const lists = Object.fromEntries(Object.entries(recorded).map(([store, texts]) => [store, [...texts]]));
  writeFileSync(join(folder, `${process.pid}.json`), JSON.stringify(lists));
}

/** @param {string} store @param {string} text */
function note(store, text) {
  const texts = recorded[store];
  if (!texts || texts.has(text) || !/^\s*(select|insert|update|delete|with)\b/i.test(text) || !isOfProduct()) return;
  texts.add(text);
}

/** Whether a source of the product, and not a test or its support, issues the statement. */
function isOfProduct() {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 60;
  const frames = (new Error().stack ?? '').split('\n');
  Error.stackTraceLimit = stackTraceLimit;
  const issuer = frames.find(
    (frame) => /\/(server|platform)\/(src|test)\//.test(frame) && !/\/src\/(kernel\/)?db\//.test(frame),
  );
  return issuer === undefined || (issuer.includes('/src/') && !issuer.includes('.test.ts'));
}

/** As PostgreSQL writes parameters, which SQLite understands too. @param {string} text */
function numbered(text) {
  let count = 0;
  return text.replaceAll(/'[^']*'|\?/g, (part) => (part === '?' ? `$${++count}` : part));
}
