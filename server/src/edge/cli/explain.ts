/** Errors as one plain paragraph for the person who typed the command, without a stack unless it is a bug. */

import { IncompatibleSchema } from '@inlay/database/schema-history';
import { isStorageFailure } from '@inlay/database/storage-failure';
import { StoreMoveRefused } from '@inlay/platform/migrate-store';
import { Problem } from '@inlay/platform/problems';
import { RunFailure } from '@inlay/platform/runner/runner';
import { NoData } from '../../kernel/config/data-dir.ts';
import { AppError, OperatorError } from '../../kernel/errors.ts';
import { ApiFailure, meansService } from './api-client.ts';
import { CommandError, type Exit } from './exit-codes.ts';

const onlyThere =
  'This command works only where Inlay runs, and there is no Inlay data here. INLAY_URL has no effect on it.\nRun it on that machine, in the environment of the service. If this is that machine, unset INLAY_URL.';

export function exitOf(error: unknown): Exit {
  if (error instanceof NoData && meansService(process.env)) return 'usage';
  return error instanceof CommandError ? error.exit : 'failure';
}

export function explain(error: unknown): string {
  if (error instanceof NoData && meansService(process.env)) return onlyThere;
  if (error instanceof OperatorError || error instanceof IncompatibleSchema || error instanceof StoreMoveRefused) {
    return error.message;
  }
  if (error instanceof AppError && error.code === 'operator_token_not_found') {
    return 'Operator token not found. See: inlay operator-token list';
  }
  if (error instanceof AppError && error.code === 'operator_token_ended') {
    return 'This operator token has expired or was revoked, so it cannot be rotated. Create a new one: inlay operator-token create --name <name>';
  }
  if (error instanceof ApiFailure) return error.text;
  if (error instanceof AppError && error.code === 'invalid_request') {
    const { faults } = (error as AppError<'invalid_request'>).facts;
    return faults.map(({ loc, msg }) => `${loc.slice(1).join('.')}: ${msg}`).join('\n');
  }
  if (error instanceof AppError && error.code === 'definition_in_use') {
    const { templates } = (error as AppError<'definition_in_use'>).facts;
    return `This connector is used by templates. Delete them first: ${templates.join(', ')}`;
  }
  if (error instanceof RunFailure) {
    const { message, internalMessage } = error.failure;
    return `The connector failed: ${message}${internalMessage ? `\n${internalMessage}` : ''}`;
  }
  if (error instanceof Problem) {
    const [what, list] = error.data?.resourceType === 'worker' ? ['Worker', 'workers'] : ['Connector', 'connector'];
    return error.title === 'resource-not-found'
      ? `${what} not found. See: inlay ${list} list`
      : String(error.data?.message ?? error.message);
  }
  if ((error as { code?: unknown }).code === 'EADDRINUSE') {
    return `Port ${process.env.PORT ?? 8080} is in use. Stop the program that uses it, or set PORT to a different port.`;
  }
  if (isStorageFailure(error)) {
    return `Cannot use the database: ${(error as Error).message}\nCheck INLAY_DATABASE_URL or INLAY_DATA_DIR, then run: inlay doctor`;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
