/** A point in time as people in the customer's region say it. */
import { type MomentProps, Moment as PlainMoment } from '@inlay/ui/parts/moment.tsx';
import { useWidget } from '../widget.ts';

export function Moment(props: Omit<MomentProps, 'formatting'>) {
  return <PlainMoment formatting={useWidget().formatting} {...props} />;
}
