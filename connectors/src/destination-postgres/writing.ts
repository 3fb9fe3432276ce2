/*
 * One run of the destination: takes messages in order, stores records in one transaction after the other, and passes on
 * each state once the records it covers are committed. While a transaction is in progress, the next one's records are
 * collected. A transaction starts when there is enough to store, or when a state waits and nothing else is in progress.
 *
 * A state covers the earlier records of its stream, a global one those of all streams. Records of an `overwrite` stream
 * count only when the stream is complete; its states wait until then without delaying others.
 *
 * A stream that the server refuses is abandoned, and the others continue. Nothing more of it is stored, none of its
 * states is passed on, and the run fails at the end with the reason.
 */

import { ConnectorError, type DestinationInput, type Emitter } from '@inlay/protocol/connector';
import { rowsType, type State, type StreamDescriptor, streamKey } from '@inlay/protocol/protocol';
import type { RowBlock } from '@inlay/protocol/row-blocks';
import pg from 'pg';
import { Holdings } from '../kit/holdings.ts';
import type { Fence } from './fence.ts';
import type { TableWriter } from './table-writer.ts';

const transactionBytes = 8_000_000;

/** What a stream could not be written for, by `streamKey`. */
export type Refusals = Map<string, unknown>;

export class Writing {
  private readonly client: pg.Client;
  private readonly fence: Fence;
  private readonly writers: ReadonlyMap<string, TableWriter>;
  private readonly refused: Refusals;
  private readonly emit: Emitter;
  /** Streams whose records replace the old ones, and are not complete yet. */
  private readonly replacing: Set<string>;
  private readonly holdings: Holdings;
  private states: State[] = [];
  private heldStates: State[] = [];
  /** The transaction under way; never rejects. */
  private running: Promise<void> | undefined;
  private failure: { reason: unknown } | undefined;
  private latest: { name: string; namespace: string | undefined; writer: TableWriter | undefined } | undefined;

  constructor(
    client: pg.Client,
    fence: Fence,
    writers: ReadonlyMap<string, TableWriter>,
    refused: Refusals,
    emit: Emitter,
  ) {
    this.client = client;
    this.fence = fence;
    this.writers = writers;
    this.refused = refused;
    this.emit = emit;
    this.replacing = new Set([...writers].filter(([, { isOverwriting }]) => isOverwriting).map(([key]) => key));
    this.holdings = new Holdings({ streams: [...writers.values()].map(({ configured }) => configured) }, emit);
    this.failIfAllAreRefused();
  }

  async take(messages: readonly (DestinationInput | RowBlock)[]): Promise<void> {
    if (this.failure) throw this.failure.reason;
    for (const message of messages) {
      if (message.type === 'RECORD') {
        this.writerFor(message.record.stream, message.record.namespace)?.add(message.record);
      } else if (message.type === rowsType) {
        this.writerFor(message.rows.stream, message.rows.namespace)?.addRows(message);
      } else if (message.type === 'STATE') {
        this.states.push(message.state);
      } else if (message.trace.stream_status?.status === 'COMPLETE') {
        await this.idle();
        this.start(streamKey(message.trace.stream_status.stream_descriptor));
      }
    }
    if (this.waitingBytes() >= transactionBytes) {
      await this.idle();
      this.start();
    } else if (this.states.length > 0 && !this.running) {
      this.start();
    }
  }

  /** The input has ended. What came without a COMPLETE is kept where records are appended. */
  async finish(): Promise<void> {
    await this.idle();
    this.start();
    await this.idle();
    for (const writer of this.writers.values()) {
      await this.emit.report(writer.report());
    }
    if (this.refused.size > 0) throw reasonOf(this.refused);
  }

  /** Resolves, whatever has happened, when nothing is under way. */
  async settled(): Promise<void> {
    while (this.running) await this.running;
  }

  /** Records come in long rows of one stream. */
  private writerFor(name: string, namespace: StreamDescriptor['namespace']): TableWriter | undefined {
    const { latest } = this;
    if (latest?.name !== name || latest.namespace !== namespace || this.refused.size > 0) {
      this.latest = { name, namespace, writer: this.writerOf(streamKey({ name, namespace })) };
    }
    return this.latest?.writer;
  }

  /** Undefined: the stream was abandoned. */
  private writerOf(key: string): TableWriter | undefined {
    if (this.refused.has(key)) return undefined;
    const writer = this.writers.get(key);
    if (!writer) throw new Error(`The stream ${key} is not in the catalog.`);
    return writer;
  }

  private failIfAllAreRefused(): void {
    const isAnyLeft = [...this.writers.keys()].some((key) => !this.refused.has(key));
    if (this.refused.size > 0 && !isAnyLeft) throw reasonOf(this.refused);
  }

  private waitingBytes(): number {
    let bytes = 0;
    for (const writer of this.writers.values()) bytes += writer.waitingBytes;
    return bytes;
  }

  /** Waits for the transaction under way and throws if one has failed: nothing is stored after that. */
  private async idle(): Promise<void> {
    await this.settled();
    if (this.failure) throw this.failure.reason;
  }

  /** Begins a transaction with all that waits. Only when idle. */
  private start(completed?: string): void {
    const works = new Map<string, () => Promise<void>>();
    for (const [key, writer] of this.writers) {
      const store = this.refused.has(key) ? undefined : writer.take();
      const complete = key === completed && !this.refused.has(key) ? () => writer.complete() : undefined;
      if (store || complete) {
        works.set(key, async () => {
          await store?.();
          await complete?.();
        });
      }
    }
    const states = this.states;
    this.states = [];
    this.running = this.commit(works)
      .then(() => {
        if (completed !== undefined && !this.refused.has(completed)) this.replacing.delete(completed);
        return this.passOn(states);
      })
      .then(
        () => {
          this.running = undefined;
          if (this.states.length > 0) this.start();
        },
        (reason) => {
          this.running = undefined;
          this.failure = { reason };
        },
      );
  }

  private async commit(works: ReadonlyMap<string, () => Promise<void>>): Promise<void> {
    if (works.size === 0) return;
    await this.fence.inTransaction(async () => {
      for (const [key, work] of works) {
        await this.client.query('savepoint stream');
        const writer = this.writers.get(key) as TableWriter;
        const counts = { ...writer.counts };
        try {
          await work();
          await this.client.query('release savepoint stream');
        } catch (reason) {
          if (!isRefusal(reason)) throw reason;
          await this.client.query('rollback to savepoint stream');
          writer.counts = counts;
          this.refused.set(key, reason);
        }
      }
    });
    this.failIfAllAreRefused();
  }

  private async passOn(states: readonly State[]): Promise<void> {
    // First: a state is useless to a sync that doesn't know whether the rows still exist.
    for (const [key, { configured, held }] of this.writers) {
      if (!this.refused.has(key)) await this.holdings.tell(configured, held);
    }
    const waiting = [...this.heldStates, ...states];
    this.heldStates = waiting.filter((state) => !this.isCovered(state));
    for (const state of waiting.filter((state) => this.isCovered(state))) await this.emit.state(state);
  }

  private isCovered({ stream }: State): boolean {
    if (!stream) return this.replacing.size === 0 && this.refused.size === 0;
    const key = streamKey(stream.stream_descriptor);
    return !this.replacing.has(key) && !this.refused.has(key);
  }
}

/** Classes of codes that are about the statement: its data, its table, the permissions on that. Others pass, or are about all streams. */
const refusalClasses = new Set(['0A', '22', '23', '2B', '42', '54']);

/** Whether the server refuses one stream, rather than fails altogether. */
export function isRefusal(reason: unknown): boolean {
  if (reason instanceof pg.DatabaseError) return refusalClasses.has(reason.code?.slice(0, 2) ?? '');
  return reason instanceof ConnectorError && reason.failureType === 'config_error';
}

/** Why the run fails at the end. Includes the reasons of up to three streams. */
function reasonOf(refused: Refusals): ConnectorError {
  const reasons = [...refused].map(([key, reason]) => explained(key, reason));
  const [first] = reasons;
  if (first && reasons.length === 1) return first;
  const told = reasons.slice(0, 3).map(({ message }) => message);
  return new ConnectorError(`${reasons.length} streams could not be written. ${told.join(' ')}`, { cause: first });
}

function explained(key: string, reason: unknown): ConnectorError {
  if (reason instanceof ConnectorError) return reason;
  const stream = key.replace('\0', '.');
  const { code = '', message } = reason as pg.DatabaseError;
  const start = `The stream ${stream} could not be written`;
  switch (code.slice(0, 2)) {
    case '23':
      return refusal(
        `${start}: a constraint on its table rejected a record (${message}). Remove the constraint.`,
        reason,
      );
    case '54': {
      // The only index of the table is that of the key.
      const advice = /\bindex\b/.test(message) ? 'Choose a shorter primary key.' : 'Deselect some fields.';
      return refusal(`${start}: it exceeds a PostgreSQL limit (${message}). ${advice}`, reason);
    }
    case '0A':
    case '2B':
      return refusal(
        `${start}: the server cannot change its table (${message}). Remove objects that depend on it, such as views.`,
        reason,
      );
    case '42':
      return refusal(`${start}: ${message}. Check its table and the user's permissions.`, reason);
    default:
      // Without the server's words: they may quote a value.
      return refusal(`${start}: the server rejected its records (code ${code}).`, reason);
  }
}

function refusal(message: string, cause: unknown): ConnectorError {
  return new ConnectorError(message, { cause });
}
