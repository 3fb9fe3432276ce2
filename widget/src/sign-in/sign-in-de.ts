import type { SignInWords } from './sign-in-en.ts';

const de: SignInWords = {
  signIn: (provider) => `Mit ${provider} anmelden`,
  again: 'Erneut anmelden',
  lead: (provider) => `Sie melden sich auf der Seite von ${provider} an. Ihr Passwort bleibt dort.`,
  enterKeys: 'Stattdessen Schlüssel eingeben',
  signInInstead: 'Stattdessen anmelden',
  missing: 'Melden Sie sich zuerst an.',
  waiting: (provider) => `Weiter geht es im Fenster von ${provider}`,
  waitingText: 'Sobald Sie angemeldet sind, geht es hier von selbst weiter.',
  finishing: 'Die Anmeldung wird abgeschlossen…',
  noWindow: 'Falls sich kein neues Fenster geöffnet hat, öffnen Sie es hier:',
  openWindow: 'Anmeldung öffnen',
  useThisWindow: 'In diesem Fenster weitermachen',
  windowClosed: 'Das Anmeldefenster wurde offenbar geschlossen.',
  windowUnknown: 'Wenn Sie das Fenster geschlossen haben, können Sie es erneut öffnen.',
  reopenWindow: 'Fenster erneut öffnen',
  showWindow: 'Fenster anzeigen',
  cancelled: 'Anmeldung abgebrochen',
  connectedAs: (account) => `Verbunden als ${account}`,
  connected: (provider) => `Mit ${provider} verbunden`,
  otherAccount: 'Anderes Konto verwenden',
  failed: 'Die Anmeldung hat nicht geklappt',
  failures: {
    denied: 'Sie haben nicht zugestimmt. Es wurde nichts verbunden.',
    expired: 'Die Anmeldung hat zu lange gedauert. Beginnen Sie eine neue.',
    refused: 'Der Anbieter hat die Anmeldung nicht angenommen. Versuchen Sie es noch einmal.',
    unreachable: 'Der Anbieter antwortet gerade nicht. Versuchen Sie es später noch einmal.',
    not_possible: 'Die Anmeldung ist gerade nicht möglich. Wenden Sie sich an den Support dieses Produkts.',
  },
  values: {
    'GitLab host': 'GitLab-Server',
    'Sign-in host': 'Server für die Anmeldung',
    'Intercom address': 'Adresse von Intercom',
    'Name of the shop': 'Name des Shops',
    'Subdomain of Zendesk': 'Subdomain bei Zendesk',
  },
  onlyTheName: 'Geben Sie nur den Namen selbst ein, zum Beispiel „acme“, mit Buchstaben, Ziffern und Bindestrichen.',
  oneOfHosts: (hosts) => `Wählen Sie eines davon: ${hosts}.`,
  missingScopes: 'Es fehlen Berechtigungen',
  missingScopesText:
    'Ohne sie können die Daten nicht gelesen werden. Melden Sie sich erneut an und stimmen Sie allen zu:',
  grantAgain: 'Erneut zustimmen',
  unconfirmed: 'Das ist ein anderes Konto',
  unconfirmedText: (account, before) =>
    `Sie haben sich als ${account} angemeldet. Bisher war diese Quelle als ${before} verbunden. Wenn Sie fortfahren, kommen ab jetzt die Daten von ${account}.`,
  unconfirmedUnknown:
    'Sie haben sich mit einem anderen Konto angemeldet als bisher. Wenn Sie fortfahren, kommen ab jetzt die Daten dieses Kontos.',
  confirm: 'Dieses Konto verwenden',
  endedTitle: 'Melden Sie sich erneut an',
  endedText: (provider) =>
    `${provider} nimmt die frühere Anmeldung nicht mehr an. Bis Sie sich erneut anmelden, wird nichts synchronisiert. Einstellungen und Verlauf bleiben erhalten.`,
  restored: 'Sie sind wieder angemeldet. Die Synchronisierung geht von selbst weiter.',
};

export default de;
