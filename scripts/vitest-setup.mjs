// Runs in each process of the tests, before its first test file.
import { guardTransactions } from '@inlay/sqlite/transaction-guard';

guardTransactions();
