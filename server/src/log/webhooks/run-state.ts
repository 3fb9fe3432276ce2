/**
 * The states of the work for one webhook endpoint, and what the work does next. Knows no database and no network.
 *
 *     reading ⇄ caught_up ──▶ pausing ──▶ stopping ──▶ lost
 *
 * The first two begin requests. From each state the work may go to any state to its right, and never back from the last
 * three: they begin nothing more, wait for the answers to what is on its way, write them, and end.
 */
export interface RunState {
  /**
   * - `reading`: the log may hold more events.
   * - `caught_up`: every event of the log has been read.
   * - `pausing`: the receiver has asked for a pause, or fails so often that it gets one.
   * - `stopping`: the endpoint was changed or disabled, or this process ends.
   * - `lost`: another process has the endpoint, or could have it by now.
   */
  readonly name: 'reading' | 'caught_up' | 'pausing' | 'stopping' | 'lost';
  /** How long nobody may send to the endpoint after this run. */
  readonly pauseMs: number;
}

export type RunEvent =
  | { type: 'log_read_to_end' }
  | { type: 'events_logged' }
  | { type: 'paused'; pauseMs: number }
  | { type: 'stopped' }
  | { type: 'lease_lost' };

export const initialState: RunState = { name: 'reading', pauseMs: 0 };

/** Whether no further requests may start. */
export const isEnding = ({ name }: RunState): boolean => name !== 'reading' && name !== 'caught_up';

export function nextState(state: RunState, event: RunEvent): RunState {
  switch (event.type) {
    case 'log_read_to_end':
      return state.name === 'reading' ? { ...state, name: 'caught_up' } : state;
    case 'events_logged':
      return state.name === 'caught_up' ? { ...state, name: 'reading' } : state;
    case 'paused':
      return { name: isEnding(state) ? state.name : 'pausing', pauseMs: event.pauseMs };
    case 'stopped':
      return state.name === 'lost' ? state : { ...state, name: 'stopping' };
    case 'lease_lost':
      return { ...state, name: 'lost' };
  }
}

/** What lies between the log and the receiver. */
export interface Load {
  inFlight: number;
  /** Answers that are not on disk yet. */
  unwritten: number;
  /** Events that were read and wait for their request. */
  waiting: number;
  /** Strict order: everything waits for the next try of an event that failed. */
  isBlocked: boolean;
}

/**
 * - `await_answers`: requests are on their way, or answers are to be written.
 * - `await_turn`: requests wait until the rate of the endpoint allows the next.
 * - `read_on`: nothing waits, and the log may hold more.
 * - `look_again`: nothing seems to be left. Something may have come meanwhile.
 */
export type Step = 'await_answers' | 'await_turn' | 'read_on' | 'look_again' | 'end';

export function nextStep(state: RunState, { inFlight, unwritten, waiting, isBlocked }: Load): Step {
  if (inFlight > 0 || unwritten > 0) return 'await_answers';
  if (isEnding(state)) return 'end';
  if (isBlocked) return 'look_again';
  if (waiting > 0) return 'await_turn';
  return state.name === 'caught_up' ? 'look_again' : 'read_on';
}
