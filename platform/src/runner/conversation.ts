/**
 * What a connector says, line by line: log lines and failures are kept here, everything else is handed on. The caller that reads
 * the log or a failure sees none of the connector's secrets.
 */
import { isObject, textsIn } from '@inlay/contract/catalog/connector-configuration';
import { type Redactor, redactor } from '@inlay/contract/text/redaction';
import { logLevels, type Message, rowsType, type StreamDescriptor, streamReportType } from '@inlay/protocol/protocol';
import { explainLimit, type LimitName, limitInWords } from '../processes/limits.ts';
import { namedFields } from './check-words.ts';
import type { Ending } from './connector-process.ts';
import { type HeardMessage, type IntendedType, intendedStream, intendedType, readLine } from './message-text.ts';
import { type ConnectorProgram, type Failure, type JobLog, RunFailure } from './runner.ts';

/** Longer messages are cut: a log is for reading. */
const maxLogLength = 8 * 1024;
/** For a line that cannot be read. */
const shownLineLength = 200;

export class Conversation {
  readonly origin: ConnectorProgram['kind'];
  readonly isRecordTextValid: boolean;
  /** The first failure that the connector reported. */
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
    this.isRecordTextValid = connector.isRecordTextValid ?? false;
    this.#redactor = redactor(connector.secrets ?? []);
    this.#configuration = connector.configuration ?? {};
    this.#log = log;
  }

  redact(text: string): string {
    return this.#redactor.redact(text);
  }

  /** The connector was given more secrets while it ran. */
  hide(secrets: readonly string[]): void {
    this.#redactor.add(secrets);
  }

  log(level: string, message: string): void {
    this.#limit ??= limitInWords(message);
    this.#lastLine = this.#redactor.redact(message).slice(0, maxLogLength);
    this.#log?.write(level, this.origin, this.#lastLine);
  }

  /**
   * Processes a line of standard output. Returns the message if someone else handles it. Throws if the line was meant
   * as a message that must not be ignored but cannot be read.
   */
  hear(line: string, indispensable: readonly Message['type'][] = []): HeardMessage | undefined {
    const read = readLine(line);
    if (!read || read === 'other JSON') {
      const meant = read ? undefined : intendedType(line);
      if (meant && indispensable.includes(meant)) throw this.unreadable(meant, line, 'it is not valid JSON');
      if (line.startsWith('{"type":')) this.log('WARN', 'Ignored a message that is truncated or not valid JSON.');
      else if (line.trim() !== '') this.log('INFO', line);
      return undefined;
    }
    const { message } = read;
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
    if (message.type === 'CONNECTION_STATUS' && Array.isArray(message.connectionStatus?.inlay_warnings)) {
      for (const warning of message.connectionStatus.inlay_warnings) {
        if (isObject(warning)) warning.message = this.#redactor.redact(String(warning.message));
      }
    }
    this.#noteRenewedSecrets(renewedConfiguration(message));
    return read;
  }

  /** Shows how the line begins, so that its author can find it. */
  unreadable(meant: IntendedType, line: string, why: string): RunFailure {
    // Before it is cut: a part of a secret would not be known again.
    const beginning = this.#redactor.redact(line.slice(0, maxLogLength)).slice(0, shownLineLength);
    const stream = intendedStream(line);
    const what = `a ${{ RECORD: 'record', STATE: 'state', [rowsType]: 'block of rows' }[meant]}${stream === undefined ? '' : ` of ${stream}`}`;
    return new RunFailure(
      this.fail(
        'system_error',
        `The ${this.origin} sent ${what} that cannot be read: ${why}. The line starts with: ${beginning}`,
      ),
    );
  }

  fail(type: Failure['type'], message: string, internalMessage?: string, fields?: unknown): Failure {
    return {
      origin: this.origin,
      type,
      message: this.#redactor.redact(message),
      ...(internalMessage && { internalMessage: this.#redactor.redact(internalMessage).slice(0, maxLogLength) }),
      ...namedFields(fields),
    };
  }

  /** What went wrong, judged by what the connector said and how it ended. */
  failureAfter({ code, signal, error, hasExceededMemory, limits }: Ending): Failure | undefined {
    if (error) return this.fail('system_error', `The ${this.origin} could not start.`, error.message);
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
    const how = signal ? `was killed by ${signal}` : `exited with code ${code}`;
    const lastLine = this.#lastLine === '' ? 'It logged nothing.' : `Its last log line: ${this.#lastLine}`;
    return this.fail('system_error', `The ${this.origin} stopped unexpectedly (it ${how}).`, `It ${how}. ${lastLine}`);
  }

  #noteError(error: Extract<Message, { type: 'TRACE' }>['trace']['error']): void {
    const message = String(error?.message ?? `The ${this.origin} failed.`);
    const type = error?.failure_type;
    const isKnown = type === 'config_error' || type === 'transient_error';
    const said = new Set([message, error?.internal_message, error?.stack_trace]);
    this.log('ERROR', [...said].filter(Boolean).join('\n'));
    this.failure ??= this.fail(isKnown ? type : 'system_error', message, error?.internal_message, error?.inlay_fields);
  }

  #noteRenewedSecrets(configuration: Record<string, unknown> | undefined): void {
    const before = new Set(textsIn(this.#configuration));
    this.#redactor.add(textsIn(configuration).filter((text) => !before.has(text)));
  }
}

/** A report on a stream, as the connector names it; what else is in the report is for the caller to judge. */
export function streamReport(
  message: Message | undefined,
  type = streamReportType,
): { stream: StreamDescriptor; report: Record<string, unknown> } | undefined {
  const analytics: unknown = message?.type === 'TRACE' ? message.trace?.analytics : undefined;
  if (!isObject(analytics) || analytics.type !== type || typeof analytics.value !== 'string') return undefined;
  try {
    const report: unknown = JSON.parse(analytics.value);
    const stream = isObject(report) ? report.stream_descriptor : undefined;
    if (!isObject(report) || !isObject(stream) || typeof stream.name !== 'string') return undefined;
    return { stream: stream as unknown as StreamDescriptor, report };
  } catch {
    // Analytics messages of another tool that uses the same word.
    return undefined;
  }
}

export function renewedConfiguration(message: Message | undefined): Record<string, unknown> | undefined {
  const configuration: unknown = message?.type === 'CONTROL' ? message.control?.connectorConfig?.config : undefined;
  return isObject(configuration) ? configuration : undefined;
}
