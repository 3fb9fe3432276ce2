/* Requests smaller pages if the API rejects the manifest's page size. */
import { type ComponentDefinition, choice, type Given, integer, number, optional, text } from '../component.ts';
import { RunFailure } from '../http/failures.ts';

/** The size of the pages of one slice. */
export interface PageSizes {
  /** Undefined: the manifest's size. */
  readonly current: number | undefined;
  /** Makes the next page smaller, after a wait. Throws a RunFailure if it cannot become smaller. */
  reduce(): Promise<void>;
  /** A page was read. */
  pageRead(): void;
}

/** `sent`: the size that the paginator sends; undefined if it sends none. */
export function pageSizes(given: Given, sent: number | undefined): PageSizes {
  const reduction = given.inside(given.value('page_size_reduction'));
  const factor = reduction.number('reduction_factor') ?? 2;
  const least = reduction.number('minimum_page_size') ?? 1;
  const mostAttempts = reduction.number('max_attempts') ?? 5;
  const mostAtLeast = reduction.number('retries_at_minimum_page_size') ?? 0;
  const backoff = reduction.number('backoff_seconds') ?? 0.5;
  const growsBack = reduction.text('reset_policy') === 'AFTER_SUCCESSFUL_PAGE';
  const { streamName } = given.making;
  let current: number | undefined;
  let attempts = 0;
  let attemptsAtLeast = 0;

  function exhausted(words: string): RunFailure {
    const advice = reduction.text('failure_message')?.trim();
    return new RunFailure(advice ? `${words} ${advice}` : words, 'transient_error');
  }

  return {
    get current() {
      return current;
    },
    async reduce() {
      if (sent === undefined) {
        const words = `The pages of ${streamName} must be smaller, but the manifest sends no page size. Add a page_size and a page_size_option.`;
        throw new RunFailure(words, 'config_error');
      }
      const before = current ?? sent;
      const next = Math.max(least, Math.floor(before / factor));
      if (next < before) {
        if (++attempts > mostAttempts)
          throw exhausted(`The API rejects pages of ${streamName} of any size, down to ${before} records.`);
        current = next;
        await given.run.wait(backoff * attempts, 'retry');
        return;
      }
      if (current === undefined && least > 1) {
        const words = `Pages of ${streamName} have ${before} records and cannot become smaller, because the manifest sets a minimum of ${least}.`;
        throw new RunFailure(words, 'config_error');
      }
      if (++attemptsAtLeast > mostAtLeast)
        throw exhausted(`The API rejects even the smallest pages of ${streamName}, with ${before} records.`);
      await given.run.wait(backoff * attemptsAtLeast, 'retry');
    },
    pageRead() {
      attempts = 0;
      attemptsAtLeast = 0;
      if (growsBack) current = undefined;
    },
  };
}

export const pageSizeComponents: ComponentDefinition[] = [
  {
    name: 'PageSizeReduction',
    step: 'S4',
    words: 'How to reduce the page size when an error handler says REDUCE_PAGE_SIZE. The same page is requested again.',
    options: {
      reduction_factor: optional(number, 'The divisor of the page size.', 2),
      minimum_page_size: optional(integer, 'The minimum page size.', 1),
      max_attempts: optional(integer, 'How many times the size can be reduced for one page.', 5),
      reset_policy: optional(
        choice('NEVER', 'AFTER_SUCCESSFUL_PAGE'),
        'Whether the next page uses the original size again.',
        'NEVER',
      ),
      backoff_seconds: optional(number, 'How long to wait, multiplied by the number of attempts.', 0.5),
      retries_at_minimum_page_size: optional(integer, 'How many times the smallest page is requested again.', 0),
      failure_message: optional(text, 'The error message to show when pages cannot become smaller.'),
    },
    rule(values) {
      if (Number(values.reduction_factor ?? 2) <= 1) return 'The reduction_factor must be greater than 1';
      if (Number(values.minimum_page_size ?? 1) < 1) return 'The minimum_page_size must be at least 1';
      if (Number(values.max_attempts ?? 1) < 1) return 'The max_attempts must be at least 1';
      return undefined;
    },
  },
];
