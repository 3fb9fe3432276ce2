/** The functions that our statements and triggers call and SQLite lacks. Every connection that writes needs them. */
import type { SqliteConnection } from '@inlay/database/connection';
import { wordsOfName } from './name-parts.ts';

export function addFunctions(database: SqliteConnection, now: () => number): void {
  database.define('now_ms', { isDeterministic: false }, () => BigInt(now()));
  database.define('name_parts', { isDeterministic: true }, (name) => wordsOfName(String(name)));
}
