/**
 * The only error class of the service. A rule throws an `AppError` with a code from the contract's closed list and its
 * facts. The list also defines status and text. Any other error that reaches a response is a bug, and its message is
 * never sent.
 */
import type { ErrorCode, FactsOf, RequiredFacts } from '@inlay/contract/error-catalogue';
import type { Fault } from '@inlay/contract/errors';

/** The facts must be given when one of the possible codes requires facts. */
type FactsAndOptions<Code extends ErrorCode> = [Extract<Code, keyof RequiredFacts>] extends [never]
  ? [facts?: FactsOf<Code>, options?: ErrorOptions]
  : [facts: FactsOf<Code>, options?: ErrorOptions];

export class AppError<Code extends ErrorCode = ErrorCode> extends Error {
  readonly code: Code;
  readonly facts: FactsOf<Code>;

  constructor(code: Code, ...[facts, options]: FactsAndOptions<Code>) {
    super(code, options);
    this.name = 'AppError';
    this.code = code;
    // The type lets a caller leave the facts out only where none are required.
    this.facts = facts ?? ({} as FactsOf<Code>);
  }
}

export function invalidRequest(...faults: Fault[]): AppError<'invalid_request'> {
  return new AppError('invalid_request', { faults });
}

/** Something the operator has to fix before the service can start or continue. The message says what to do. */
export class OperatorError extends Error {}
