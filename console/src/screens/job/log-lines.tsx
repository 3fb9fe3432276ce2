/** A virtual list: only visible rows are in the DOM. All rows have the same height. */
import type { JobLog } from '@inlay/contract/pipelines/operating';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { words } from '../../words/words.ts';
import { rowsOf } from './log-rows.ts';

type Line = JobLog['lines'][number];

/** As in screens.css. */
export const lineHeight = 20;
const beyond = 20;

export interface LogLinesProps {
  lines: readonly Line[];
  goTo: number | undefined;
  /** Rows dropped from the top since the log was opened. The scroll position compensates for them. */
  dropped: number;
  hasEarlier: boolean;
  onStart(): void;
  onEnd(): void;
  /** Shows a search result in context. */
  onOpen?: (offset: number) => void;
}

/** The lines to draw: `from` inclusive, `to` exclusive. */
export function visibleLines(scrolled: number, height: number, count: number): { from: number; to: number } {
  const from = Math.max(0, Math.min(count, Math.floor(scrolled / lineHeight) - beyond));
  return { from, to: Math.min(count, Math.ceil((scrolled + height) / lineHeight) + beyond) };
}

export function LogLines({ lines, goTo, dropped, hasEarlier, onStart, onEnd, onOpen }: LogLinesProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ scrolled: 0, height: 480 });
  const rows = useMemo(() => rowsOf(lines), [lines]);
  // The frame of a short log is smaller.
  useEffect(() => {
    const element = frame.current;
    if (element) setView({ scrolled: element.scrollTop, height: element.clientHeight });
  }, [rows]);
  useLayoutEffect(() => {
    const element = frame.current;
    if (!element || goTo === undefined) return;
    const at = rows.findIndex(({ line }) => line.offset >= goTo);
    element.scrollTop = (at === -1 ? rows.length : Math.max(0, at - 3)) * lineHeight;
  }, [rows, goTo]);
  const droppedBefore = useRef(dropped);
  useLayoutEffect(() => {
    const gone = dropped - droppedBefore.current;
    droppedBefore.current = dropped;
    if (frame.current && gone > 0) frame.current.scrollTop -= gone * lineHeight;
  }, [dropped]);
  const { from, to } = visibleLines(view.scrolled, view.height, rows.length);
  return (
    <section
      class="c-log"
      ref={frame}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be scrolled with keys as well
      tabIndex={0}
      aria-label={words.job.logLines}
      onScroll={({ currentTarget }) => {
        const { scrollTop, clientHeight, scrollHeight } = currentTarget;
        setView({ scrolled: scrollTop, height: clientHeight });
        if (scrollTop === 0 && hasEarlier) onStart();
        else if (scrollTop + clientHeight > scrollHeight - 10 * lineHeight) onEnd();
      }}
    >
      <ol class="c-log-room" style={{ height: `${rows.length * lineHeight}px` }}>
        {rows.slice(from, to).map(({ line, text, part }, index) => (
          <li
            class={`c-log-line c-log-${levelOf(line.level)}${line.offset === goTo && part === 0 ? ' c-log-sought' : ''}`}
            style={{ top: `${(from + index) * lineHeight}px` }}
            key={`${line.offset} ${part}`}
          >
            <time dateTime={line.time}>{part === 0 && line.time.slice(11, 23)}</time>
            <span class="c-log-level">{part === 0 && line.level}</span>
            <span class="c-log-origin">{part === 0 && line.origin}</span>
            {onOpen ? (
              <button
                type="button"
                class="c-log-open"
                title={words.job.showInContext}
                onClick={() => onOpen(line.offset)}
              >
                {text}
              </button>
            ) : (
              <span class="c-log-text">{text}</span>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

function levelOf(level: string): 'error' | 'warn' | 'other' {
  if (/^(error|fatal)$/i.test(level)) return 'error';
  return /^warn/i.test(level) ? 'warn' : 'other';
}
