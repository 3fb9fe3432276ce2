/** A small bar chart. Its label says the same in words, and each bar has a tooltip. */
export interface Bar {
  title: string;
  /** Stacked from the bottom: `good`, then `bad`. */
  good: number;
  bad?: number;
}

const height = 56;
const step = 10;
/** Fewer bars than this are aligned to the end, where the newest bars are. */
const fewest = 24;

export function Bars({ bars, label }: { bars: readonly Bar[]; label: string }) {
  const most = Math.max(1, ...bars.map(({ good, bad = 0 }) => good + bad));
  const scaled = (value: number) => (value === 0 ? 0 : Math.max(2, (value / most) * height));
  const slots = Math.max(bars.length, fewest);
  return (
    <svg
      class="c-bars"
      viewBox={`0 0 ${slots * step} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {bars.map(({ title, good, bad = 0 }, index) => {
        const [goodHeight, badHeight] = [scaled(good), scaled(bad)];
        const left = (slots - bars.length + index) * step;
        const x = left + 1;
        return (
          <g key={index}>
            <title>{title}</title>
            <rect class="c-bar-room" x={left} y={0} width={step} height={height} />
            <rect class="c-bar-none" x={x} y={height - 1} width={step - 2} height={1} />
            <rect class="c-bar-good" x={x} y={height - goodHeight} width={step - 2} height={goodHeight} />
            <rect class="c-bar-bad" x={x} y={height - goodHeight - badHeight} width={step - 2} height={badHeight} />
          </g>
        );
      })}
    </svg>
  );
}
