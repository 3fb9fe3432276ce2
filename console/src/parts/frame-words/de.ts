import type { FrameWords } from './en.ts';

const words: FrameWords = {
  sees: (customer) => `Was ${customer} sieht`,
  readOnly: 'Nur lesen: Hier kann nichts geändert werden. Im Audit steht, dass Sie nachgesehen haben.',
  frame: 'Widget',
  language: 'Sprache',
  automatic: 'Wie der Browser',
  scheme: 'Farbschema',
  schemes: { auto: 'Wie das System', light: 'Hell', dark: 'Dunkel' },
  notLoaded: 'Das Widget wurde nicht geladen. Prüfen Sie Ihre Verbindung und versuchen Sie es erneut.',
  refused: 'Der Dienst nimmt diese Ansicht nicht mehr an. Versuchen Sie es erneut.',
  ended: 'Ihre Sitzung ist beendet und damit auch diese Ansicht.',
  preview: 'Vorschau',
  draft: 'Was ein neuer Kunde von dieser Vorlage sehen würde. Sie ist nicht gespeichert.',
  lastGood: 'Dieser Entwurf kann nicht gezeigt werden. Das Bild zeigt den letzten, bei dem es ging.',
  notYet: 'Dieser Entwurf kann noch nicht gezeigt werden.',
};

export default words;
