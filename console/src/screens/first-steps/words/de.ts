import type { FirstStepsWords } from './en.ts';

const de: FirstStepsWords = {
  title: 'Erste Schritte',
  lead: 'Von nichts bis zu den ersten Zeilen eines Kunden, in diesem Browser.',
  hide: 'Ausblenden',
  show: 'Erste Schritte zeigen',
  done: 'erledigt',
  steps: {
    destination: {
      title: 'Festlegen, wohin Daten gehen',
      text: 'Wählen Sie ein Ziel und machen Sie daraus eine Verbindungsvorlage. Die Quellen aller Kunden werden damit verbunden.',
    },
    source: {
      title: 'Eine Quelle anbieten',
      text: 'Wählen Sie einen Konnektor und machen Sie daraus eine Quellenvorlage: Das sehen Kunden im Widget. „Sample data“ braucht kein Konto.',
    },
    customer: {
      title: 'Einen Kunden anlegen',
      text: 'Später tut das Ihr Backend, indem es ein Widget-Token holt. Für einen ersten Versuch genügt irgendein Name.',
    },
    connect: {
      title: 'Als dieser Kunde eine Quelle verbinden',
      text: 'Öffnen Sie das Widget in einem eigenen Tab, wie Ihre Kunden es sehen werden, und verbinden Sie dort die Quelle.',
    },
    rows: {
      title: 'Die ersten Zeilen ankommen sehen',
      text: 'Die erste Synchronisierung beginnt von selbst. Diese Liste verschwindet, sobald Zeilen angekommen sind.',
    },
  },
  chooseDestination: 'Ziel wählen',
  chooseSource: 'Konnektor wählen',
  seeJobs: 'Jobs ansehen',
  addCustomer: 'Kunden anlegen',
  addText: 'Ein Kunde ist ein Workspace Ihrer Organisation. Ihr Backend nennt ihn ebenso.',
  customerName: 'Name',
  nameHint: 'Wie Ihr Backend ihn nennen wird, zum Beispiel acme-inc.',
  added: (name) => `${name} ist angelegt`,
  openWidget: 'Widget öffnen',
  openText: (name) =>
    `Macht einen Link zum echten Widget als ${name}. Wer ihn hat, kann eine Stunde lang Quellen dieses Kunden verbinden und entfernen.`,
  makeLink: 'Link machen',
  linkText: 'Der Link öffnet das echte Widget in einem neuen Tab. Er gilt eine Stunde; geben Sie ihn nicht weiter.',
  openAs: (name) => `Widget als ${name} öffnen`,
  copyLink: 'Link kopieren',
  toCustomer: 'Zum Kunden',
};

export default de;
