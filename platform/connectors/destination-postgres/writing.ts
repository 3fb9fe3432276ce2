/*
 * One run of the destination: takes messages in order, stores records in one transaction after the other, and passes on
 * each state once what it covers is committed. While one transaction is under way the next one's records are taken. A
 * transaction begins when there is enough to store, or when a state waits and nothing else is under way.
 *
 * A state covers the records of its stream that came before it, a global one those of all streams. Those of an
 * `overwrite` stream count only when the stream is complete; its states wait until then, and hold up no other's.
 */
import type pg from 'pg';
import { type State, streamKey } from '../../src/protocol.ts';
import type { DestinationInput, Emitter } from '../kit/connector.ts';
import { inTransaction } from '../postgres/connection.ts';
import type { TableWriter } from './table-writer.ts';

/** Widening a column or replacing all records of a large table takes its time. */
export const writeTimeoutMs = 3_600_000;
const transactionBytes = 8_000_000;

export class Writing {
  private readonly client: pg.Client;
  private readonly writers: ReadonlyMap<string, TableWriter>;
  private readonly emit: Emitter;
  /** Streams whose records replace the old ones, and are not complete yet. */
  private readonly replacing: Set<string>;
  private states: State[] = [];
  private heldStates: State[] = [];
  /** The transaction under way; never rejects. */
  private running: Promise<void> | undefined;
  private failure: { reason: unknown } | undefined;

  constructor(client: pg.Client, writers: ReadonlyMap<string, TableWriter>, emit: Emitter) {
    this.client = client;
    this.writers = writers;
    this.emit = emit;
    this.replacing = new Set([...writers].filter(([, { isOverwriting }]) => isOverwriting).map(([key]) => key));
  }

  async take(messages: readonly DestinationInput[]): Promise<void> {
    if (this.failure) throw this.failure.reason;
    for (const message of messages) {
      if (message.type === 'RECORD') {
        const { stream: name, namespace } = message.record;
        this.writerOf(streamKey(namespace === undefined ? { name } : { name, namespace })).add(message.record);
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
  }

  /** Resolves, whatever has happened, when nothing is under way. */
  async settled(): Promise<void> {
    while (this.running) await this.running;
  }

  private writerOf(key: string): TableWriter {
    const writer = this.writers.get(key);
    if (!writer) throw new Error(`There is no stream ${key} in the catalog.`);
    return writer;
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
    const stores = [...this.writers.values()].map((writer) => writer.take()).filter((store) => store !== undefined);
    const states = this.states;
    this.states = [];
    this.running = this.commit(stores, states, completed).then(
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

  private async commit(
    stores: readonly (() => Promise<void>)[],
    states: readonly State[],
    completed: string | undefined,
  ): Promise<void> {
    if (stores.length > 0 || completed !== undefined) {
      await inTransaction(this.client, { statementTimeoutMs: writeTimeoutMs }, async () => {
        for (const store of stores) await store();
        if (completed !== undefined) await this.writerOf(completed).complete();
      });
    }
    if (completed !== undefined) this.replacing.delete(completed);
    const waiting = [...this.heldStates, ...states];
    this.heldStates = waiting.filter((state) => !this.isCovered(state));
    for (const state of waiting.filter((state) => this.isCovered(state))) await this.emit.state(state);
  }

  private isCovered({ stream }: State): boolean {
    return stream ? !this.replacing.has(streamKey(stream.stream_descriptor)) : this.replacing.size === 0;
  }
}
