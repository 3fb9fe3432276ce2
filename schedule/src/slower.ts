/** Schedules for those who may not sync so often as they want to. */

/** Every so many minutes and hours that a schedule can keep without a shorter gap: the divisors of an hour and of a day. */
const minutes = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30];
const hours = [1, 2, 3, 4, 6, 8, 12];

/** The schedule that runs most often among those with no shorter interval; a week at the longest. */
export function scheduleEvery(shortestMs: number): string {
  const minute = minutes.find((count) => count * 60_000 >= shortestMs);
  if (minute !== undefined) return minute === 1 ? '0 * * * * ?' : `0 0/${minute} * * * ?`;
  const hour = hours.find((count) => count * 3_600_000 >= shortestMs);
  if (hour !== undefined) return hour === 1 ? '0 0 * * * ?' : `0 0 0/${hour} * * ?`;
  return shortestMs <= 86_400_000 ? '0 0 0 * * ?' : '0 0 0 ? * MON';
}
