import type { FormWords } from '../form-words.ts';

export default {
  optional: 'optional',
  optionalSettings: 'Optionale Einstellungen',
  choose: 'Bitte wählen …',
  notSet: 'Nicht festgelegt',
  format: (example) => `Format: ${example}`,
  utc: 'Die Uhrzeit gilt in UTC.',
  show: (title) => `${title} anzeigen`,
  saved: 'Gespeichert, unverändert',
  keepSaved: 'Gespeicherten Wert behalten',
  secretAnew: 'Die Adresse hat sich geändert. Geben Sie dieses Geheimnis noch einmal ein.',
  add: 'Hinzufügen',
  addTo: (title) => `Hinzufügen: ${title}`,
  remove: (title) => `${title} entfernen`,
  numbered: (title, number) => `${title} ${number}`,
  faulty: (count) => `Bitte prüfen Sie ${count} Felder.`,
  faults: {
    required: 'Bitte füllen Sie dieses Feld aus.',
    choose: 'Bitte treffen Sie eine Auswahl.',
    number: 'Bitte geben Sie eine Zahl ein.',
    integer: 'Bitte geben Sie eine ganze Zahl ein.',
    json: 'Bitte geben Sie gültiges JSON der passenden Art ein.',
    minimum: (limit) => `Der Wert muss mindestens ${limit} sein.`,
    maximum: (limit) => `Der Wert darf höchstens ${limit} sein.`,
    moreThan: (limit) => `Der Wert muss größer als ${limit} sein.`,
    lessThan: (limit) => `Der Wert muss kleiner als ${limit} sein.`,
    multipleOf: (step) => `Der Wert muss ein Vielfaches von ${step} sein.`,
    minLength: (limit) => `Bitte geben Sie mindestens ${limit} Zeichen ein.`,
    maxLength: (limit) => `Bitte geben Sie höchstens ${limit} Zeichen ein.`,
    minItems: (limit) =>
      limit === 1
        ? 'Bitte fügen Sie mindestens einen Eintrag hinzu.'
        : `Bitte fügen Sie mindestens ${limit} Einträge hinzu.`,
    maxItems: (limit) => (limit === 1 ? 'Nur ein Eintrag ist möglich.' : `Höchstens ${limit} Einträge sind möglich.`),
    uniqueItems: 'Ein Eintrag kommt doppelt vor.',
    pattern: (wanted) => `Das erwartete Format ist ${wanted}`,
    format: {
      email: 'Bitte geben Sie eine E-Mail-Adresse ein.',
      uri: 'Bitte geben Sie eine vollständige Adresse ein, etwa https://example.com.',
      date: 'Bitte geben Sie ein Datum ein.',
      'date-time': 'Bitte geben Sie Datum und Uhrzeit ein.',
      other: 'Das hat nicht das erwartete Format.',
    },
    other: 'Dieser Wert ist hier nicht möglich.',
  },
} satisfies FormWords;
