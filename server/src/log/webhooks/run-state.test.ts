import { expect, it } from 'vitest';
import { initialState, isEnding, type Load, nextState, nextStep, type RunEvent, type RunState } from './run-state.ts';

type Name = RunState['name'];
const names: Name[] = ['reading', 'caught_up', 'pausing', 'stopping', 'lost'];
/** The state after the event, from each state. */
const after = (event: RunEvent) => names.map((name) => nextState({ name, pauseMs: 0 }, event).name);

it('A run begins by reading the log', () => {
  expect(initialState).toEqual({ name: 'reading', pauseMs: 0 });
});

it('A run begins requests while it reads and when it has caught up, and in no other state', () => {
  expect(names.filter((name) => !isEnding({ name, pauseMs: 0 }))).toEqual(['reading', 'caught_up']);
});

it('A run that reads the log to its end has caught up', () => {
  expect(after({ type: 'log_read_to_end' })).toEqual(['caught_up', 'caught_up', 'pausing', 'stopping', 'lost']);
});

it('A run that has caught up reads again when events are logged', () => {
  expect(after({ type: 'events_logged' })).toEqual(['reading', 'reading', 'pausing', 'stopping', 'lost']);
});

it('A pause ends a run, and leaves a run that is ending in its state', () => {
  expect(after({ type: 'paused', pauseMs: 1 })).toEqual(['pausing', 'pausing', 'pausing', 'stopping', 'lost']);
});

it('The last pause counts, also for a run that stops or has lost its lease', () => {
  for (const name of names) {
    expect(nextState({ name, pauseMs: 5 }, { type: 'paused', pauseMs: 7 }).pauseMs).toBe(7);
  }
});

it('A run that is stopped begins nothing more, and keeps its pause', () => {
  expect(after({ type: 'stopped' })).toEqual(['stopping', 'stopping', 'stopping', 'stopping', 'lost']);
  expect(nextState({ name: 'pausing', pauseMs: 5 }, { type: 'stopped' })).toEqual({ name: 'stopping', pauseMs: 5 });
});

it('A run that loses its lease is lost from every state, and keeps its pause', () => {
  expect(after({ type: 'lease_lost' })).toEqual(names.map(() => 'lost'));
  expect(nextState({ name: 'pausing', pauseMs: 5 }, { type: 'lease_lost' })).toEqual({ name: 'lost', pauseMs: 5 });
});

const idle: Load = { inFlight: 0, unwritten: 0, waiting: 0, isBlocked: false };
/** What the run does next, in each state. */
const steps = (load: Partial<Load>) => names.map((name) => nextStep({ name, pauseMs: 0 }, { ...idle, ...load }));

it('A run waits for its answers and writes them in every state', () => {
  expect(steps({ inFlight: 1 })).toEqual(names.map(() => 'await_answers'));
  expect(steps({ unwritten: 1 })).toEqual(names.map(() => 'await_answers'));
});

it('A run with events that wait lets the rate of the endpoint decide, unless it is ending', () => {
  expect(steps({ waiting: 1 })).toEqual(['await_turn', 'await_turn', 'end', 'end', 'end']);
});

it('A run without work reads on, or looks once more if it has caught up, unless it is ending', () => {
  expect(steps({})).toEqual(['read_on', 'look_again', 'end', 'end', 'end']);
});

it('A run that waits for the next try in strict order looks once more, whatever else waits', () => {
  expect(steps({ isBlocked: true })).toEqual(['look_again', 'look_again', 'end', 'end', 'end']);
  expect(steps({ isBlocked: true, waiting: 1 })).toEqual(['look_again', 'look_again', 'end', 'end', 'end']);
});
