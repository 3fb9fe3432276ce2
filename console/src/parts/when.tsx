/** A point in time in the person's words, or a dash. */
import { Moment } from '@inlay/ui/parts/moment.tsx';
import { formatting } from '../words/formatting.ts';
import { words } from '../words/words.ts';

export function When({
  time,
  tense = 'past',
  none,
}: {
  time: string | null | undefined;
  tense?: 'past' | 'future';
  none?: string;
}) {
  if (!time) return <span class="c-muted">{none ?? words.none}</span>;
  return <Moment formatting={formatting} time={time} tense={tense} />;
}
