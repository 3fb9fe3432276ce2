import type { SignInWords } from './sign-in-en.ts';

const de: SignInWords = {
  signIn: (provider) => `Mit ${provider} anmelden`,
  again: 'Erneut anmelden',
  lead: (provider) => `Sie melden sich direkt bei ${provider} an. Ihr Passwort sehen wir nie.`,
  enterKeys: 'Stattdessen Zugangsdaten eingeben',
  signInInstead: 'Stattdessen anmelden',
  missing: 'Melden Sie sich zuerst an.',
  waiting: (provider) => `Fahren Sie im Fenster von ${provider} fort`,
  waitingText: 'Sobald Sie angemeldet sind, geht es hier automatisch weiter.',
  finishing: 'Anmeldung wird abgeschlossen …',
  noWindow: 'Kein neues Fenster? Öffnen Sie es hier:',
  openWindow: 'Anmeldung öffnen',
  useThisWindow: 'In diesem Fenster fortfahren',
  windowClosed: 'Das Anmeldefenster wurde offenbar geschlossen.',
  windowUnknown: 'Falls Sie das Fenster geschlossen haben, können Sie es wieder öffnen.',
  reopenWindow: 'Fenster wieder öffnen',
  showWindow: 'Fenster anzeigen',
  cancelled: 'Anmeldung abgebrochen',
  connectedAs: (account) => `Verbunden als ${account}`,
  connected: (provider) => `Mit ${provider} verbunden`,
  otherAccount: 'Anderes Konto verwenden',
  failed: 'Anmeldung fehlgeschlagen',
  failures: {
    denied: 'Sie haben den Zugriff nicht erlaubt. Es wurde nichts verbunden.',
    expired: 'Die Anmeldung hat zu lange gedauert. Versuchen Sie es erneut.',
    refused: 'Der Anbieter hat die Anmeldung abgelehnt. Versuchen Sie es erneut.',
    unreachable: 'Der Anbieter antwortet nicht. Versuchen Sie es später erneut.',
    not_possible: 'Die Anmeldung ist gerade nicht möglich. Wenden Sie sich an den Support.',
  },
  values: {
    'GitLab host': 'GitLab-Server',
    'Sign-in host': 'Anmeldeserver',
    'Intercom address': 'Intercom-Adresse',
    'Shop name': 'Name des Shops',
    'Zendesk subdomain': 'Zendesk-Subdomain',
  },
  onlyTheName: 'Geben Sie nur den Namen ein, zum Beispiel „acme“, mit Buchstaben, Ziffern und Bindestrichen.',
  oneOfHosts: (hosts) => `Wählen Sie eine dieser Adressen: ${hosts}.`,
  missingScopes: 'Fehlende Berechtigungen',
  missingScopesText:
    'Wir benötigen diese Berechtigungen, um Ihre Daten zu lesen. Melden Sie sich erneut an und erlauben Sie alle:',
  grantAgain: 'Berechtigungen erteilen',
  unconfirmed: 'Sie haben ein anderes Konto verwendet',
  unconfirmedText: (account, before) =>
    `Sie haben sich als ${account} angemeldet, diese Quelle ist aber als ${before} verbunden. Wenn Sie fortfahren, werden stattdessen die Daten von ${account} synchronisiert.`,
  unconfirmedUnknown:
    'Sie haben sich mit einem anderen Konto als bisher angemeldet. Wenn Sie fortfahren, werden die Daten des neuen Kontos synchronisiert.',
  confirm: 'Dieses Konto verwenden',
  endedTitle: 'Melden Sie sich erneut an, um fortzufahren',
  endedText: (provider) =>
    `${provider} akzeptiert Ihre Anmeldung nicht mehr, daher wurde die Synchronisierung angehalten. Einstellungen und Verlauf bleiben erhalten.`,
  restored: 'Sie sind wieder angemeldet. Die Synchronisierung wird automatisch fortgesetzt.',
};

export default de;
