import type { AuditWords } from './en.ts';

const words: AuditWords = {
  title: 'Protokoll',
  type: 'Art',
  who: 'Wer',
  what: 'Kunde',
  outcome: 'Ergebnis',
  outcomes: { done: 'Getan', refused: 'Abgewiesen' },
  when: 'Wann',
  from: 'Von',
  client: 'Programm',
  position: 'Position',
  request: 'Anfrage',
  hash: 'Hash',
  organization: 'die ganze Organisation',
  exportAs: (format) => `Als ${format} exportieren`,
  nothing: 'Noch steht nichts im Protokoll.',
  missing: 'Diesen Eintrag gibt es nicht. Vielleicht wird er nicht mehr aufbewahrt.',
  changes: 'Vorher und nachher',
  noChanges: 'Zu vorher und nachher gibt es nichts zu sagen, oder es wurde gelöscht.',
  place: 'Stelle',
  before: 'Vorher',
  after: 'Nachher',
  data: 'Was dazu bekannt ist',
  copyData: 'Als JSON kopieren',
};
export default words;
