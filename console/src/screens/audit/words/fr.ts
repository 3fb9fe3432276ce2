import type { AuditWords } from './en.ts';

const words: AuditWords = {
  title: 'Audit',
  type: 'Type',
  who: 'Qui',
  what: 'Client',
  outcome: 'Résultat',
  outcomes: { done: 'Fait', refused: 'Refusé' },
  when: 'Quand',
  from: 'Depuis',
  client: 'Programme',
  position: 'Position',
  request: 'Requête',
  hash: 'Empreinte',
  organization: 'toute l’organisation',
  exportAs: (format) => `Exporter en ${format}`,
  nothing: 'Le journal est encore vide.',
  missing: 'Cette entrée n’existe pas. Elle n’est peut-être plus conservée.',
  changes: 'Avant et après',
  noChanges: 'Rien à dire de l’avant et de l’après, ou cela a été effacé.',
  place: 'Endroit',
  before: 'Avant',
  after: 'Après',
  data: 'Ce qui en est dit',
  copyData: 'Copier en JSON',
};
export default words;
