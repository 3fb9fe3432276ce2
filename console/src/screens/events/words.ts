import { counted } from '../../words/counted.ts';

export const words = {
  title: 'Events',
  type: 'Type',
  when: 'When',
  position: 'Position',
  customer: 'Customer',
  organization: 'the whole organization',
  nothing: 'Nothing has happened yet. Connect a first source, and its events appear here.',
  data: 'What is told of it',
  copyData: 'Copy as JSON',
  id: 'Id',
  resend: 'Send to webhooks again',
  resent: (count: number) => `Sent again to ${counted(count, 'webhook')}`,
};
