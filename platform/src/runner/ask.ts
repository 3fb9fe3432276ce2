/** Asks a connector one question of the protocol: starts it, waits for its one answer and its end. */

import { storageFaultOf } from '@inlay/database/storage-state';
import type { Message } from '@inlay/protocol/protocol';
import { type CommandFiles, type Ending, type ProcessSettings, startConnector } from './connector-process.ts';
import { Conversation, renewedConfiguration } from './conversation.ts';
import { LineTooLong, linesOf, readBlocks } from './lines.ts';
import {
  type ConfiguredConnector,
  type ConnectorProgram,
  type Failure,
  RunFailure,
  type RunOptions,
} from './runner.ts';
import { TokenDesk } from './token-desk.ts';

export interface Question<T extends Message['type']> {
  connector: ConnectorProgram | ConfiguredConnector;
  command: 'spec' | 'check' | 'discover';
  files: CommandFiles;
  /** The type of the message that answers. */
  answer: T;
  timeoutMs: number;
}

export interface AskSettings extends ProcessSettings {
  maxLineBytes: number;
}

export async function ask<T extends Message['type']>(
  { connector, command, files, answer, timeoutMs }: Question<T>,
  settings: AskSettings,
  { signal, log, keepConfiguration, trace }: RunOptions,
): Promise<Extract<Message, { type: T }>> {
  signal?.throwIfAborted();
  const conversation = new Conversation(connector, log);
  const onErrorLine = (line: string) => conversation.log('INFO', line);
  const desk = new TokenDesk(connector, conversation, settings.runtime);
  const given = { ...files, ...desk.offer };
  const child = await startConnector(connector, command, given, onErrorLine, settings, trace);
  desk.serve(child);

  let stoppedBy: Failure | undefined;
  signal?.addEventListener('abort', child.stop, { once: true });
  const answered = new AbortController();
  void settings.runtime.sleep(timeoutMs, answered.signal).then(() => {
    if (answered.signal.aborted) return;
    const message = `The ${connector.kind} did not respond within ${timeoutMs / 1000} seconds.`;
    stoppedBy ??= conversation.fail('transient_error', message, `${command} was aborted.`);
    child.stop();
  });

  const answers: Message[] = [];
  let ending: Ending;
  try {
    for await (const blocks of readBlocks(child.stdout, settings.maxLineBytes)) {
      for (const line of linesOf(blocks)) {
        const message = conversation.hear(line)?.message;
        if (message?.type === answer) answers.push(message);
        await desk.hear(message);
        const renewed = renewedConfiguration(message);
        if (renewed && 'signIn' in connector) await connector.signIn?.takeBack(renewed);
        if (renewed) await keepConfiguration?.(connector.kind, renewed);
      }
    }
  } catch (error) {
    child.stop();
    stoppedBy ??= failureOfReading(error, conversation);
  } finally {
    ending = await child.ended;
    answered.abort();
    signal?.removeEventListener('abort', child.stop);
  }

  signal?.throwIfAborted();
  const [first, ...others] = answers as Extract<Message, { type: T }>[];
  const failure = stoppedBy ?? conversation.failureAfter(ending);
  // A failed check is an answer, however the connector exits after it.
  if (failure && !(first && isFailedCheck(first))) throw new RunFailure(failure);
  if (!first || others.length > 0) {
    const count = first ? `${others.length + 1} results` : 'no result';
    throw new RunFailure(
      conversation.fail('system_error', `The ${connector.kind} returned ${count} for the command ${command}.`),
    );
  }
  return first;
}

const isFailedCheck = (message: Message) =>
  message.type === 'CONNECTION_STATUS' && message.connectionStatus?.status === 'FAILED';

/**
 * Why reading the connector's output failed. Undefined if the output broke off: then the exit code gives the reason.
 */
export function failureOfReading(error: unknown, conversation: Conversation): Failure | undefined {
  if (error instanceof RunFailure) return error.failure;
  if (error instanceof LineTooLong) {
    const limit = `${error.maxLineBytes / 1_000_000} MB`;
    return conversation.fail('system_error', `The ${conversation.origin} sent a message larger than ${limit}.`);
  }
  if ((error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE') return undefined;
  return platformFailure(error);
}

export function platformFailure(error: unknown): Failure {
  const internalMessage = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const fault = storageFaultOf(error);
  if (fault) {
    const what = fault === 'full' ? 'The disk is full' : 'The storage refuses writes';
    const message = `${what}, so the platform could not store the job.`;
    return { origin: 'platform', type: 'transient_error', message, internalMessage };
  }
  return { origin: 'platform', type: 'system_error', message: 'The platform failed unexpectedly.', internalMessage };
}
