import { isOne } from '../../../words/counted.ts';
import type { EventsWords } from './en.ts';

const words: EventsWords = {
  title: 'Eventos',
  type: 'Tipo',
  when: 'Cuándo',
  position: 'Posición',
  customer: 'Cliente',
  organization: 'toda la organización',
  nothing: 'Todavía no ha pasado nada. Conecte una primera fuente y sus eventos aparecerán aquí.',
  data: 'Lo que se sabe',
  copyData: 'Copiar como JSON',
  id: 'Id',
  resend: 'Reenviar a los webhooks',
  resent: (number) => `Reenviado a ${number} ${isOne(number) ? 'webhook' : 'webhooks'}`,
};
export default words;
