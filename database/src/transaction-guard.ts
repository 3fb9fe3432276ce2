/**
 * Detects a deadlock: a transaction on SQLite holds the only writing connection, so a statement sent to the database
 * itself instead of to the transaction waits for the transaction that it is part of. Tests enable the guard for their
 * whole process; it then throws with the code location. The service runs without it: work that a transaction only
 * starts, without waiting for it, looks the same and is harmless.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

let isOn = false;

export function guardTransactions(): void {
  isOn = true;
}

export interface TransactionGuard {
  /** Runs what a transaction does. */
  within<T>(work: () => Promise<T>): Promise<T>;
  /** Throws where a transaction of the caller is open. */
  assertOutside(): void;
}

interface OpenTransaction {
  guard: object;
  isOpen: boolean;
  /** A transaction on one database may use another database. */
  outer: OpenTransaction | undefined;
}

// One for the whole process: each more costs time with every promise, and is never forgotten.
const storage = new AsyncLocalStorage<OpenTransaction>();

/** One for each connection. */
export function transactionGuard(): TransactionGuard {
  if (!isOn) return { within: (work) => work(), assertOutside: () => {} };
  const guard = {};
  return {
    async within(work) {
      let outer = storage.getStore();
      // Work that a transaction has started may run long after its end.
      while (outer && !outer.isOpen) outer = outer.outer;
      const transaction: OpenTransaction = { guard, isOpen: true, outer };
      try {
        return await storage.run(transaction, work);
      } finally {
        transaction.isOpen = false;
      }
    },
    assertOutside() {
      for (let open = storage.getStore(); open; open = open.outer) {
        if (open.guard === guard && open.isOpen) {
          throw new Error('A statement inside a transaction bypasses it and would deadlock.');
        }
      }
    },
  };
}
