import { counted } from '../../words/counted.ts';

export const words = {
  title: 'Events',
  type: 'Type',
  when: 'Time',
  position: 'Position',
  customer: 'Customer',
  organization: 'Organization',
  nothing: 'No events yet. Connect a source to see its events here.',
  data: 'Details',
  copyData: 'Copy as JSON',
  id: 'ID',
  resend: 'Resend to webhooks',
  resent: (count: number) =>
    count === 0 ? 'No webhook subscribes to this event' : `Resent to ${counted(count, 'webhook')}`,
};
