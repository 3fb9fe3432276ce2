/** What the log has on each line of the page: a message of several lines takes several, the first with its time and level. */
import type { JobLog } from '@inlay/contract/pipelines/operating';

type Line = JobLog['lines'][number];

export interface LogRow {
  line: Line;
  text: string;
  /** Which line of the message it is. */
  part: number;
}

export function rowsOf(lines: readonly Line[]): LogRow[] {
  return lines.flatMap((line) => line.message.split(/\r?\n/).map((text, part) => ({ line, text, part })));
}
