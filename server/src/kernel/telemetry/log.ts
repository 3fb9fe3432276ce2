/** JSON logs. Headers, bodies and queries are never logged. For errors, only the parts meant for logs. */
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import { isoTime } from '../iso-time.ts';
import { logOutput } from '../output.ts';
import { currentRequest } from '../request-context.ts';

/** A failure that is known already, so that lines about it are left out. */
type IsKnown = (error: unknown) => boolean;

/** Writes to standard output unless another destination is given. */
export function createLog(
  level: string,
  destination: DestinationStream = logOutput(),
  isKnown: IsKnown = () => false,
): Logger {
  const options: LoggerOptions = {
    level,
    base: null,
    timestamp: () => `,"time":"${isoTime(Date.now())}"`,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: describeError },
    hooks: {
      logMethod(line, method) {
        const { err } = (line[0] ?? {}) as { err?: unknown };
        if (err === undefined || !isKnown(err)) method.apply(this, line);
      },
    },
    mixin: (_line, _level, logger) => (named in logger ? {} : requestFields()),
  };
  return pino(options, destination);
}

const named = Symbol('the lines of this log name their request already');

/** Marks a log whose lines name their request already, so that they do not name it twice. */
export function namedLog<L extends object>(log: L): L {
  return Object.assign(log, { [named]: true });
}

/** The lines that are written while a request is worked on name it, wherever they are written. */
function requestFields(): { reqId?: string; traceId?: string } {
  const request = currentRequest();
  return request ? { reqId: request.requestId, traceId: request.trace.traceId } : {};
}

interface DescribedError {
  type: string;
  message: string;
  code?: string;
  stack?: string;
  cause?: DescribedError;
}

/** Drivers attach rows, parameters and addresses to their errors; those stay out. */
function describeError(error: unknown): DescribedError {
  if (!(error instanceof Error)) return { type: typeof error, message: 'not an Error' };
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' ? { code } : {}),
    ...(error.stack ? { stack: error.stack } : {}),
    ...(error.cause instanceof Error ? { cause: describeError(error.cause) } : {}),
  };
}
