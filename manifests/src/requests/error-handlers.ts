/* How to handle responses that are not successful, and how long to wait before a retry. */
import {
  type ComponentDefinition,
  choice,
  component,
  condition,
  either,
  type Given,
  integer,
  list,
  number,
  optional,
  required,
  template,
  text,
} from '../component.ts';
import { Answer } from '../http/answer.ts';
import { RunFailure } from '../http/failures.ts';
import {
  type Action,
  actions,
  defaultResolution,
  type ErrorHandler,
  type Outcome,
  type Resolution,
  resolutionOfStatus,
  type WaitStrategy,
} from '../http/resolution.ts';
import { matchAtStart } from '../run/patterns.ts';
import { pythonText } from '../values/printing.ts';
import { TemplateError } from '../values/template-error.ts';

type ResponseFilter = (outcome: Outcome) => Resolution | undefined;

const defaultRetries = 5;
const defaultSeconds = 600;

export const defaultErrorHandler: ErrorHandler = {
  interpret: defaultResolution,
  maxRetries: defaultRetries,
  maxSeconds: defaultSeconds,
  waits: [],
};

function makeResponseFilter(given: Given): ResponseFilter {
  const statuses = new Set((given.value('http_codes') as number[] | undefined)?.map(Number));
  const action = given.text('action') as Action | undefined;
  const failureType = given.text('failure_type') as Resolution['failureType'];
  const contained = given.text('error_message_contains');
  const predicate = given.condition('predicate');
  const message = given.template('error_message');
  const matches = (answer: Answer) => {
    if (statuses.has(answer.status)) return true;
    // A body that is read while it comes is not looked at here.
    if (answer.stream) return false;
    const names = () => ({ response: answer.json ?? {}, headers: answer.headersByAnyCase });
    if (predicate?.isMet({ ...names(), config: {} })) return true;
    return contained !== undefined && contained !== '' && (answer.errorMessage ?? '').includes(contained);
  };
  return (outcome) => {
    if (action === undefined || !(outcome instanceof Answer) || !matches(outcome)) return undefined;
    const byDefault = resolutionOfStatus(outcome.status);
    const names = { response: outcome.stream ? {} : (outcome.json ?? {}), headers: outcome.headersByAnyCase };
    const own = message ? pythonText(message.value(names)) : '';
    const words = own === '' ? byDefault?.message : own;
    return {
      action,
      failureType: (action === 'FAIL' ? failureType : undefined) ?? byDefault?.failureType ?? 'system_error',
      ...(words !== undefined && { message: words }),
    };
  };
}

function makeDefaultErrorHandler(given: Given): ErrorHandler {
  const filters = given.children<ResponseFilter>('response_filters');
  // A template without a result leaves it to the default.
  const wanted = given.rendered('max_retries') ?? '';
  const retries = wanted === '' ? defaultRetries : Math.trunc(Number(wanted));
  if (!Number.isInteger(retries)) throw new Error('max_retries is not a whole number.');
  return {
    maxRetries: retries,
    maxSeconds: defaultSeconds,
    waits: given.children<WaitStrategy>('backoff_strategies'),
    interpret(outcome) {
      for (const filter of filters) {
        const resolution = filter(outcome);
        if (resolution) return resolution;
      }
      return defaultResolution(outcome);
    },
  };
}

/** Actions with which one of several handlers has decided. */
const final: readonly Action[] = ['SUCCESS', 'RETRY', 'IGNORE', 'RESET_PAGINATION', 'REDUCE_PAGE_SIZE'];

function makeCompositeErrorHandler(given: Given): ErrorHandler {
  const handlers = given.children<ErrorHandler>('error_handlers');
  const [first] = handlers;
  if (!first) throw new Error('A CompositeErrorHandler requires at least one error handler.');
  return {
    maxRetries: first.maxRetries,
    maxSeconds: Math.max(...handlers.map(({ maxSeconds }) => maxSeconds)),
    waits: handlers.flatMap(({ waits }) => waits),
    interpret(outcome) {
      let last = defaultResolution(outcome);
      for (const handler of handlers) {
        last = handler.interpret(outcome);
        if (final.includes(last.action)) return last;
      }
      return last;
    },
  };
}

/** Longer by chance, up to twice the range, so that many who wait do not come back at the same time. */
function withChance(given: Given, seconds: number): number {
  const range = Number(given.rendered('jitter_range_in_seconds') ?? 0) || 0;
  return seconds + Math.random() * range * 2;
}

function makeConstantWait(given: Given): WaitStrategy {
  const time = given.template('backoff_time_in_seconds');
  return {
    seconds(outcome, attempt) {
      const answer = outcome instanceof Answer ? outcome : undefined;
      const names = { response: answer?.json ?? {}, headers: answer?.headersByAnyCase ?? {}, attempt_count: attempt };
      const seconds = Number(valueOrNothing(() => time?.value(names)) ?? 0);
      // A time that is none leaves it to the next strategy.
      return seconds ? withChance(given, seconds) : undefined;
    },
  };
}

/** Undefined where an answer lacks what a template asks for. */
function valueOrNothing(evaluate: () => unknown): unknown {
  try {
    return evaluate();
  } catch (error) {
    if (error instanceof TemplateError && error.fault === 'missing') return undefined;
    throw error;
  }
}

function makeExponentialWait(given: Given): WaitStrategy {
  const factor = () => Number(given.rendered('factor', '5')) || 5;
  return { seconds: (_outcome, attempt) => withChance(given, factor() * 2 ** attempt) };
}

function numberInHeader(outcome: Outcome, header: string, pattern: string | undefined): number | undefined {
  const value = outcome instanceof Answer ? outcome.header(header) : undefined;
  if (!value) return undefined;
  const found = (pattern === undefined ? undefined : matchAtStart(pattern, value)) ?? value;
  const isNumber = /^\s*[+-]?(\d+(_?\d+)*\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/.test(found);
  return isNumber ? Number(found.trim()) : undefined;
}

function makeWaitTimeFromHeader(given: Given): WaitStrategy {
  const [header, pattern] = [given.template('header'), given.template('regex')];
  return {
    seconds: (outcome) => allowed(given, numberInHeader(outcome, header?.text() ?? '', pattern?.text())),
  };
}

/** Throws a RunFailure for a wait that reaches the limit of the manifest. A limit of 0 allows none at all. */
function allowed(given: Given, seconds: number | undefined): number | undefined {
  const limit = given.rendered('max_waiting_time_in_seconds');
  if (limit === undefined || seconds === undefined) return seconds;
  const most = limit === '' || limit === null ? Number.NaN : Number(limit);
  if (Number.isNaN(most)) throw new RunFailure('The max_waiting_time_in_seconds of the manifest is not a number.');
  if (seconds < most) return seconds;
  const words = `The API asks to wait ${Math.ceil(seconds)} seconds, which exceeds the maximum wait of this stream.`;
  throw new RunFailure(words, 'transient_error');
}

function makeWaitUntilTimeFromHeader(given: Given): WaitStrategy {
  const [header, pattern, minimum] = [given.template('header'), given.template('regex'), given.template('min_wait')];
  return {
    seconds(outcome) {
      const until = numberInHeader(outcome, header?.text() ?? '', pattern?.text());
      const least = Number(minimum?.value() ?? 0) || 0;
      if (!until) return allowed(given, least || undefined);
      const seconds = until - given.run.clock.seconds();
      if (least) return allowed(given, Math.max(seconds, least));
      return seconds < 0 ? undefined : allowed(given, seconds);
    },
  };
}

const waitStrategies = [
  'ConstantBackoffStrategy',
  'ExponentialBackoffStrategy',
  'WaitTimeFromHeader',
  'WaitUntilTimeFromHeader',
  'CustomBackoffStrategy',
];

const byChance = {
  jitter_range_in_seconds: optional(either(number, template), 'Adds a random wait of up to twice this many seconds.'),
};

const atMost = {
  max_waiting_time_in_seconds: optional(
    either(number, template),
    'Fails the stream instead of waiting this many seconds or longer.',
  ),
};

export const errorHandlerComponents: ComponentDefinition[] = [
  {
    name: 'DefaultErrorHandler',
    step: 'S1',
    words:
      'Decides with filters how to handle a response. If no filter matches, 400, 401, 403, 404 and 405 fail the stream and all other failures are retried.',
    options: {
      response_filters: optional(
        list(component('HttpResponseFilter')),
        'Rules for responses. The first match applies.',
      ),
      backoff_strategies: optional(
        list(component(...waitStrategies)),
        'How long to wait before a retry. The first strategy that returns a time applies.',
      ),
      max_retries: optional(either(integer, template), 'The maximum number of retries.', 5),
    },
    make: makeDefaultErrorHandler,
  },
  {
    name: 'CompositeErrorHandler',
    step: 'S1',
    words: 'Tries several error handlers in order until one accepts, ignores or retries the response.',
    options: {
      error_handlers: required(
        list(component('CompositeErrorHandler', 'DefaultErrorHandler', 'CustomErrorHandler')),
        'The error handlers. The first one sets the number of retries.',
      ),
    },
    make: makeCompositeErrorHandler,
  },
  {
    name: 'HttpResponseFilter',
    step: 'S1',
    words: 'A rule for responses: conditions and an action.',
    options: {
      action: optional(choice(...actions), 'What to do with a matching response.'),
      failure_type: optional(choice('system_error', 'config_error', 'transient_error'), 'The failure type for FAIL.'),
      http_codes: optional(list(integer), 'Matches responses with one of these status codes.'),
      error_message_contains: optional(text, 'Matches responses whose error message contains this text.'),
      predicate: optional(condition, 'Matches responses for which this is true. Available: response and headers.'),
      error_message: optional(template, 'The error message to show. Available: response and headers.'),
    },
    make: makeResponseFilter,
  },
  {
    name: 'ConstantBackoffStrategy',
    step: 'S1',
    words: 'Waits the same time before every retry, plus one second.',
    options: {
      backoff_time_in_seconds: required(
        either(number, template),
        'How long to wait in seconds. Available: response, headers and attempt_count.',
      ),
      ...byChance,
    },
    make: makeConstantWait,
  },
  {
    name: 'ExponentialBackoffStrategy',
    step: 'S1',
    words: 'Doubles the wait before every retry, starting with twice the factor, plus one second.',
    options: {
      factor: optional(either(number, template), 'The factor in seconds.', 5),
      ...byChance,
    },
    make: makeExponentialWait,
  },
  {
    name: 'WaitTimeFromHeader',
    step: 'S2',
    words: 'Waits the number of seconds in a response header, plus one second.',
    options: {
      header: required(template, 'The name of the header.'),
      regex: optional(template, 'A regular expression for the number, matched at the start of the value.'),
      ...atMost,
    },
    make: makeWaitTimeFromHeader,
  },
  {
    name: 'WaitUntilTimeFromHeader',
    step: 'S2',
    words: 'Waits until the time in a response header (Unix timestamp), plus one second.',
    options: {
      header: required(template, 'The name of the header.'),
      min_wait: optional(either(number, template), 'The minimum wait in seconds.'),
      regex: optional(template, 'A regular expression for the number, matched at the start of the value.'),
      ...atMost,
    },
    make: makeWaitUntilTimeFromHeader,
  },
];
