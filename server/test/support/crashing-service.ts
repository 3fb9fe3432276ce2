/**
 * The real service, or a command, in a process that ends itself with SIGKILL at a given commit: just before the database gets it, or
 * when the database has answered. The service does not know about it: this file wraps the two database drivers.
 *
 * A commit is what makes something durable: the end of a transaction, and every writing statement outside a
 * transaction.
 */
import { SqliteConnection, type SqliteStatement } from '@inlay/database/connection';
import pg from 'pg';
import { createApp } from '../../src/edge/app.ts';
import { readConfig } from '../../src/kernel/config/config.ts';

/** End at the n-th commit from now on; 0: do not end. */
export interface Crash {
  at: number;
  edge: 'before' | 'after';
  /** Also count commits of the bundled platform, which then runs in the same process. */
  withPlatform?: boolean;
  /**
   * Count only commits of transactions with a statement that this pattern fits: work in the background commits at its own
   * times.
   */
  about?: string;
}

let crash: Crash = { at: 0, edge: 'before' };
let commits = 0;

process.on('message', (message: Crash) => {
  crash = message;
  commits = 0;
  process.send?.('understood');
});

const die = () => process.kill(process.pid, 'SIGKILL');

function isCommit(statement: string, inTransaction: boolean): boolean {
  return /^\s*commit\b/i.test(statement) || (!inTransaction && /^\s*(insert|update|delete)\b/i.test(statement));
}

/** Connections whose present transaction has a statement that the crash is about. */
const about = new WeakSet<object>();

function isCounted(connection: object, statement: string, inTransaction: boolean): boolean {
  if (crash.about === undefined) return isCommit(statement, inTransaction);
  if (new RegExp(crash.about).test(statement)) about.add(connection);
  if (!isCommit(statement, inTransaction)) {
    if (/^\s*rollback\b/i.test(statement)) about.delete(connection);
    return false;
  }
  return about.delete(connection);
}

/** What is to be done after this commit, if anything. */
function reachCommit(): (() => void) | undefined {
  commits++;
  if (commits !== crash.at) return undefined;
  if (crash.edge === 'before') die();
  return die;
}

type Run = (...given: unknown[]) => unknown;

const prepare = SqliteConnection.prototype.prepare;
const listenedTo = new WeakSet<SqliteStatement>();
SqliteConnection.prototype.prepare = function (this: SqliteConnection, text: string) {
  const prepared = prepare.call(this, text);
  const isPlatform = this.file.endsWith('platform.db');
  // A connection keeps its statements.
  if ((!isPlatform && !this.file.endsWith('inlay.db')) || listenedTo.has(prepared)) return prepared;
  listenedTo.add(prepared);
  const statement = prepared as unknown as Record<'run' | 'all', Run>;
  for (const method of ['run', 'all'] as const) {
    const run = statement[method].bind(statement);
    statement[method] = (...given) => {
      const counts = isCounted(this, text, this.isInTransaction) && (!isPlatform || crash.withPlatform === true);
      const after = counts ? reachCommit() : undefined;
      const result = run(...given);
      after?.();
      return result;
    };
  }
  return prepared;
};

const query = pg.Client.prototype.query as Run;
const inTransaction = new WeakSet<pg.Client>();
pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
  const [first] = given;
  const text = typeof first === 'string' ? first : String((first as { text?: unknown }).text);
  if (/^\s*(begin|start transaction)\b/i.test(text)) inTransaction.add(this);
  const after = isCounted(this, text, inTransaction.has(this)) ? reachCommit() : undefined;
  if (/^\s*(commit|rollback)\b/i.test(text)) inTransaction.delete(this);
  const result = query.apply(this, given);
  if (!after) return result;
  return (result as Promise<unknown>).then((answer) => {
    after();
    return answer;
  });
} as typeof pg.Client.prototype.query;

const { TEST_CRASH: crashOfCommand } = process.env;
if (crashOfCommand === undefined) {
  const { config, secrets } = readConfig(process.env);
  void createApp(config, secrets).then((app) => app.listen());
} else {
  // A command ends too soon to receive anything.
  crash = JSON.parse(crashOfCommand);
  // Otherwise a command that is not killed would never end.
  process.disconnect?.();
  void import('../../src/edge/cli/cli.ts').then(({ runCommandLine }) => runCommandLine(process.argv.slice(2)));
}
