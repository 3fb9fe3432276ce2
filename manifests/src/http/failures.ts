/* Failures of a run, with what kind of failure each is and words for people. */
import type { FailureType } from '@inlay/protocol/protocol';

/** A failure that a manifest or the language foresees. Any other error is a `system_error` of the stream. */
export class RunFailure extends Error {
  override name = 'RunFailure';
  readonly failureType: FailureType;
  /** The settings at fault, where a component knows them. */
  readonly fields: readonly string[] | undefined;

  constructor(
    message: string,
    failureType: FailureType = 'system_error',
    { fields, ...options }: ErrorOptions & { fields?: readonly string[] | undefined } = {},
  ) {
    super(message, options);
    this.failureType = failureType;
    this.fields = fields;
  }
}

/** The API asks for smaller pages. The message is what the manifest says about it. */
export class SmallerPageNeeded extends Error {
  override name = 'SmallerPageNeeded';
}

/** The API requests to restart the pages of a slice. */
export class PaginationReset extends Error {
  override name = 'PaginationReset';
}

/** A fresh access token is available for repeating the request. */
export class TokenReplaced extends Error {
  override name = 'TokenReplaced';
}
