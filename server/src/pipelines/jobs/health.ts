/**
 * How a connection does, as one idea for API, widget, command line and metrics. Pure: what is known goes in, its health comes
 * out. The health of a source and of a workspace is the worst of its connections.
 *
 * What always holds: a retry is no new start. Once a sync has failed, the connection is failing until a sync succeeds,
 * whatever runs meanwhile. Where only a person can help, it needs attention, and says whose.
 */
import type { Audience, HealthState } from '@inlay/contract/pipelines/health';
import { type FailureTexts, operatorsOnly, type Reasons, sameForBoth } from '../two-texts.ts';

/** What went wrong, as the platform reports it. Hosted platforms report no reasons. */
export interface JobFailure {
  /** `config_error`: someone has to change something. Other kinds may be transient. */
  kind: 'config_error' | 'transient_error' | 'system_error' | 'unknown';
  origin: 'source' | 'destination' | 'platform' | 'unknown';
  /** For operators, and for customers. */
  message: string | null;
  customerMessage: string | null;
  reasons?: Reasons | null;
  whose: Audience;
}

/** The texts and, since they are stored with it, the codes. */
type Pause = Record<Audience, string> & { reasons?: Reasons };

/** As `FailureTexts`, but what older versions stored has no codes. */
export type Problem = Omit<FailureTexts, 'reasons'> & { reasons: Reasons | null };

export interface ConnectionFacts {
  /** Its workspace is inactive, or someone has paused the connection itself. */
  isPaused: boolean;
  /** Where a quota has paused it: what each audience reads. */
  pausedBecause: Pause | null;
  /** Why the platform itself has made it inactive. */
  stoppedBecause: string | null;
  /** The platform no longer has it. */
  isGone: boolean;
  /** Why the platform would not take the source, its destination or the connection. */
  refused: Problem | null;
  /** The sign-in that the source needs has ended. */
  signIn: FailureTexts | null;
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
  attention: { by: Audience; what: string | null; customerWhat: string | null; reasons?: Reasons | null } | null;
  /** Why it is paused, where that is not someone's choice. */
  pausedBecause: Pause | null;
}

const worstFirst: readonly HealthState[] = [
  'failing',
  'needs_attention',
  'never_synced',
  'running',
  'healthy',
  // Someone wanted it so: it says something only where nothing else is.
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
  const attention = (attention: NonNullable<Health['attention']>): Health => ({
    ...healthy,
    ...failing(facts),
    state: 'needs_attention',
    attention,
  });
  const needs = ({ whose, operator, customer, reasons }: Problem, by = whose) =>
    attention({ by, what: operator, customerWhat: customer, reasons });
  if (facts.isGone) return needs(sameForBoth({ code: 'connection_lost', parameters: {} }), 'operator');
  // What the platform refused may only follow from it.
  if (facts.signIn) return needs(facts.signIn);
  if (facts.refused) return needs(facts.refused);
  if (facts.isPaused) return { ...healthy, state: 'paused', pausedBecause: facts.pausedBecause };
  if (facts.stoppedBecause !== null) {
    return needs(operatorsOnly({ code: 'stopped_by_platform', parameters: {} }, facts.stoppedBecause));
  }
  const row = failing(facts);
  if (row) {
    const latest = open?.failure ?? failed?.last;
    if (latest?.kind === 'config_error') {
      const { whose: by, message: what, customerMessage: customerWhat, reasons = null } = latest;
      return attention({ by, what, customerWhat, reasons });
    }
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

/** Undefined without any connection: nothing was ever synced. */
export function worstOf<T extends { state: HealthState }>(healths: readonly T[]): T | undefined {
  return healths.toSorted((a, b) => worstFirst.indexOf(a.state) - worstFirst.indexOf(b.state))[0];
}
