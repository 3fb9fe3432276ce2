// Runs in each process of the tests, before its first test file.
import { guardTransactions } from '@inlay/database/transaction-guard';

guardTransactions();

const folder = process.env.INLAY_RECORD_STATEMENTS;
if (folder) {
  const { recordStatements, saveStatements } = await import('./record-statements.mjs');
  const { afterAll } = await import('vitest');
  recordStatements();
  afterAll(() => saveStatements(folder));
}
