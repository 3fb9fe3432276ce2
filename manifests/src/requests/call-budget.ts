/* How often the API may be asked. */
import {
  type ComponentDefinition,
  component,
  either,
  type Given,
  integer,
  list,
  mapping,
  optional,
  required,
  template,
  text,
} from '../component.ts';
import { parseDuration } from '../dates/durations.ts';
import type { BudgetRules, CallPolicy } from '../http/budget.ts';
import { RunFailure } from '../http/failures.ts';
import type { PreparedRequest } from '../http/request.ts';
import { isFoundIn } from '../run/patterns.ts';

export interface Matcher {
  matches(request: PreparedRequest): boolean;
  /** How many calls a request counts for. */
  weight: number;
}

function makeMatcher(given: Given): Matcher {
  const method = given.text('method')?.toUpperCase();
  const base = given.text('url_base')?.replace(/\/+$/, '');
  const pattern = given.text('url_path_pattern');
  const parameters = Object.entries((given.value('params') ?? {}) as Record<string, unknown>);
  const headers = Object.entries((given.value('headers') ?? {}) as Record<string, unknown>);
  const matches = (request: PreparedRequest) => {
    if (method !== undefined && request.method !== method) return false;
    if (base !== undefined && request.url.origin !== base) return false;
    if (pattern !== undefined && !isFoundIn(pattern, request.url.pathname.replace(/\/+$/, ''))) return false;
    if (!parameters.every(([key, value]) => request.url.searchParams.get(key) === String(value))) return false;
    const sent = new Map(Object.entries(request.headers).map(([key, value]) => [key.toLowerCase(), value]));
    return headers.every(([key, value]) => sent.get(key.toLowerCase()) === String(value));
  };
  return { matches, weight: Number(given.rendered('weight') || 1) };
}

function matching(given: Given): { matches: CallPolicy['matches']; weightOf(request: PreparedRequest): number } {
  const matchers = given.children<Matcher>('matchers');
  const find = (request: PreparedRequest) => matchers.find((matcher) => matcher.matches(request));
  return {
    matches: (request) => matchers.length === 0 || find(request) !== undefined,
    weightOf: (request) => find(request)?.weight ?? 1,
  };
}

/** A request that counts for more calls than a policy has would wait for ever. */
function checkWeight(weight: number, limit: number): void {
  if (weight > limit) throw new RunFailure(`A request counts as ${weight} calls, but its policy allows only ${limit}.`);
}

interface Rate {
  limit: number;
  seconds: number;
}

function makeRate(given: Given): Rate {
  return {
    limit: Number(given.rendered('limit')),
    seconds: parseDuration(given.text('interval') ?? '').time.totalSeconds,
  };
}

/** At most so many calls in any stretch of time of a length. */
function makeMovingWindow(given: Given): CallPolicy {
  const rates = given.children<Rate>('rates');
  const longest = Math.max(...rates.map(({ seconds }) => seconds), 0);
  const most = Math.max(...rates.map(({ limit }) => limit), 0);
  const least = Math.min(...rates.map(({ limit }) => limit));
  const { matches, weightOf } = matching(given);
  const calls: number[] = [];
  const note = (now: number) => {
    calls.push(now);
    if (calls.length > most) calls.shift();
  };
  let latest = 0;
  return {
    matches,
    take(request, now) {
      latest = now;
      const weight = weightOf(request);
      checkWeight(weight, least);
      while (calls.length > 0 && (calls[0] as number) <= now - longest) calls.shift();
      let wait = 0;
      for (const { limit, seconds } of rates) {
        // The call that must be out of the stretch before there is room for this one.
        const nth = calls.at(weight - 1 - limit);
        if (calls.length + weight > limit && nth !== undefined) wait = Math.max(wait, nth + seconds - now);
      }
      if (wait > 0) return wait;
      for (let count = 0; count < weight; count++) note(now);
      return 0;
    },
    // An API without a call left, which does not say until when, has one call less than was counted.
    update(left, resetAt) {
      if (left === 0 && resetAt === undefined && calls.length < (rates[0]?.limit ?? 0)) note(latest);
    },
  };
}

/**
 * A number of calls until the next reset. The API may report when that is; otherwise the first call starts the first
 * window.
 */
function makeFixedWindow(given: Given): CallPolicy {
  const limit = given.number('call_limit') ?? 0;
  const period = parseDuration(given.text('period') ?? 'PT0S').time.totalSeconds;
  let used = 0;
  let resetAt: number | undefined;
  const { matches, weightOf } = matching(given);
  return {
    matches,
    take(request, now) {
      const weight = weightOf(request);
      checkWeight(weight, limit);
      resetAt ??= now + period;
      if (now >= resetAt) {
        used = 0;
        // A window without requests expires unused.
        resetAt = period > 0 ? resetAt + period * (Math.floor((now - resetAt) / period) + 1) : now;
      }
      // A timer may be a little early.
      if (used + weight > limit) return Math.max(resetAt - now, 0.001);
      used += weight;
      return 0;
    },
    update(left, reset) {
      if (reset !== undefined && reset !== resetAt) resetAt = reset;
      if (left !== undefined) used = Math.max(used, limit - left);
    },
  };
}

function makeBudget(given: Given): BudgetRules {
  return {
    policies: given.children<CallPolicy>('policies'),
    remainingHeader: given.text('ratelimit_remaining_header') ?? 'ratelimit-remaining',
    resetHeader: given.text('ratelimit_reset_header') ?? 'ratelimit-reset',
    statusesOfLimit: (given.value('status_codes_for_ratelimit_hit') as number[] | undefined) ?? [429],
  };
}

const matchers = required(
  list(component('HttpRequestRegexMatcher')),
  'The requests that the policy applies to (default: all).',
);

export const callBudgetComponents: ComponentDefinition[] = [
  {
    name: 'HTTPAPIBudget',
    step: 'S2',
    words: 'Limits the requests of all streams together. The first matching policy applies to a request.',
    options: {
      policies: required(
        list(component('FixedWindowCallRatePolicy', 'MovingWindowCallRatePolicy', 'UnlimitedCallRatePolicy')),
        'The policies.',
      ),
      ratelimit_reset_header: optional(text, 'The response header with the time of the next reset.', 'ratelimit-reset'),
      ratelimit_remaining_header: optional(
        text,
        'The response header with the remaining calls.',
        'ratelimit-remaining',
      ),
      status_codes_for_ratelimit_hit: optional(list(integer), 'Status codes that mean no calls are left.', [429]),
    },
    make: makeBudget,
  },
  {
    name: 'FixedWindowCallRatePolicy',
    step: 'S2',
    words: 'Allows a number of calls per fixed period.',
    options: {
      period: required(text, 'The period, such as PT1H.'),
      call_limit: required(integer, 'The number of calls.'),
      matchers,
    },
    make: makeFixedWindow,
  },
  {
    name: 'MovingWindowCallRatePolicy',
    step: 'S2',
    words: 'Allows a number of calls in any moving time window.',
    options: { rates: required(list(component('Rate')), 'The rates, all of which apply.'), matchers },
    make: makeMovingWindow,
  },
  {
    name: 'UnlimitedCallRatePolicy',
    step: 'S2',
    words: 'Does not limit calls.',
    options: { matchers },
    make: (given): CallPolicy => ({ matches: matching(given).matches, take: () => 0, update() {} }),
  },
  {
    name: 'Rate',
    step: 'S2',
    words: 'A number of calls in a time window.',
    options: {
      limit: required(either(integer, template), 'The number of calls.'),
      interval: required(text, 'The time window, such as PT1M.'),
    },
    make: makeRate,
  },
  {
    name: 'HttpRequestRegexMatcher',
    step: 'S2',
    words: 'Matches requests by method, URL, parameters and headers.',
    options: {
      method: optional(text, 'The method.'),
      url_base: optional(text, 'The start of the URL.'),
      url_path_pattern: optional(text, 'A regular expression that the path must contain.'),
      params: optional(mapping(text), 'Query parameters and their values.'),
      headers: optional(mapping(text), 'Headers and their values.'),
      weight: optional(either(integer, template), 'How many calls such a request counts as.', 1),
    },
    make: makeMatcher,
  },
];
