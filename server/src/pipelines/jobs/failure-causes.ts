/**
 * Which failures are one and the same: those of the same kind and origin whose messages differ only in names, numbers and
 * addresses. An operator then sees one outage instead of two hundred customers that fail.
 */
import { createHash } from 'node:crypto';
import type { FailureCause } from '@inlay/contract/pipelines/overview';
import { quotedCodes } from '@inlay/contract/reason-words';
import { nextRuns } from '@inlay/schedule/quartz';
import type { ConnectionRow } from '../../kernel/db/tables.ts';
import { scheduleOf } from '../slowed-schedules.ts';
import { shownReason } from '../two-texts.ts';
import type { Health } from './health.ts';

type Facts = Pick<FailureCause, 'kind' | 'origin' | 'message' | 'attention_by' | 'code' | 'parameters'>;

/** Undefined for a connection that does well. */
export function troubleIn({ state, firstError, attention }: Health): Facts | undefined {
  if (state !== 'failing' && state !== 'needs_attention') return undefined;
  const { kind = 'unknown', origin = 'unknown', message = null, reasons } = firstError ?? {};
  if (!attention) return { kind, origin, message, ...shownReason(reasons, 'operator'), attention_by: null };
  const said = attention.what === null ? { message, reasons } : { message: attention.what, reasons: attention.reasons };
  const reason = shownReason(said.reasons, 'operator');
  return { kind: 'config_error', origin, message: said.message, ...reason, attention_by: attention.by };
}

export function causeOf(health: Health): string | null {
  const failure = troubleIn(health);
  if (!failure) return null;
  const { kind, origin, message, attention_by, code, parameters } = failure;
  const isOurs = code !== null && !quotedCodes.includes(code);
  const what = isOurs ? { code, parameters } : normalized(message ?? '');
  const parts = JSON.stringify([kind, origin, attention_by, what]);
  return createHash('sha256').update(parts).digest('hex').slice(0, 32);
}

/** Long messages of one cause often end in what differs. */
const comparedLength = 300;

/** In this order: an address holds numbers, and what is in quotes may be anything. */
const variable: readonly RegExp[] = [
  /"[^"\n]*"|`[^`\n]*`|(?<!\w)'[^'\n]*'(?!\w)|\u201c[^\u201d\n]*\u201d/g,
  /[a-z][a-z0-9+.-]*:\/\/\S+/g,
  /[^\s@<>()]+@[^\s@<>()]+/g,
  /\b(?:[a-z0-9_-]+\.)+[a-z]{2,}(?::\d+)?\b/g,
  /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|\b[0-9a-f]{16,}\b|\b(?:[0-9a-f]{0,4}:){3,}[0-9a-f]{0,4}\b/g,
  /\d+(?:[.,:]\d+)*/g,
];

/** A message without what differs between customers who fail for the same reason. */
export function normalized(message: string): string {
  const cut = message.slice(0, 10 * comparedLength).toLowerCase();
  const same = variable.reduce((text, pattern) => text.replaceAll(pattern, '#'), cut);
  return same.replaceAll(/\s+/g, ' ').trim().slice(0, comparedLength);
}

const dayMs = 86_400_000;

/**
 * When a connection counts as stale if no sync succeeds before: when it would have run three times since the last success,
 * or since it was made, and not within a day. Null if no sync is expected.
 */
export function staleAt(row: ConnectionRow, { state, lastGoodAt }: Health): number | null {
  const schedule = scheduleOf(row);
  if (schedule === null || state === 'paused' || row.is_set_up === 0) return null;
  const since = lastGoodAt ?? row.created_at;
  const third = nextRuns(schedule, new Date(since), 3)[2];
  return third ? Math.max(third.getTime(), since + dayMs) : null;
}
