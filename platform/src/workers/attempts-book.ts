/** What this folder needs of the one that keeps attempts; see jobs/attempts-book.ts and jobs/desk.ts. */
import type { Assignment, AttemptRef, Desk, Stop } from '../attempts/desk.ts';
import type { Db } from '../db/open.ts';
import type { JobRow } from '../db/tables.ts';
import type { Claimant } from '../jobs/context.ts';
import type { Progress } from '../runner/runner.ts';

export interface OpenDesk extends Omit<Desk, 'progress'> {
  close(): void;
}

export interface AttemptsBook {
  /** Whether any job waits for someone to run it. */
  isAnyDue(): Promise<boolean>;
  claim(claimant: Claimant): Promise<Assignment | undefined>;
  /** Throws StaleAttempt. */
  openDesk(ref: AttemptRef, owner: string): Promise<OpenDesk>;
  renew(
    owner: string,
    beats: readonly { ref: AttemptRef; progress?: Progress | undefined }[],
  ): Promise<{ ref: AttemptRef; stop?: Stop }[]>;
  /** One transaction, with the proof that the attempt is current. Throws StaleAttempt. */
  asAttempt<T>(ref: AttemptRef, owner: string, work: (tx: Db, job: JobRow) => Promise<T>): Promise<T>;
}
