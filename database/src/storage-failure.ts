/** Decides whether an error means that the store is busy, full or away, or that one of our statements is wrong. */
import { SqliteError } from './sqlite-error.ts';

const sqliteCodes = /^SQLITE_(BUSY|LOCKED|FULL|IOERR|CANTOPEN|READONLY|NOTADB|CORRUPT|PROTOCOL)/;
// 08 connection, 28 authorization, 3D000 no such database, 40 rollback, 53 resources, 55000 and 55P03 not available
// now, 57 operator intervention, 58 system, 25006 read-only
const postgresStates = /^(08...|28...|3D000|40...|53...|55000|55P03|57...|58...|25006)$/;
const networkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENOENT',
]);
const driverMessages =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Client was closed|The database connection is not open)/;

// Includes 28 and 3D000, which a database returns when it was moved or locked for maintenance. Excludes 40 and 55P03,
// which concurrent transactions cause.
const outageStates = /^(08...|28...|3D000|53300|57P..)$/;

/** Whether a failure reported by PostgreSQL connections means that the database is unreachable. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string'
    ? networkCodes.has(code) || outageStates.test(code)
    : driverMessages.test(error.message);
}

export function isStorageFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  if (typeof code === 'string') {
    if (error instanceof SqliteError && sqliteCodes.test(code)) return true;
    // A missing file is no failure of the store, unless it is the socket of PostgreSQL.
    if (code === 'ENOENT') return (error as NodeJS.ErrnoException).syscall === 'connect';
    if (networkCodes.has(code) || (code.length === 5 && postgresStates.test(code))) return true;
  }
  return driverMessages.test(error.message);
}
