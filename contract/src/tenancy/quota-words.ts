/**
 * What customers read of a quota. Said and read here, so that the widget can say the same in the customer's language. Pure.
 */
const nouns = {
  sources: 'sources',
  connections: 'connections',
  concurrent_syncs: 'syncs at the same time',
  rows_per_day: 'rows per day',
  rows_per_month: 'rows per month',
  bytes_per_day: 'bytes per day',
  bytes_per_month: 'bytes per month',
} as const;
export type LimitedQuota = keyof typeof nouns;

/** What follows from a limit that is reached. */
const endings = {
  no_room: 'Remove a source that is not needed, or ask for a higher limit.',
  too_many: 'Try again when one has ended.',
  waits: 'The sync starts by itself when another one has ended.',
} as const;

/** Times are milliseconds since the epoch. */
export type QuotaMessage =
  | { kind: keyof typeof endings; quota: LimitedQuota; limit: number }
  | { kind: 'held'; quota: LimitedQuota; limit: number; until: number }
  | { kind: 'too_soon'; from: number };

export function sayQuota(message: QuotaMessage): string {
  if (message.kind === 'too_soon') return `The next sync of this connection can start on ${momentOf(message.from)}.`;
  const { quota, limit } = message;
  const ending =
    message.kind === 'held'
      ? `Syncs go on by themselves on ${momentOf(message.until)}.`
      : endings[message.kind as keyof typeof endings];
  return `The limit of ${limit} ${nounOf(quota, limit)} is reached. ${ending}`;
}

/** Undefined for any other text. */
export function readQuota(text: string): QuotaMessage | undefined {
  const time = timeIn(text);
  const [, count, noun, ending = ''] = /^The limit of (\d+) (.+?) is reached\. (.+)$/.exec(text) ?? [];
  if (count === undefined) {
    return time !== undefined && text.startsWith('The next sync of this connection can start on ')
      ? { kind: 'too_soon', from: time }
      : undefined;
  }
  const limit = Number(count);
  const quota = (Object.keys(nouns) as LimitedQuota[]).find((name) => nounOf(name, limit) === noun);
  if (quota === undefined) return undefined;
  if (time !== undefined && ending.startsWith('Syncs go on')) return { kind: 'held', quota, limit, until: time };
  const kind = (Object.keys(endings) as (keyof typeof endings)[]).find((name) => endings[name] === ending);
  return kind && { kind, quota, limit };
}

function nounOf(quota: LimitedQuota, count: number): string {
  return count === 1 ? nouns[quota].replace(/s\b/, '') : nouns[quota];
}

/** 2026-02-01 at 00:00 UTC. Part of a minute counts as a whole one, so that nobody comes too soon. */
function momentOf(time: number): string {
  const [day, clock = ''] = new Date(Math.ceil(time / 60_000) * 60_000).toISOString().split('T');
  return `${day} at ${clock.slice(0, 5)} UTC`;
}

function timeIn(text: string): number | undefined {
  const [, day, clock] = / on (\d{4}-\d\d-\d\d) at (\d\d:\d\d) UTC\.$/.exec(text) ?? [];
  return day === undefined ? undefined : Date.parse(`${day}T${clock}:00Z`);
}
