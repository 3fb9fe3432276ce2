/** A relative time, with the exact time in its tooltip. */
import { useEffect, useState } from 'preact/hooks';
import type { Formatting } from '../words/formatting.ts';

/** Frequent enough to keep minutes accurate. */
const refreshMs = 15_000;

export interface MomentProps {
  formatting: Formatting;
  time: string;
  /** A past time is never shown as future, and a future time never as past, even if the two clocks differ. */
  tense: 'past' | 'future';
  say?(relative: string): string;
}

export function Moment({ formatting, time, tense, say = (relative) => relative }: MomentProps) {
  const [, setTicks] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTicks((ticks) => ticks + 1), refreshMs);
    return () => clearInterval(timer);
  }, []);
  const nowMs = tense === 'past' ? Math.max(Date.now(), Date.parse(time)) : Math.min(Date.now(), Date.parse(time));
  return (
    <time dateTime={time} title={formatting.dateTime(time)}>
      {say(formatting.relative(time, nowMs))}
    </time>
  );
}
