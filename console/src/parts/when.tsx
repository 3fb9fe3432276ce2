/** Times relative to now: "5 minutes ago", or as a length, "5 minutes". */
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
  return <Moment formatting={formatting} time={time} tense={tense} {...(tense === 'past' && { say: said })} />;
}

const said = (relative: string) => (relative === 'now' ? words.justNow : relative);

const lengths = { ...formatting, relative: formatting.elapsed };

/** How long something has lasted, to follow "for". */
export function HowLong({ since }: { since: string }) {
  return <Moment formatting={lengths} time={since} tense="past" />;
}
