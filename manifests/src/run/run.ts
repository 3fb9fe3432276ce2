/* What all parts of one run of a source share. */
import type { SignedIn } from '@inlay/protocol/connector';
import type { LogLevel, StreamDescriptor } from '@inlay/protocol/protocol';
import type { Slots } from '@inlay/protocol/slots';
import type { DateTime } from '../dates/date-time.ts';
import type { Budget } from '../http/budget.ts';
import type { Transport } from '../http/transport.ts';

export interface Run {
  clock: RunClock;
  /** Waits, with a word in the log. */
  wait(seconds: number, reason: WaitReason): Promise<void>;
  transport: Transport;
  budget: Budget;
  /** Places for jobs that the API runs. */
  jobs: Slots;
  log(level: LogLevel, message: string): void;
  /** Reports that the API lets a stream wait. */
  rateLimited(stream: StreamDescriptor): void;
  /** The sign-in whose token the configuration has, if fresh ones can be got. */
  signIn: SignedIn | undefined;
  /** Reports that the configuration has changed and must be kept. */
  configurationChanged(config: Record<string, unknown>): Promise<void>;
}

/** Waits before a retry are distinguished from others, since tests of an engine compare them. */
export type WaitReason = 'retry' | 'budget' | 'poll';

/** The clock of templates and cursors. It may stand still. */
export interface RunClock {
  now(): DateTime;
  /** Seconds since 1970. */
  seconds(): number;
}
