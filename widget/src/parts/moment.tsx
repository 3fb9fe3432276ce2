/** Times in the customer's language and region. */
import { type MomentProps, Moment as PlainMoment } from '@inlay/ui/parts/moment.tsx';
import { useWidget } from '../widget.ts';

export function Moment(props: Omit<MomentProps, 'formatting'>) {
  return <PlainMoment formatting={useWidget().formatting} {...props} />;
}

/** How long something has lasted, such as "5 minutes". */
export function HowLong({ since, say }: { since: string; say: NonNullable<MomentProps['say']> }) {
  const { formatting } = useWidget();
  const lengths = { ...formatting, relative: formatting.elapsed };
  return <PlainMoment formatting={lengths} time={since} tense="past" say={say} />;
}
