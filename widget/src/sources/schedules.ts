/** How often a connection can be synced, as a customer chooses it. Pure. */

export interface ScheduleChoice {
  /** A Quartz expression; null: only when asked for. */
  expression: string | null;
  /** From one sync to the next; undefined for a schedule that has no name here. */
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

/** The present schedule is always among them: who does not want to change it need not. */
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
