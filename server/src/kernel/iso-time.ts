/**
 * A time as the API and the log write it, with the same result as `toISOString`. A page of workspaces has forty times,
 * and every line of the log has one. Making the text of a day needs a Date and is slow, so these texts are kept.
 */
const dayMs = 86_400_000;
/** Later years have more than four digits. */
const maxMs = Date.UTC(9999, 11, 31) + dayMs - 1;
const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));
/** The texts of the days that were written last, each at a place computed from the number of its day. */
const days = Array.from({ length: 64 }, () => ({ day: Number.NaN, text: '' }));

export function isoTime(ms: number): string {
  if (!(ms >= 0 && ms <= maxMs)) return new Date(ms).toISOString();
  const day = Math.floor(ms / dayMs);
  const kept = days[day % days.length] as (typeof days)[number];
  if (kept.day !== day) {
    kept.day = day;
    kept.text = new Date(day * dayMs).toISOString().slice(0, 11);
  }
  // The value is below 2^31, so the arithmetic stays on whole numbers.
  const rest = (ms - day * dayMs) | 0;
  const milliseconds = rest % 1000;
  const seconds = ((rest - milliseconds) / 1000) | 0;
  const [hours, minutes] = [(seconds / 3600) | 0, ((seconds / 60) | 0) % 60];
  const pad = milliseconds < 10 ? '00' : milliseconds < 100 ? '0' : '';
  return `${kept.text}${twoDigits[hours]}:${twoDigits[minutes]}:${twoDigits[seconds % 60]}.${pad}${milliseconds}Z`;
}
