import { type Counted, isOne } from '../../../words/counted.ts';
import type { Translated } from '../../../words/screen-words.ts';

const en = {
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
  resent: (number: Counted) => `Sent again to ${number} ${isOne(number) ? 'webhook' : 'webhooks'}`,
};

export default en;
export type EventsWords = Translated<typeof en>;
