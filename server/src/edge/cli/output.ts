/** What commands print: lines, tables that fit the terminal, and colors where someone looks. */

export function print(...lines: string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** For people, where programs read standard output. */
export function printError(...lines: string[]): void {
  process.stderr.write(`${lines.join('\n')}\n`);
}

/** What is being done, on a terminal alone. The next text takes its place; an empty one leaves the line to `print`. */
export function showProgress(text: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${cut(text, roomFor() - 1)}`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

export type Color = 'red' | 'yellow' | 'green' | 'cyan' | 'grey';
const codes: Record<Color, number> = { red: 31, yellow: 33, green: 32, cyan: 36, grey: 90 };

/** Only on a terminal, and not where NO_COLOR or the kind of terminal speaks against it. */
export function colored(text: string, color: Color | undefined): string {
  const { stdout } = process;
  return color && stdout.isTTY && stdout.hasColors() ? `\x1b[${codes[color]}m${text}\x1b[39m` : text;
}

export interface Column {
  title: string;
  /** May be cut where the terminal is too narrow. */
  isCut?: boolean;
}
export type Cell = string | { text: string; color: Color | undefined };

const gap = 2;
const narrowest = 10;

export function table(head: readonly (string | Column)[], rows: readonly (readonly Cell[])[]): void {
  const columns = head.map((column) => (typeof column === 'string' ? { title: column } : column));
  const cells = rows.map((row) =>
    row.map((cell) => (typeof cell === 'string' ? { text: plain(cell), color: undefined } : cell)),
  );
  const widths = columns.map(({ title }, index) =>
    Math.max(widthOf(title), ...cells.map((row) => widthOf(row[index]?.text ?? ''))),
  );
  shrink(widths, columns);
  const titles = columns.map(({ title }) => ({ text: title, color: 'grey' as const }));
  for (const row of [titles, ...cells]) {
    const shown = row.map(({ text, color }, index) => {
      const cutText = cut(text, widths[index] ?? 0);
      const isLast = index === row.length - 1;
      return colored(cutText, color) + (isLast ? '' : ' '.repeat((widths[index] ?? 0) - widthOf(cutText)));
    });
    print(shown.join(' '.repeat(gap)).trimEnd());
  }
}

/** As wide as the terminal; what is piped into a program has all the room it needs, unless COLUMNS says otherwise. */
export function roomFor(): number {
  return process.stdout.columns ?? (Number(process.env.COLUMNS) || Number.POSITIVE_INFINITY);
}

/** Takes from the widest of the columns that may be cut. */
function shrink(widths: number[], columns: readonly Column[]): void {
  const room = roomFor() - gap * (widths.length - 1);
  const sum = () => widths.reduce((total, width) => total + width, 0);
  while (sum() > room) {
    const candidates = widths.map((width, index) => (columns[index]?.isCut && width > narrowest ? width : 0));
    const widest = candidates.indexOf(Math.max(...candidates));
    if (candidates[widest] === 0) return;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
}

/** On one line, without what could steer the terminal: names and messages come from others. */
export function plain(text: string): string {
  return harmless(text.replaceAll(/\s+/g, ' '));
}

export function harmless(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '\ufffd');
}

let segmenter: Intl.Segmenter | undefined;
/** Made for the first text that needs it: loading the rules of Unicode takes half the start of a command. */
function graphemesOf(text: string): Iterable<{ segment: string }> {
  segmenter ??= new Intl.Segmenter();
  return segmenter.segment(text);
}
const isWide =
  /\p{Extended_Pictographic}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60]/u;

/** In cells of the terminal. */
export function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemesOf(text)) width += isWide.test(segment) ? 2 : 1;
  return width;
}

export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let shown = '';
  for (const { segment } of graphemesOf(text)) {
    if (widthOf(shown) + widthOf(segment) > width - 1) break;
    shown += segment;
  }
  return `${shown}…`;
}

/** A whole number with commas. `toLocaleString` takes 40 ms to load what it knows of other languages. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

export function day(at: string | number | null): string {
  return at === null ? '-' : new Date(at).toISOString().slice(0, 10);
}

/** "45 s", "12 min", "3 h", "5 d" */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 100) return `${seconds} s`;
  if (seconds < 6_000) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`;
}
