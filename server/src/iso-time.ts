/**
 * A time as the API and the log write it, the same as `toISOString` does. A page of workspaces says forty times, and
 * every line of the log one, so days, which take a Date, are kept.
 */
const dayMs = 86_400_000;
/** Later years have more than four digits. */
const maxMs = Date.UTC(9999, 11, 31) + dayMs - 1;
const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));
/** Each of the last days that were written, at the place of its number. */
const days = Array.from({ length: 64 }, () => ({ day: Number.NaN, text: '' }));

export function isoTime(ms: number): string {
  if (!(ms >= 0 && ms <= maxMs)) return new Date(ms).toISOString();
  const day = Math.floor(ms / dayMs);
  const kept = days[day % days.length] as (typeof days)[number];
  if (kept.day !== day) {
    kept.day = day;
    kept.text = new Date(day * dayMs).toISOString().slice(0, 11);
  }
  // Below 2^31: arithmetic on whole numbers.
  const rest = (ms - day * dayMs) | 0;
  const milliseconds = rest % 1000;
  const seconds = ((rest - milliseconds) / 1000) | 0;
  const [hours, minutes] = [(seconds / 3600) | 0, ((seconds / 60) | 0) % 60];
  const pad = milliseconds < 10 ? '00' : milliseconds < 100 ? '0' : '';
  return `${kept.text}${twoDigits[hours]}:${twoDigits[minutes]}:${twoDigits[seconds % 60]}.${pad}${milliseconds}Z`;
}
