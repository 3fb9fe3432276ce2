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
import type { PreparedRequest } from '../http/request.ts';
import { isFoundIn } from '../run/patterns.ts';

type Matcher = (request: PreparedRequest) => boolean;

function makeMatcher(given: Given): Matcher {
  const method = given.text('method')?.toUpperCase();
  const base = given.text('url_base')?.replace(/\/+$/, '');
  const pattern = given.text('url_path_pattern');
  const parameters = Object.entries((given.value('params') ?? {}) as Record<string, unknown>);
  const headers = Object.entries((given.value('headers') ?? {}) as Record<string, unknown>);
  return (request) => {
    if (method !== undefined && request.method !== method) return false;
    if (base !== undefined && request.url.origin !== base) return false;
    if (pattern !== undefined && !isFoundIn(pattern, request.url.pathname)) return false;
    if (!parameters.every(([key, value]) => request.url.searchParams.get(key) === String(value))) return false;
    const sent = new Map(Object.entries(request.headers).map(([key, value]) => [key.toLowerCase(), value]));
    return headers.every(([key, value]) => sent.get(key.toLowerCase()) === String(value));
  };
}

function matching(given: Given): CallPolicy['matches'] {
  const matchers = given.children<Matcher>('matchers');
  return (request) => matchers.length === 0 || matchers.some((matches) => matches(request));
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
  const calls: number[] = [];
  return {
    matches: matching(given),
    take(_request, now) {
      while (calls.length > 0 && (calls[0] as number) <= now - longest) calls.shift();
      let wait = 0;
      for (const { limit, seconds } of rates) {
        const nth = calls.at(-limit);
        if (calls.length >= limit && nth !== undefined) wait = Math.max(wait, nth + seconds - now);
      }
      if (wait > 0) return wait;
      calls.push(now);
      if (calls.length > most) calls.shift();
      return 0;
    },
    update() {},
  };
}

/** So many calls until the next reset, of which the API tells. Before it has told, the first window is without end. */
function makeFixedWindow(given: Given): CallPolicy {
  const limit = given.number('call_limit') ?? 0;
  const period = parseDuration(given.text('period') ?? 'PT0S').time.totalSeconds;
  let used = 0;
  let resetAt: number | undefined;
  return {
    matches: matching(given),
    take(_request, now) {
      if (resetAt !== undefined && now >= resetAt) {
        used = 0;
        resetAt += period;
      }
      if (used >= limit) return Math.max((resetAt ?? now + period) - now, 0.001);
      used++;
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

const matchers = required(list(component('HttpRequestRegexMatcher')), 'The requests that it is for; none is all.');

export const callBudgetComponents: ComponentDefinition[] = [
  {
    name: 'HTTPAPIBudget',
    step: 'S2',
    words: 'How often the API may be asked, for all streams together. The first policy that fits a request counts.',
    options: {
      policies: required(
        list(component('FixedWindowCallRatePolicy', 'MovingWindowCallRatePolicy', 'UnlimitedCallRatePolicy')),
        'The policies.',
      ),
      ratelimit_reset_header: optional(text, 'The header with the time of the next reset.', 'ratelimit-reset'),
      ratelimit_remaining_header: optional(text, 'The header with the calls that are left.', 'ratelimit-remaining'),
      status_codes_for_ratelimit_hit: optional(list(integer), 'Statuses that say that no call is left.', [429]),
    },
    make: makeBudget,
  },
  {
    name: 'FixedWindowCallRatePolicy',
    step: 'S2',
    words: 'A number of calls for each period.',
    options: {
      period: required(text, 'The period, such as PT1H.'),
      call_limit: required(integer, 'The calls.'),
      matchers,
    },
    make: makeFixedWindow,
  },
  {
    name: 'MovingWindowCallRatePolicy',
    step: 'S2',
    words: 'A number of calls in any stretch of time.',
    options: { rates: required(list(component('Rate')), 'The rates; all of them hold.'), matchers },
    make: makeMovingWindow,
  },
  {
    name: 'UnlimitedCallRatePolicy',
    step: 'S2',
    words: 'As many calls as wanted.',
    options: { matchers },
    make: (given): CallPolicy => ({ matches: matching(given), take: () => 0, update() {} }),
  },
  {
    name: 'Rate',
    step: 'S2',
    words: 'A number of calls in a stretch of time.',
    options: {
      limit: required(either(integer, template), 'The calls.'),
      interval: required(text, 'The stretch, such as PT1M.'),
    },
    make: makeRate,
  },
  {
    name: 'HttpRequestRegexMatcher',
    step: 'S2',
    words: 'Tells requests by their method, address, parameters and headers.',
    options: {
      method: optional(text, 'The method.'),
      url_base: optional(text, 'The beginning of the address.'),
      url_path_pattern: optional(text, 'A pattern that is found in the path.'),
      params: optional(mapping(text), 'Parameters with their values.'),
      headers: optional(mapping(text), 'Headers with their values.'),
    },
    make: makeMatcher,
  },
];
