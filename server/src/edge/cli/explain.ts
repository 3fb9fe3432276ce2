/** What to tell the person who typed the command: one plain paragraph, no stack unless it is a bug. */
import { Problem } from '@inlay/platform/problems';
import { RunFailure } from '@inlay/platform/runner/runner';
import { isStorageFailure } from '../../kernel/db/storage-failure.ts';
import { AppError, OperatorError } from '../../kernel/errors.ts';

export function explain(error: unknown): string {
  if (error instanceof OperatorError) return error.message;
  if (error instanceof AppError && error.code === 'operator_token_not_found') {
    return 'There is no such operator token. See: inlay operator-token list';
  }
  if (error instanceof AppError && error.code === 'operator_token_ended') {
    return 'This operator token is revoked or has expired, so it cannot be rotated. Make another one: inlay operator-token create --name <what it is for>';
  }
  if (error instanceof AppError && error.code === 'definition_in_use') {
    const { templates } = (error as AppError<'definition_in_use'>).facts;
    return `Templates use this connector; delete them first: ${templates.join(', ')}`;
  }
  if (error instanceof RunFailure) {
    const { message, internalMessage } = error.failure;
    return `The connector cannot be used: ${message}${internalMessage ? `\n${internalMessage}` : ''}`;
  }
  if (error instanceof Problem) {
    return error.title === 'resource-not-found'
      ? 'There is no such connector. See: inlay connector list'
      : String(error.data?.message ?? error.message);
  }
  if ((error as { code?: unknown }).code === 'EADDRINUSE') {
    return `Port ${process.env.PORT ?? 8080} is in use. Stop what uses it, or set PORT to another one.`;
  }
  if (isStorageFailure(error)) {
    return `The database cannot be used: ${(error as Error).message}\nCheck INLAY_DATABASE_URL or INLAY_DATA_DIR, then run: inlay doctor`;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
