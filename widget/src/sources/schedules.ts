/** The schedules a customer can choose. Pure. */

export interface ScheduleChoice {
  /** A Quartz expression; null for manual syncs. */
  expression: string | null;
  /** Between two syncs; undefined for a schedule without a name here. */
  minutes: number | undefined;
}

const named: readonly [minutes: number, expression: string][] = [
  [5, '0 0/5 * * * ?'],
  [15, '0 0/15 * * * ?'],
  [30, '0 0/30 * * * ?'],
  [60, '0 0 * * * ?'],
  [180, '0 0 0/3 * * ?'],
  [360, '0 0 0/6 * * ?'],
  [720, '0 0 0/12 * * ?'],
  [1_440, '0 0 2 * * ?'],
  [10_080, '0 0 2 ? * MON'],
];

/** Always includes the current schedule, so that it can be kept. */
export function choicesOf(shortestMinutes: number, present: string | null): ScheduleChoice[] {
  const offered = named
    .filter(([minutes, expression]) => minutes >= shortestMinutes || expression === present)
    .map(([minutes, expression]) => ({ minutes, expression }));
  const isNamed = present === null || offered.some(({ expression }) => expression === present);
  return [
    ...(isNamed ? [] : [{ expression: present, minutes: undefined }]),
    ...offered,
    { expression: null, minutes: undefined },
  ];
}
