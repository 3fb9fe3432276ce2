import { isOneInFrench } from '../../../words/counted.ts';
import type { EventsWords } from './en.ts';

const words: EventsWords = {
  title: 'Événements',
  type: 'Type',
  when: 'Quand',
  position: 'Position',
  customer: 'Client',
  organization: 'toute l’organisation',
  nothing: 'Rien ne s’est encore passé. Connectez une première source et ses événements apparaîtront ici.',
  data: 'Ce qui en est dit',
  copyData: 'Copier en JSON',
  id: 'Id',
  resend: 'Renvoyer aux webhooks',
  resent: (number) => `Renvoyé à ${number} ${isOneInFrench(number) ? 'webhook' : 'webhooks'}`,
};
export default words;
