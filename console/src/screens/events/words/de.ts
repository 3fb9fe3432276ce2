import { isOne } from '../../../words/counted.ts';
import type { EventsWords } from './en.ts';

const words: EventsWords = {
  title: 'Ereignisse',
  type: 'Art',
  when: 'Wann',
  position: 'Position',
  customer: 'Kunde',
  organization: 'die ganze Organisation',
  nothing: 'Noch ist nichts geschehen. Verbinden Sie eine erste Quelle, und ihre Ereignisse erscheinen hier.',
  data: 'Was dazu bekannt ist',
  copyData: 'Als JSON kopieren',
  id: 'Id',
  resend: 'Erneut an Webhooks senden',
  resent: (number) => `Erneut an ${number} ${isOne(number) ? 'Webhook' : 'Webhooks'} gesendet`,
};
export default words;
