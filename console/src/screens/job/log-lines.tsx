/** A virtual list: of many lines, only those in view are in the page. All lines have the same height. */
import type { JobLog } from '@inlay/contract/operating';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useWords } from '../../words/words.ts';

type Line = JobLog['lines'][number];

/** As in screens.css. */
export const lineHeight = 20;
const beyond = 20;

export interface LogLinesProps {
  lines: readonly Line[];
  goTo: number | undefined;
  /** How many lines at the beginning were taken away since the log was opened: those in view stay in view. */
  dropped: number;
  hasEarlier: boolean;
  onStart(): void;
  onEnd(): void;
  /** Shows a line that was found among its neighbours. */
  onOpen?: (offset: number) => void;
}

/** The first and the one after the last line to draw. */
export function visibleLines(scrolled: number, height: number, count: number): { from: number; to: number } {
  const from = Math.max(0, Math.min(count, Math.floor(scrolled / lineHeight) - beyond));
  return { from, to: Math.min(count, Math.ceil((scrolled + height) / lineHeight) + beyond) };
}

export function LogLines({ lines, goTo, dropped, hasEarlier, onStart, onEnd, onOpen }: LogLinesProps) {
  const words = useWords();
  const frame = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ scrolled: 0, height: 480 });
  useEffect(() => {
    const element = frame.current;
    if (element) setView({ scrolled: element.scrollTop, height: element.clientHeight });
  }, []);
  useLayoutEffect(() => {
    const element = frame.current;
    if (!element || goTo === undefined) return;
    const at = lines.findIndex(({ offset }) => offset >= goTo);
    element.scrollTop = (at === -1 ? lines.length : Math.max(0, at - 3)) * lineHeight;
  }, [lines, goTo]);
  const droppedBefore = useRef(dropped);
  useLayoutEffect(() => {
    const gone = dropped - droppedBefore.current;
    droppedBefore.current = dropped;
    if (frame.current && gone > 0) frame.current.scrollTop -= gone * lineHeight;
  }, [dropped]);
  const { from, to } = visibleLines(view.scrolled, view.height, lines.length);
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
      <ol class="c-log-room" style={{ height: `${lines.length * lineHeight}px` }}>
        {lines.slice(from, to).map((line, index) => (
          <li
            class={`c-log-line c-log-${levelOf(line.level)}${line.offset === goTo ? ' c-log-sought' : ''}`}
            style={{ top: `${(from + index) * lineHeight}px` }}
            key={line.offset}
          >
            <time dateTime={line.time}>{line.time.slice(11, 23)}</time>
            <span class="c-log-level">{line.level}</span>
            <span class="c-log-origin">{line.origin}</span>
            {onOpen ? (
              <button
                type="button"
                class="c-log-open"
                title={words.job.showInContext}
                onClick={() => onOpen(line.offset)}
              >
                {line.message}
              </button>
            ) : (
              <span>{line.message}</span>
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
