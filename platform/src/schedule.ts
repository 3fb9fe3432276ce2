/*
 * When a connection runs: only when asked, or on a Quartz cron expression in UTC. Checks what callers send and shows
 * what is stored; computing the next run is left to the scheduler.
 *
 * An expression has six fields (seconds first) or seven (a year last), and exactly one of day-of-month and day-of-week
 * is `?`. Running more often than hourly is allowed: the machine that does the work is the operator's own.
 */
import Type, { type Static } from 'typebox';
import { Problem } from './problems.ts';

export const ScheduleRequest = Type.Object(
  {
    scheduleType: Type.Enum(['manual', 'cron']),
    cronExpression: Type.Optional(Type.String({ maxLength: 200 })),
  },
  { additionalProperties: false },
);
export type ScheduleRequest = Static<typeof ScheduleRequest>;

export type ShownSchedule = { scheduleType: 'manual' } | { scheduleType: 'cron'; cronExpression: string };

/** The expression to store; null for a manual schedule. */
export function readSchedule(schedule: ScheduleRequest): string | null {
  if (schedule.scheduleType === 'manual') return null;
  if (schedule.cronExpression === undefined) {
    throw new Problem('bad-request', { message: 'A schedule of type cron needs a cronExpression.' });
  }
  return readCron(schedule.cronExpression);
}

/** The zone is always written out, so an expression comes back with a suffix it may not have been sent with. */
export function showSchedule(cronExpression: string | null): ShownSchedule {
  if (cronExpression === null) return { scheduleType: 'manual' };
  return { scheduleType: 'cron', cronExpression: `${cronExpression} UTC` };
}

interface Field {
  name: string;
  min: number;
  max: number;
  /** Words that stand for `min`, `min + 1`, … */
  words?: string[];
  /** What may stand in the field alone, beside lists of values, ranges and steps. */
  special?: RegExp;
}

const DAY_OF_MONTH = 3;
const DAY_OF_WEEK = 5;
const FIELDS: Field[] = [
  { name: 'seconds', min: 0, max: 59 },
  { name: 'minutes', min: 0, max: 59 },
  { name: 'hours', min: 0, max: 23 },
  {
    name: 'day-of-month',
    min: 1,
    max: 31,
    special: /^(\?|L|LW|L-([1-9]|[12]\d|30)|([1-9]|[12]\d|3[01])W)$/,
  },
  {
    name: 'month',
    min: 1,
    max: 12,
    words: ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'],
  },
  {
    name: 'day-of-week',
    min: 1,
    max: 7,
    words: ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'],
    special: /^(\?|L|([1-7]|SUN|MON|TUE|WED|THU|FRI|SAT)(L|#[1-5]))$/,
  },
  { name: 'year', min: 1970, max: 2099 },
];

function readCron(given: string): string {
  const cronExpression = given
    .trim()
    .replace(/\s+UTC$/, '')
    .replace(/\s+/g, ' ');
  const fault = findFault(cronExpression.toUpperCase().split(' '));
  if (fault)
    throw new Problem('cron-validation/invalid-expression', { cronExpression: given, validationErrorMessage: fault });
  return cronExpression;
}

function findFault(parts: string[]): string | undefined {
  if (parts.length !== 6 && parts.length !== 7) return `expected 6 or 7 fields, found ${parts.length}`;
  const [seconds = '', minutes = ''] = parts;
  if (!isInteger(seconds)) return 'the seconds field must be a single number';
  if (parts.length === 7 && !isInteger(minutes)) return 'the minutes field must be a single number beside a year';
  if ((parts[DAY_OF_MONTH] === '?') === (parts[DAY_OF_WEEK] === '?')) {
    return 'exactly one of day-of-month and day-of-week must be ?';
  }
  const wrong = FIELDS.find((field, index) => index < parts.length && !isField(field, parts[index] ?? ''));
  return wrong && `the ${wrong.name} field is not valid`;
}

function isField(field: Field, text: string): boolean {
  return field.special?.test(text) || text.split(',').every((item) => isItem(field, item));
}

/** `*`, a value or a range, each with an optional step. A range may wrap around, as in 22-2 or FRI-MON. */
function isItem(field: Field, item: string): boolean {
  const [span = '', step, ...more] = item.split('/');
  if (more.length > 0) return false;
  if (step !== undefined && !(isInteger(step) && Number(step) >= 1 && Number(step) <= field.max)) return false;
  if (span === '*') return true;
  const ends = span.split('-');
  return ends.length <= 2 && ends.every((end) => isValue(field, end));
}

function isValue(field: Field, text: string): boolean {
  if (field.words?.includes(text)) return true;
  return isInteger(text) && Number(text) >= field.min && Number(text) <= field.max;
}

function isInteger(text: string): boolean {
  return /^\d{1,4}$/.test(text);
}
