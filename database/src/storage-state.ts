/**
 * Whether the stores of this process work: whether they accept writes, respond, and are free of foreign locks. If one
 * does not, every request and worker fails in the same way. So the cause is logged once when it starts and once when it
 * ends, health reports a full disk, and log lines about the same failure in between are suppressed and counted.
 *
 * Stores report their failures as they happen. While there is one, a probe that really writes finds out when it is over.
 */
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { statfs } from 'node:fs/promises';

export type StorageFault = 'full' | 'refuses writes';

/** Logged as one state, however many requests and workers fail because of it. */
type Trouble = 'storage' | 'away' | 'locked';

const ends: Record<Trouble, string> = {
  storage: 'Storage accepts writes again',
  away: 'Database responding again',
  locked: 'Database no longer locked',
};

const begins = {
  away: 'Database not responding; requests fail with 503 until it recovers',
  locked: 'Database locked by another process; writes fail with 503 until the lock is released',
};
const beginOf = (fault: StorageFault) =>
  `${fault === 'full' ? 'Disk full' : 'Storage refuses writes'}; writes fail with 503 and no jobs run until this is resolved`;

interface FaultLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

interface ProbedStore {
  /** Writes as much as a usual transaction needs, and takes it back. Throws what a write would throw. */
  probeWrites(): Promise<void>;
  /** Where the store keeps its files, if on this machine. */
  folder?: string | undefined;
}

interface Clock {
  elapsed(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

const probeEveryMs = 1_000;
/** More than the largest usual transaction. A disk with less room counts as full once a write has failed. */
const probeBytes = 256 * 1024;

// 53100 disk full, 25006 read-only transaction, 58030 I/O error
const fullCodes = new Set(['SQLITE_FULL', 'ENOSPC', 'EDQUOT', '53100']);
const refusingCodes = /^(SQLITE_IOERR|SQLITE_READONLY|EROFS|EIO|EFBIG|25006|58030)/;
/** Allocates space in the database like a large transaction would, and frees it. */
export const roomStatements = [
  'create table storage_probe (filler blob)',
  'insert into storage_probe values (zeroblob(65536))',
  'drop table storage_probe',
];
const lockedCodes = /^SQLITE_(BUSY|LOCKED)/;
const deepestCause = 5;

/** The error, what caused it, and so on. */
function* causesOf(error: unknown): Generator<Error> {
  let current = error;
  for (let depth = 0; current instanceof Error && depth < deepestCause; depth++) {
    yield current;
    current = current.cause;
  }
}

function codeOf(error: Error): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** What is wrong with the storage, if that is why something failed. */
export function storageFaultOf(error: unknown): StorageFault | undefined {
  for (const cause of causesOf(error)) {
    const code = codeOf(cause);
    if (fullCodes.has(code)) return 'full';
    if (refusingCodes.test(code)) return 'refuses writes';
  }
  return undefined;
}

export class StorageState {
  readonly #clock: Clock;
  readonly #stores = new Set<ProbedStore>();
  readonly #closing = new AbortController();
  #log: FaultLog | undefined;
  readonly #failing = new Map<Trouble, { since: number; leftOut: number }>();
  /** Errors thrown by stores, or caused by them: others, for example from webhooks, may have the same codes. */
  readonly #ours = new WeakMap<Error, Trouble>();
  #fault: StorageFault | undefined;
  #isLooking = false;
  #probing: Promise<void> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The log needs this state to leave lines out, so the state gets the log later. */
  logTo(log: FaultLog): void {
    this.#log = log;
  }

  add(store: ProbedStore): void {
    this.#stores.add(store);
  }

  remove(store: ProbedStore): void {
    this.#stores.delete(store);
  }

  /** A full disk, or one that refuses writes. A database that is away or locked says so itself. */
  get fault(): StorageFault | undefined {
    return this.#fault;
  }

  /** A store has failed. `isAway`: because its database does not respond. Other failures are none of our business. */
  readonly note = (error: unknown, isAway = false): Trouble | undefined => {
    const fault = storageFaultOf(error);
    const isLocked = error instanceof Error && lockedCodes.test(codeOf(error));
    const trouble = fault ? 'storage' : isAway ? 'away' : isLocked ? 'locked' : undefined;
    if (!trouble) return undefined;
    if (error instanceof Error) this.#ours.set(error, trouble);
    if (this.#failing.has(trouble)) return trouble;
    // Before the state changes: afterwards, this line would be suppressed.
    this.#log?.error({ err: error }, fault ? beginOf(fault) : begins[trouble as 'away' | 'locked']);
    if (fault) this.#fault = fault;
    this.#failing.set(trouble, { since: this.#clock.elapsed(), leftOut: 0 });
    void this.#probeUntilOver();
    return trouble;
  };

  /** A connection broke while nobody used it. Often that is all; if it is not, the probe finds out what is wrong. */
  readonly noteLostConnection = (error: unknown): void => {
    if (this.#isLooking || this.#failing.has('away') || this.#closing.signal.aborted) return;
    this.#isLooking = true;
    void this.#probe().then(() => {
      this.#isLooking = false;
      if (!this.#failing.has('away')) this.#log?.warn({ err: error }, 'Lost a database connection; replacing it');
    });
  };

  /** What failed because a store did, for instance a call to a platform in this process. */
  attribute(error: unknown): void {
    const [trouble] = this.#failing.keys();
    if (trouble && error instanceof Error) this.#ours.set(error, trouble);
  }

  /** Whether a log line about this error would only repeat what was logged when the trouble began. */
  readonly isKnown = (error: unknown): boolean => {
    if (this.#failing.size === 0) return false;
    const trouble = storageFaultOf(error)
      ? 'storage'
      : [...causesOf(error)].map((cause) => this.#ours.get(cause)).find(Boolean);
    const state = trouble && this.#failing.get(trouble);
    if (!state) return false;
    state.leftOut++;
    return true;
  };

  /** What is wrong now, for health checks. Cheap while nothing is. */
  async check(): Promise<StorageFault | undefined> {
    if (this.#fault || (await this.#isShortOfRoom())) await this.#probe();
    return this.fault;
  }

  close(): void {
    this.#closing.abort();
  }

  async #isShortOfRoom(): Promise<boolean> {
    for (const folder of new Set([...this.#stores].map((store) => store.folder))) {
      if (folder === undefined) continue;
      const { bavail, bsize } = await statfs(folder).catch(() => ({ bavail: 0, bsize: 0 }));
      if (bavail * bsize < probeBytes) return true;
    }
    return false;
  }

  async #probeUntilOver(): Promise<void> {
    // With several problems at once, the first one watches for all.
    if (this.#failing.size > 1) return;
    while (this.#failing.size > 0 && !this.#closing.signal.aborted) {
      await this.#clock.sleep(probeEveryMs, this.#closing.signal);
      if (!this.#closing.signal.aborted) await this.#probe();
    }
  }

  /** One at a time, for all callers. */
  #probe(): Promise<void> {
    this.#probing ??= this.#probeStores().finally(() => {
      this.#probing = undefined;
    });
    return this.#probing;
  }

  async #probeStores(): Promise<void> {
    const left = new Set<Trouble>();
    for (const { probeWrites, folder } of this.#stores) {
      try {
        if (folder !== undefined) allocate(folder);
        await probeWrites();
      } catch (error) {
        const trouble = this.#troubleOf(error);
        // A failure that nobody knows proves nothing.
        if (!trouble) return;
        left.add(trouble);
      }
    }
    for (const [trouble, { since, leftOut }] of [...this.#failing].filter(([each]) => !left.has(each))) {
      this.#failing.delete(trouble);
      if (trouble === 'storage') this.#fault = undefined;
      const seconds = Math.round((this.#clock.elapsed() - since) / 1_000);
      this.#log?.info({ seconds, linesLeftOut: leftOut }, ends[trouble]);
    }
  }

  /** The store has noted most failures of a probe itself, and knows whether its database is away. */
  #troubleOf(error: unknown): Trouble | undefined {
    return (error instanceof Error && this.#ours.get(error)) || this.note(error);
  }
}

/**
 * Takes room on the disk for a moment. A write to the database alone proves little: it may fit into space that the
 * database already has.
 */
function allocate(folder: string): void {
  const file = `${folder}/storage-probe-${process.pid}`;
  const descriptor = openSync(file, 'w', 0o600);
  try {
    writeSync(descriptor, Buffer.alloc(probeBytes));
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
    rmSync(file, { force: true });
  }
}
