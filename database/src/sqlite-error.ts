/** SQLite's result codes, https://sqlite.org/rescode.html: those that our code distinguishes or an operator may see. */
const primaryCodes: Record<number, string> = {
  1: 'SQLITE_ERROR',
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  7: 'SQLITE_NOMEM',
  8: 'SQLITE_READONLY',
  9: 'SQLITE_INTERRUPT',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  15: 'SQLITE_PROTOCOL',
  17: 'SQLITE_SCHEMA',
  18: 'SQLITE_TOOBIG',
  19: 'SQLITE_CONSTRAINT',
  20: 'SQLITE_MISMATCH',
  21: 'SQLITE_MISUSE',
  23: 'SQLITE_AUTH',
  25: 'SQLITE_RANGE',
  26: 'SQLITE_NOTADB',
};
const extendedCodes: Record<number, string> = {
  275: 'SQLITE_CONSTRAINT_CHECK',
  787: 'SQLITE_CONSTRAINT_FOREIGNKEY',
  1299: 'SQLITE_CONSTRAINT_NOTNULL',
  1555: 'SQLITE_CONSTRAINT_PRIMARYKEY',
  1811: 'SQLITE_CONSTRAINT_TRIGGER',
  2067: 'SQLITE_CONSTRAINT_UNIQUE',
  2579: 'SQLITE_CONSTRAINT_ROWID',
};

/**
 * The driver reports only SQLite's message, without a number, when a statement that returns rows fails. SQLite has one
 * message per code; those of constraints are followed by column names.
 */
const codesByMessage: [RegExp, string][] = [
  [/^UNIQUE constraint failed/, 'SQLITE_CONSTRAINT_UNIQUE'],
  [/^CHECK constraint failed/, 'SQLITE_CONSTRAINT_CHECK'],
  [/^NOT NULL constraint failed/, 'SQLITE_CONSTRAINT_NOTNULL'],
  [/^FOREIGN KEY constraint failed/, 'SQLITE_CONSTRAINT_FOREIGNKEY'],
  [/^database is locked/, 'SQLITE_BUSY'],
  [/^database (table|schema) is locked/, 'SQLITE_LOCKED'],
  [/^database or disk is full/, 'SQLITE_FULL'],
  [/^disk I\/O error/, 'SQLITE_IOERR'],
  [/^unable to open database file/, 'SQLITE_CANTOPEN'],
  [/^attempt to write a readonly database/, 'SQLITE_READONLY'],
  [/^(database disk image is malformed|fts5: corruption|vtable constructor failed)/, 'SQLITE_CORRUPT'],
  [/^file is not a database/, 'SQLITE_NOTADB'],
  [/^locking protocol/, 'SQLITE_PROTOCOL'],
  [/^out of memory/, 'SQLITE_NOMEM'],
];

interface DriverError extends Error {
  code?: string;
  /** SQLite's extended code. */
  errcode?: number;
}

export class SqliteError extends Error {
  /** The name that SQLite has for it, such as `SQLITE_BUSY`. */
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SqliteError';
    this.code = code;
  }

  /** Turns a failure of SQLite into a SqliteError. Any other error, such as a wrong argument, is unchanged. */
  static from(error: unknown): unknown {
    if (!(error instanceof Error)) return error;
    const { code, errcode, message } = error as DriverError;
    if (code === 'ERR_SQLITE_ERROR') return new SqliteError(nameOf(errcode, message), message, { cause: error });
    if (code === 'ERR_INVALID_STATE' && /not open|closed/i.test(message))
      return new SqliteError('SQLITE_MISUSE', 'The database connection is not open', { cause: error });
    return error;
  }
}

function nameOf(errcode: number | undefined, message: string): string {
  if (errcode === undefined) return codesByMessage.find(([pattern]) => pattern.test(message))?.[1] ?? 'SQLITE_ERROR';
  return extendedCodes[errcode] ?? primaryCodes[errcode & 0xff] ?? `SQLITE_${errcode}`;
}
