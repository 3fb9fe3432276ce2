/**
 * What a connector says, line by line: log lines and failures are kept here, everything else is handed on. The caller that reads
 * the log or a failure sees none of the connector's secrets.
 */
import { isObject, textsIn } from '@inlay/contract/connector-configuration';
import { type Redactor, redactor } from '@inlay/contract/redaction';
import { logLevels, type Message } from '../protocol.ts';
import type { Ending } from './connector-process.ts';
import { explainLimit, type LimitName, limitInWords } from './limits.ts';
import type { ConnectorProgram, Failure, JobLog } from './runner.ts';

/** Longer messages are cut: a log is for reading. */
const maxLogLength = 8 * 1024;

export class Conversation {
  readonly origin: ConnectorProgram['kind'];
  /** The first failure the connector told of. */
  failure: Failure | undefined;
  #redactor: Redactor;
  #log: JobLog | undefined;
  #lastLine = '';
  /** The first limit of the operating system that the connector complained of. */
  #limit: LimitName | undefined;
  #configuration: Record<string, unknown>;

  constructor(
    connector: ConnectorProgram & { secrets?: readonly string[]; configuration?: Record<string, unknown> },
    log: JobLog | undefined,
  ) {
    this.origin = connector.kind;
    this.#redactor = redactor(connector.secrets ?? []);
    this.#configuration = connector.configuration ?? {};
    this.#log = log;
  }

  log(level: string, message: string): void {
    this.#limit ??= limitInWords(message);
    this.#lastLine = this.#redactor.redact(message).slice(0, maxLogLength);
    this.#log?.write(level, this.origin, this.#lastLine);
  }

  /** A line of standard output. Gives the message if it is for somebody else to act on. */
  hear(line: string): Message | undefined {
    const message = parseMessage(line);
    if (!message) {
      if (line.startsWith('{"type":')) this.log('WARN', 'A message was cut off or is not JSON; it is left out.');
      else if (line.trim() !== '') this.log('INFO', line);
      return undefined;
    }
    if (message.type === 'LOG') {
      const { level, message: text, stack_trace } = message.log ?? {};
      this.log(logLevels.includes(level) ? level : 'INFO', stack_trace ? `${text}\n${stack_trace}` : String(text));
      return undefined;
    }
    if (message.type === 'TRACE' && message.trace?.type === 'ERROR') {
      this.#noteError(message.trace.error);
      return undefined;
    }
    if (message.type === 'CONNECTION_STATUS' && message.connectionStatus?.message) {
      message.connectionStatus.message = this.#redactor.redact(String(message.connectionStatus.message));
    }
    this.#noteRenewedSecrets(renewedConfiguration(message));
    return message;
  }

  fail(type: Failure['type'], message: string, internalMessage?: string): Failure {
    return {
      origin: this.origin,
      type,
      message: this.#redactor.redact(message),
      ...(internalMessage && { internalMessage: this.#redactor.redact(internalMessage).slice(0, maxLogLength) }),
    };
  }

  /** What went wrong, judged by what the connector said and how it ended. */
  failureAfter({ code, signal, error, hasExceededMemory, limits }: Ending): Failure | undefined {
    if (error) return this.fail('system_error', `The ${this.origin} could not be started.`, error.message);
    const limit = hasExceededMemory ? 'memoryBytes' : this.#limit;
    // What a connector says itself counts, unless it knows no more than that it failed.
    const isUnexplained = this.failure ? this.failure.type === 'system_error' : code !== 0;
    if (limit && (hasExceededMemory || isUnexplained)) {
      const [message, setting] = explainLimit(limit, this.origin, limits);
      this.log('ERROR', `${message} ${setting}`);
      return this.fail('system_error', message, setting);
    }
    if (this.failure) return this.failure;
    if (code === 0) return undefined;
    const how = signal ? `was ended by ${signal}` : `ended with exit code ${code}`;
    const lastLine = this.#lastLine === '' ? 'It logged nothing.' : `Its last log line: ${this.#lastLine}`;
    return this.fail('system_error', `The ${this.origin} stopped unexpectedly: it ${how}.`, `It ${how}. ${lastLine}`);
  }

  #noteError(error: Extract<Message, { type: 'TRACE' }>['trace']['error']): void {
    const message = String(error?.message ?? `The ${this.origin} failed.`);
    const type = error?.failure_type;
    const isKnown = type === 'config_error' || type === 'transient_error';
    this.log('ERROR', [message, error?.internal_message, error?.stack_trace].filter(Boolean).join('\n'));
    this.failure ??= this.fail(isKnown ? type : 'system_error', message, error?.internal_message);
  }

  #noteRenewedSecrets(configuration: Record<string, unknown> | undefined): void {
    const before = new Set(textsIn(this.#configuration));
    this.#redactor.add(textsIn(configuration).filter((text) => !before.has(text)));
  }
}

export function renewedConfiguration(message: Message | undefined): Record<string, unknown> | undefined {
  const configuration: unknown = message?.type === 'CONTROL' ? message.control?.connectorConfig?.config : undefined;
  return isObject(configuration) ? configuration : undefined;
}

function parseMessage(line: string): Message | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const message: unknown = JSON.parse(line);
    // By the protocol, what is not a message is log.
    return isObject(message) && typeof message.type === 'string' ? (message as unknown as Message) : undefined;
  } catch {
    return undefined;
  }
}
