/** JSON logs. Headers, bodies and queries are never logged. Of an error, only the parts that are meant for a log. */
import { type Logger, pino } from 'pino';
import { isoTime } from './iso-time.ts';

export function createLog(level: string): Logger {
  return pino({
    level,
    base: null,
    timestamp: () => `,"time":"${isoTime(Date.now())}"`,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: describeError },
  });
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
