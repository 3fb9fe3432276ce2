/** The dialog of the widget: the page around it also covers its own parts meanwhile. */
import { type DialogProps, Dialog as PlainDialog } from '@inlay/ui/parts/dialog.tsx';
import { useWidget } from '../widget.ts';

export function Dialog(props: Omit<DialogProps, 'onCover'>) {
  return <PlainDialog onCover={useWidget().host.cover} {...props} />;
}
