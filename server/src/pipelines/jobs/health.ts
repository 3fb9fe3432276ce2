/**
 * How a connection does, as one idea for API, widget, command line and metrics. Pure: what is known goes in, its health comes
 * out. The health of a source and of a workspace is the worst of its connections.
 *
 * What always holds: a retry is no new start. Once a sync has failed, the connection is failing until a sync succeeds,
 * whatever runs meanwhile. Where only a person can help, it needs attention, and says whose.
 */
import { problemOnOurSide } from '@inlay/contract/pipelines/failure-words';
import type { Audience, HealthState } from '@inlay/contract/pipelines/health';

/** What went wrong, as the platform tells it. A hosted platform tells nothing of it. */
export interface JobFailure {
  /** `config_error`: somebody has to change something. Others may pass by themselves. */
  kind: 'config_error' | 'transient_error' | 'system_error' | 'unknown';
  origin: 'source' | 'destination' | 'platform' | 'unknown';
  /** For operators, and for customers. */
  message: string | null;
  customerMessage: string | null;
  whose: Audience;
}

type PauseWords = Record<Audience, string>;

export interface ConnectionFacts {
  /** Its workspace is inactive, or somebody has paused the connection itself. */
  isPaused: boolean;
  /** Where a quota has paused it: what each audience reads. */
  pausedBecause: PauseWords | null;
  /** Why the platform itself has made it inactive. */
  stoppedBecause: string | null;
  /** It is no longer on the platform: what to do about that. */
  gone: string | null;
  /** Why the platform would not take the source, its destination or the connection. */
  refused: { message: string; customerMessage: string; by: Audience } | null;
  /** The sign-in that the source needs has ended. */
  signIn: { message: string; customerMessage: string; by: Audience } | null;
  /** The job that has not ended. */
  open: { startedAt: number; failedAt: number | null; failure: JobFailure | null } | null;
  /** Jobs that failed since the last success: how many, and the first and the last of them. */
  failed: { count: number; firstAt: number; first: JobFailure; last: JobFailure } | null;
  lastGoodAt: number | null;
}

export interface Health {
  state: HealthState;
  /** Since when it is failing or needs attention, where that is known. */
  since: number | null;
  /** Syncs that failed in a row, the one that is tried again included. */
  failuresInARow: number;
  /** The first failure of the row. */
  firstError: JobFailure | null;
  lastGoodAt: number | null;
  /** A sync runs, or waits for its turn, although it has been failing. */
  isTryingAgain: boolean;
  /** Who has to do something, and what. */
  attention: { by: Audience; what: string | null; customerWhat: string | null } | null;
  /** Why it is paused, where that is not somebody's choice. */
  pausedBecause: PauseWords | null;
}

const worstFirst: readonly HealthState[] = [
  'failing',
  'needs_attention',
  'never_synced',
  'running',
  'healthy',
  // Somebody wanted it so: it says something only where nothing else is.
  'paused',
];

export function healthOf(facts: ConnectionFacts): Health {
  const { open, failed, lastGoodAt } = facts;
  const healthy: Health = {
    state: 'healthy',
    since: null,
    failuresInARow: 0,
    firstError: null,
    lastGoodAt,
    isTryingAgain: false,
    attention: null,
    pausedBecause: null,
  };
  const attention = (by: Audience, what: string | null, customerWhat: string | null): Health => ({
    ...healthy,
    ...failing(facts),
    state: 'needs_attention',
    attention: { by, what, customerWhat },
  });
  if (facts.gone !== null) return attention('operator', facts.gone, facts.gone);
  // What the platform refused may only follow from it.
  if (facts.signIn) return attention(facts.signIn.by, facts.signIn.message, facts.signIn.customerMessage);
  if (facts.refused) return attention(facts.refused.by, facts.refused.message, facts.refused.customerMessage);
  if (facts.isPaused) return { ...healthy, state: 'paused', pausedBecause: facts.pausedBecause };
  if (facts.stoppedBecause !== null) return attention('operator', facts.stoppedBecause, problemOnOurSide);
  const row = failing(facts);
  if (row) {
    const latest = open?.failure ?? failed?.last;
    if (latest?.kind === 'config_error') return attention(latest.whose, latest.message, latest.customerMessage);
    return { ...healthy, ...row };
  }
  if (open) return { ...healthy, state: 'running' };
  return lastGoodAt === null ? { ...healthy, state: 'never_synced' } : healthy;
}

function failing({ open, failed }: ConnectionFacts) {
  const hasFailedOnce = open !== null && open.failedAt !== null;
  if (!failed && !hasFailedOnce) return undefined;
  return {
    state: 'failing' as const,
    since: failed?.firstAt ?? open?.failedAt ?? null,
    failuresInARow: (failed?.count ?? 0) + (hasFailedOnce ? 1 : 0),
    firstError: failed?.first ?? open?.failure ?? null,
    isTryingAgain: open !== null,
  };
}

/** Of several connections; without any, nothing was ever synced. */
export function worstOf<T extends { state: HealthState }>(healths: readonly T[]): T | undefined {
  return healths.toSorted((a, b) => worstFirst.indexOf(a.state) - worstFirst.indexOf(b.state))[0];
}
