/*
 * Several tokens for one API, each with a quota of calls. Requests rotate among the tokens with calls left. If there
 * are none, they wait until the next reset. The API reports the numbers at a separate endpoint and may report them with
 * every response.
 */
import { isJsonObject } from '@inlay/protocol/json';
import {
  type ComponentDefinition,
  choice,
  component,
  either,
  type Given,
  integer,
  list,
  mapping,
  number,
  optional,
  required,
  template,
  text,
} from '../component.ts';
import { parseDuration, Timedelta } from '../dates/durations.ts';
import { parseDate } from '../dates/formats.ts';
import { parseIsoDate } from '../dates/iso-dates.ts';
import type { Answer } from '../http/answer.ts';
import { exchange } from '../http/exchange.ts';
import { RunFailure } from '../http/failures.ts';
import { emptyParts, type PreparedRequest, prepareRequest } from '../http/request.ts';
import { defaultResolution } from '../http/resolution.ts';
import { pythonText } from '../values/printing.ts';
import type { Matcher } from './call-budget.ts';
import { defaultErrorHandler } from './error-handlers.ts';
import type { Authenticator } from './requester.ts';

/** What is left of a pool for one token. */
interface Left {
  calls: number;
  limit: number;
  /** Unix timestamp in seconds. */
  resetAt: number;
  /** False for an API that counts no calls: then the numbers mean nothing. */
  isCounted: boolean;
}

interface Pool {
  name: string;
  matchers: readonly Matcher[];
  given: Given;
}

/** Minimum wait for the next reset: one that has already passed would be requested over and over. */
const shortestWait = 5;
const longestPause = 10;
/** How far the times of a reset in two answers may differ for the same reset. */
const skewSeconds = 60;

function makeTokens(given: Given): string[] {
  const value = given.value('tokens');
  const delimiter = given.text('token_delimiter') ?? ',';
  const texts = Array.isArray(value)
    ? value.map((one) => given.asTemplate(String(one)).text())
    : (given.template('tokens')?.text() ?? '').split(delimiter);
  const tokens = [...new Set(texts.map((token) => token.trim()).filter((token) => token !== ''))];
  if (tokens.length === 0) throw new RunFailure('The configuration has no token.', 'config_error');
  return tokens;
}

function makeTokenQuotas(given: Given): Authenticator {
  const tokens = makeTokens(given);
  const { run } = given;
  const method = given.text('auth_method') ?? 'Bearer';
  const header = given.text('header') ?? 'Authorization';
  const pools = (given.value('quotas') as unknown[]).map((value): Pool => {
    const pool = given.inside(value);
    return { name: pool.text('name') ?? '', matchers: pool.children<Matcher>('matchers'), given: pool };
  });
  const source = given.inside(given.value('quota_status_source'));
  const uncounted = (source.value('unavailable_status_codes') as number[] | undefined) ?? [];
  const mostWait = parseDuration(pythonText(given.rendered('max_wait_time', 'PT2H')));
  const mostSeconds = mostWait instanceof Timedelta ? mostWait.totalSeconds : mostWait.time.totalSeconds;
  const [fraction, least] = [given.number('budget_reserve_fraction') ?? 0.1, given.number('budget_min_reserve') ?? 50];
  const written = (token: string) => `${method} ${token}`.trim();
  let states: Map<string, Map<string, Left>> | undefined;
  let asking: Promise<void> | undefined;
  let active = 0;

  const leftOf = (token: string, { name }: Pool) => states?.get(token)?.get(name) as Left;
  const poolOf = (request: PreparedRequest) =>
    pools.find(({ matchers }) => matchers.some((matcher) => matcher.matches(request))) ??
    pools.find(({ matchers }) => matchers.length === 0) ??
    (pools[0] as Pool);

  /** Asks the API for the numbers of all tokens. Requests at the same time share the answers. */
  function ask(): Promise<void> {
    asking ??= (async () => {
      const found = new Map<string, Map<string, Left>>();
      for (const token of tokens) found.set(token, await quotasOf(token));
      states = found;
    })().finally(() => {
      asking = undefined;
    });
    return asking;
  }

  async function quotasOf(token: string): Promise<Map<string, Left>> {
    const headers = source.mapping('request_headers').value();
    const request = prepareRequest(source.text('http_method') ?? 'GET', source.template('url')?.text() ?? '', {
      ...emptyParts(),
      headers: { ...(isJsonObject(headers) ? headers : {}), [header]: written(token) },
    });
    const answer = await exchange(run, request, {
      streamName: 'quota_status',
      handler: {
        ...defaultErrorHandler,
        interpret: (outcome) =>
          'status' in outcome && uncounted.includes(outcome.status) ? { action: 'IGNORE' } : defaultResolution(outcome),
      },
    });
    const isCounted = !uncounted.includes(answer.status);
    return new Map(pools.map((pool) => [pool.name, isCounted ? readLeft(pool, answer) : notCounted()]));
  }

  function readLeft({ given: pool }: Pool, answer: Answer): Left {
    const at = (option: string) => {
      let value: unknown = answer.json;
      for (const key of pool.texts(option)) {
        if (!isJsonObject(value) || !Object.hasOwn(value, key))
          throw new RunFailure('The response about the remaining calls is missing a field.', 'config_error');
        value = value[key];
      }
      return value;
    };
    const calls = Math.trunc(Number(pythonText(at('remaining_path'))));
    const limit = pool.has('limit_path') ? Math.trunc(Number(pythonText(at('limit_path')))) : calls;
    return { calls, limit, resetAt: secondsOf(pythonText(at('reset_path'))), isCounted: true };
  }

  /** Takes one call from a pool and returns the token that provides it. */
  async function take(pool: Pool): Promise<string> {
    if (!states) await ask();
    let waited = 0;
    for (;;) {
      const token = tokens[active] as string;
      const left = leftOf(token, pool);
      if (!left.isCounted) return token;
      if (left.calls > 0) {
        left.calls--;
        const pause = pauseFor(pool, left);
        if (pause >= 0.1) await run.wait(pause, 'budget');
        return token;
      }
      if (tokens.some((one) => leftOf(one, pool).calls > 0 || !leftOf(one, pool).isCounted)) {
        active = (active + 1) % tokens.length;
        continue;
      }
      const next = Math.min(...tokens.map((one) => leftOf(one, pool).resetAt)) - run.clock.seconds();
      if (waited >= mostSeconds || next >= mostSeconds - waited)
        throw new RunFailure(
          'All tokens have used up their calls, and the next reset is too far away.',
          'transient_error',
        );
      const seconds = Math.min(Math.max(next, shortestWait), mostSeconds - waited);
      run.log(
        'INFO',
        `All tokens have used up their calls (${pool.name}). Continuing in ${Math.ceil(seconds)} seconds.`,
      );
      await run.wait(seconds, 'budget');
      waited += seconds;
      await ask();
    }
  }

  /** The last calls are spread over the time that is left. */
  function pauseFor(pool: Pool, own: Left): number {
    const all = tokens.map((token) => leftOf(token, pool));
    const isLow = all.every(({ calls, limit, isCounted }) => isCounted && calls <= Math.max(least, limit * fraction));
    const calls = all.reduce((sum, left) => sum + Math.max(left.calls, 0), 0);
    const seconds = own.resetAt - run.clock.seconds();
    return isLow && calls > 0 && seconds > 0 ? Math.min(seconds / calls, longestPause) : 0;
  }

  const tokenOf = (request: PreparedRequest) => tokens.find((token) => request.headers[header] === written(token));

  return {
    parts: async () => emptyParts(),
    renewedHeaders: async () => ({}),
    sign: async (request) => ({ [header]: written(await take(poolOf(request))) }),
    observe(request, answer) {
      const pool = poolOf(request);
      const token = tokenOf(request);
      const left = token === undefined ? undefined : leftOf(token, pool);
      if (left?.isCounted) update(left, pool.given, answer);
    },
    canGoOn(request) {
      const pool = poolOf(request);
      const sender = tokenOf(request);
      if (!states || sender === undefined || !leftOf(sender, pool).isCounted || leftOf(sender, pool).calls > 0)
        return false;
      return tokens.some((token) => leftOf(token, pool).isCounted && leftOf(token, pool).calls > 0);
    },
  };
}

const notCounted = (): Left => ({ calls: 0, limit: 0, resetAt: 0, isCounted: false });

function secondsOf(value: string): number {
  return (/^\d+(\.\d+)?$/.test(value) ? parseDate(value, '%s_as_float') : parseIsoDate(value)).timestamp;
}

/** The remaining calls reported by a response. Responses may arrive out of order. */
function update(left: Left, pool: Given, answer: Answer): void {
  const headerOf = (option: string) => (pool.has(option) ? answer.header(pool.text(option) ?? '') : undefined);
  const integerIn = (option: string) => {
    const value = headerOf(option)?.trim();
    return value !== undefined && /^-?\d+$/.test(value) ? Number(value) : undefined;
  };
  const spent = (pool.value('exhaustion_status_codes') as number[] | undefined) ?? [];
  const isSpent = spent.includes(answer.status);
  const calls = integerIn('remaining_header') ?? (isSpent ? 0 : undefined);
  const limit = integerIn('limit_header');
  const resetAt = dateIn(headerOf('reset_header'));
  if (limit !== undefined && limit > 0 && (resetAt === undefined || resetAt >= left.resetAt)) left.limit = limit;
  if (resetAt !== undefined && resetAt > left.resetAt) {
    left.resetAt = resetAt;
    left.calls = calls ?? left.limit;
  } else if (calls !== undefined) {
    const isOfNow = resetAt === undefined || resetAt >= left.resetAt - skewSeconds;
    if (isOfNow || (calls <= 0 && isSpent)) left.calls = Math.min(left.calls, calls);
  }
}

function dateIn(value: string | undefined): number | undefined {
  try {
    return value === undefined ? undefined : secondsOf(value.trim());
  } catch {
    // A header that is not a date is ignored.
    return undefined;
  }
}

export const tokenQuotaComponents: ComponentDefinition[] = [
  {
    name: 'RateLimitedMultipleTokenAuthenticator',
    step: 'S4',
    words: 'Rotates several tokens based on their remaining calls.',
    options: {
      tokens: required(either(list(template), template), 'The tokens, as a list or one string.'),
      token_delimiter: optional(text, 'The separator between tokens in a string.', ','),
      auth_method: optional(text, 'The prefix of a token in the header.', 'Bearer'),
      header: optional(text, 'The header to send the token in.', 'Authorization'),
      quota_status_source: required(component('QuotaStatusSource'), 'The endpoint that reports the remaining calls.'),
      quotas: required(list(component('TokenQuota')), 'The groups of calls that are counted separately.'),
      max_wait_time: optional(template, 'The maximum wait for more calls, such as PT2H.', 'PT2H'),
      budget_reserve_fraction: optional(number, 'The share of calls that is spread over the remaining time.', 0.1),
      budget_min_reserve: optional(integer, 'The minimum number of calls that are spread.', 50),
    },
    make: makeTokenQuotas,
  },
  {
    name: 'QuotaStatusSource',
    step: 'S4',
    words: 'The endpoint that reports the remaining calls.',
    options: {
      url: required(template, 'The URL.'),
      http_method: optional(choice('GET', 'POST'), 'The HTTP method.', 'GET'),
      request_headers: optional(mapping(template), 'Headers.'),
      unavailable_status_codes: optional(list(integer), 'Status codes that mean the API does not count calls.'),
    },
  },
  {
    name: 'TokenQuota',
    step: 'S4',
    words: 'A group of calls that is counted separately.',
    options: {
      name: required(text, 'Name of the group.'),
      remaining_path: required(list(text), 'Path of the remaining calls in the response.'),
      reset_path: required(list(text), 'Path of the time of the next reset in the response.'),
      limit_path: optional(list(text), 'Path of the total number of calls in the response.'),
      matchers: optional(
        list(component('HttpRequestRegexMatcher')),
        'The requests in this group (default: all others).',
      ),
      remaining_header: optional(text, 'The response header with the remaining calls.'),
      reset_header: optional(text, 'The response header with the time of the next reset.'),
      limit_header: optional(text, 'The response header with the total number of calls.'),
      exhaustion_status_codes: optional(list(integer), 'Status codes that mean no calls are left.'),
    },
  },
];
