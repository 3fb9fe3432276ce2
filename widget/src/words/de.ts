import form from '@inlay/ui/form/words/de.ts';
import type { Words } from './en.ts';

const rows = (count: number, number: string) => `${number} ${count === 1 ? 'Zeile' : 'Zeilen'}`;

export default {
  language: 'de',
  form,

  loading: 'Wird geladen …',
  back: 'Zurück',
  cancel: 'Abbrechen',
  tryAgain: 'Erneut versuchen',
  opensInNewTab: '(öffnet sich in einem neuen Tab)',
  rows,
  nothingNew: 'Keine neuen Daten',

  choose: {
    title: 'Quelle verbinden',
    lead: 'Wählen Sie, woher Ihre Daten kommen.',
    offers: 'Verfügbare Quellen',
    search: 'Quellen suchen',
    found: (count, number) => (count === 1 ? '1 Quelle gefunden' : `${number} Quellen gefunden`),
    nothingFound: (text) => `Keine Quellen für „${text}“ gefunden.`,
    showAll: 'Suche löschen',
    connected: (_count, number) => `${number} verbunden`,
    yourSources: (_count, number) => `Ihre Quellen (${number})`,
  },

  empty: {
    title: 'Noch keine Quellen verfügbar',
    text: 'Quellen, die Sie verbinden können, werden hier angezeigt.',
  },

  connect: {
    title: (template) => `${template} verbinden`,
    guide: 'Anleitung zur Einrichtung',
    submit: 'Testen und verbinden',
  },

  name: {
    label: 'Name',
    hint: 'Wird in Ihrer Quellenliste angezeigt.',
    missing: 'Geben Sie einen Namen ein.',
    unusable: 'Verwenden Sie höchstens 255 Zeichen, ohne Steuerzeichen.',
  },

  steps: {
    label: 'Fortschritt',
    checking: 'Verbindung wird getestet …',
    checked: 'Verbindung getestet',
    connect: 'Verbinden',
    connecting: 'Wird verbunden …',
    connected: 'Verbunden',
    save: 'Speichern',
    saving: 'Wird gespeichert …',
    firstSync: 'Erste Synchronisierung',
    done: 'erledigt',
    failed: 'fehlgeschlagen',
    patience: 'Dauert meist ein bis zwei Minuten.',
  },

  problemOnOurSide: 'Bei uns ist ein Problem aufgetreten. Wir kümmern uns darum – Sie müssen nichts tun.',
  signInEnded: 'Anmeldung ungültig. Melden Sie sich erneut an.',

  check: {
    warnings: 'Test mit Warnungen bestanden',
    oneRecord: (stream) =>
      `${stream}: Die API liefert ein einzelnes Objekt statt einer Liste, daher wird nur eine Zeile synchronisiert. Falls Sie mehr erwarten, prüfen Sie den Pfad.`,
    oneRecordOfList: (stream, path) =>
      `${stream}: Die API liefert ein einzelnes Objekt statt einer Liste, daher wird nur eine Zeile synchronisiert. Die Liste befindet sich vermutlich unter „${path}“. Geben Sie das als Pfad zu den Datensätzen ein.`,
    failed: 'Verbindungstest fehlgeschlagen',
    noReason: 'Die Quelle hat keinen Grund angegeben.',
    next: 'Prüfen Sie Ihre Angaben und versuchen Sie es erneut.',
    cancelled: 'Test abgebrochen. Es wurde nichts gespeichert.',
    unconfirmed: 'Verbindung konnte nicht bestätigt werden',
    unconfirmedText:
      'Die Antwort ging verloren. Prüfen Sie vor dem nächsten Versuch Ihre Quellen, damit Sie dieselbe Quelle nicht doppelt verbinden.',
  },

  discard: {
    title: 'Änderungen verwerfen?',
    text: 'Ihre Änderungen wurden nicht gespeichert.',
    confirm: 'Verwerfen',
    keep: 'Weiter bearbeiten',
  },

  connected: {
    title: (name) => `${name} ist verbunden`,
    pendingTitle: (name) => `${name} wird verbunden`,
    failedTitle: (name) => `${name} konnte nicht verbunden werden`,
    waiting: 'Wird gestartet …',
    syncing: (rows) => `Bisher ${rows}`,
    synced: (rows) => `${rows} synchronisiert`,
    syncedWithoutCount: 'Abgeschlossen',
    syncFailed: 'Fehlgeschlagen',
    syncCancelled: 'Abgebrochen',
    paused: 'Pausiert',
    atNextRun: (when) => `Startet ${when}`,
    byHand: 'Noch nicht gestartet',
    unknown: 'Status nicht verfügbar',
    leave: 'Sie können diese Seite verlassen. Die Synchronisierung läuft im Hintergrund weiter.',
    nothingSynced: 'Alles eingerichtet. Aus dieser Quelle werden noch keine Daten synchronisiert.',
    done: 'Fertig',
    another: 'Weitere Quelle verbinden',
    openSettings: 'Einstellungen prüfen',
  },

  list: {
    title: 'Ihre Quellen',
    add: 'Quelle hinzufügen',
    lastSync: (when) => `Letzte Synchronisierung ${when}`,
    nextSync: (when) => `Nächste ${when}`,
    notSynced: 'Noch nicht synchronisiert',
    statusUnknown: 'Der Synchronisierungsstatus ist gerade nicht verfügbar. Ihre Quellen sind nicht betroffen.',
  },

  states: {
    pending: 'Wird eingerichtet',
    failed: 'Aktion erforderlich',
    syncing: 'Wird synchronisiert',
    sync_failed: 'Fehlgeschlagen',
    paused: 'Pausiert',
    ready: 'Verbunden',
  },

  source: {
    parts: 'Details zur Quelle',
    activity: 'Aktivität',
    settings: 'Einstellungen',
    failed: 'Diese Quelle erfordert Ihre Aufmerksamkeit',
    failedWithoutReason: 'Einrichtung fehlgeschlagen. Prüfen Sie die Einstellungen und speichern Sie sie erneut.',
    reviewSettings: 'Einstellungen prüfen',
    pending: 'Diese Quelle wird eingerichtet. Sie können diese Seite verlassen.',
    nothingSynced: 'Diese Quelle ist verbunden. Es werden noch keine Daten synchronisiert.',
    syncTo: (destination) => `Synchronisierung nach ${destination}`,
    syncNow: 'Jetzt synchronisieren',
    syncing: 'Wird synchronisiert …',
    syncStarted: 'Synchronisierung gestartet',
    cancelSync: 'Synchronisierung abbrechen',
    syncCancelled: 'Synchronisierung abgebrochen',
    // The dative after "seit": "2 Tage" becomes "2 Tagen".
    failingFor: (duration) => `Schlägt seit ${duration} fehl`.replace(/(Tag|Monat|Jahr)e /, '$1en '),
    tryingAgain: (failing) => `${failing}, wird erneut versucht`,
    failing: 'Synchronisierung schlägt fehl',
    paused: 'Die Synchronisierung ist pausiert, bis Ihr Konto wieder aktiv ist.',
    pausedByTeam: 'Die Synchronisierung ist pausiert.',
    notReady:
      'Diese Verbindung wurde gerade geändert, daher konnte die Synchronisierung nicht starten. Versuchen Sie es gleich noch einmal.',
    history: 'Verlauf',
    changes: {
      title: (count, number) => `${number} ${count === 1 ? 'Wert' : 'Werte'} beim Synchronisieren verändert`,
      skipped: (count, number) => `${rows(count, number)} übersprungen: größer als 20 MB`,
      notReplaced:
        'Die Quelle hat nicht bestätigt, dass alle Zeilen gelesen wurden. Die bisherigen Zeilen bleiben erhalten.',
      nulled: (count, number, field) =>
        `${field}: ${number} ${count === 1 ? 'Wert konnte' : 'Werte konnten'} nicht gespeichert werden`,
      shortened: (count, number, field) => `${field}: ${number} ${count === 1 ? 'Wert' : 'Werte'} gekürzt`,
      not_a_number: (count, number, field) =>
        `${field}: ${number} ${count === 1 ? 'nicht numerischer Wert' : 'nicht numerische Werte'} leer gelassen`,
      left_out: (count, number, field) =>
        `${field}: ${number} ${count === 1 ? 'Wert' : 'Werte'} übersprungen, da die Spalte am Ziel fehlt`,
      more: (count, number) => `und ${number} ${count === 1 ? 'weiteres Feld' : 'weitere Felder'}`,
    },
    quietRuns: (_count, number) => `${number} Synchronisierungen ohne neue Daten`,
    noHistory: 'Noch keine Synchronisierungen.',
    showMore: 'Mehr anzeigen',
    save: 'Testen und speichern',
    rename: 'Namen speichern',
    saved: 'Änderungen gespeichert',
    notOffered:
      'Diese Einstellungen können gerade nicht geändert werden. Sie können die Quelle aber umbenennen oder trennen.',
    goneTitle: 'Diese Quelle gibt es nicht mehr',
    goneText: 'Die Quelle wurde möglicherweise in einem anderen Fenster getrennt.',
  },

  choice: {
    open: 'Daten und Zeitplan',
    often: 'Häufigkeit',
    every: (minutes) =>
      minutes < 60
        ? `Alle ${minutes} Minuten`
        : minutes === 60
          ? 'Stündlich'
          : minutes < 1_440
            ? `Alle ${minutes / 60} Stunden`
            : minutes === 1_440
              ? 'Täglich'
              : 'Wöchentlich',
    byHand: 'Manuell',
    asNow: 'Aktuellen Zeitplan beibehalten',
    streams: 'Zu synchronisierende Daten',
    save: 'Speichern',
    soon: 'Die neuen Einstellungen gelten in Kürze.',
  },

  jobs: {
    pending: 'In Warteschlange',
    running: 'Läuft',
    incomplete: 'Erneuter Versuch',
    failed: 'Fehlgeschlagen',
    succeeded: 'Abgeschlossen',
    cancelled: 'Abgebrochen',
  },

  disconnect: {
    heading: 'Quelle trennen',
    text: 'Die Synchronisierung wird beendet und Ihre gespeicherten Zugangsdaten werden gelöscht. Bereits synchronisierte Daten bleiben erhalten.',
    open: 'Trennen',
    title: (name) => `${name} trennen?`,
    confirm: 'Trennen',
    confirming: 'Wird getrennt …',
    done: (name) => `${name} getrennt`,
  },

  failures: {
    offline: {
      title: 'Sie sind offline',
      text: 'Prüfen Sie Ihre Internetverbindung. Wir verbinden Sie automatisch wieder.',
    },
    unreachable: {
      title: 'Keine Antwort',
      text: 'Zeitüberschreitung bei der Anfrage. Prüfen Sie Ihre Verbindung und versuchen Sie es erneut.',
    },
    access_denied: {
      title: 'Kein Zugriff',
      text: 'Möglicherweise hat sich Ihr Zugriff geändert. Laden Sie die Seite neu oder wenden Sie sich an den Support.',
    },
    only_view: { title: 'Nur Ansicht', text: 'Sie können hier nichts ändern, und Links lassen sich nicht öffnen.' },
    not_found: {
      title: 'Nicht mehr verfügbar',
      text: 'Ihre Auswahl existiert nicht mehr. Gehen Sie zurück und wählen Sie neu.',
    },
    conflict: {
      title: 'Das hat nicht geklappt',
      text: 'In der Zwischenzeit hat sich etwas geändert. Versuchen Sie es gleich noch einmal.',
    },
    limit_reached: {
      title: 'Limit erreicht',
      text: 'Entfernen Sie, was Sie nicht benötigen, oder bitten Sie den Support um ein höheres Limit.',
    },
    invalid: {
      title: 'Einige Angaben sind ungültig',
      text: 'Korrigieren Sie die markierten Felder und versuchen Sie es erneut.',
    },
    rate_limited: { title: 'Zu viele Anfragen', text: 'Warten Sie einen Moment und versuchen Sie es erneut.' },
    unavailable: {
      title: 'Etwas ist schiefgelaufen',
      text: 'Das Problem liegt bei uns. Versuchen Sie es in einigen Minuten erneut.',
    },
  },
  checkFields: (fields) => `Das hat nicht geklappt. Prüfen Sie: ${fields}.`,
  reasons: {
    sign_in_lost: 'Ihre Anmeldung ist verloren gegangen. Melden Sie sich erneut an.',
    not_reported:
      'Es wurde kein Grund angegeben. Versuchen Sie es erneut. Tritt der Fehler weiter auf, wenden Sie sich an den Support.',
    platform_not_ready: 'Die Einrichtung dauert länger als üblich. Wir schließen sie automatisch ab.',
    rejected_by_platform: 'Diese Einstellungen wurden abgelehnt. Prüfen Sie sie und versuchen Sie es erneut.',
    source_lost: 'Diese Quelle gibt es nicht mehr. Trennen Sie sie und verbinden Sie sie dann neu.',
    connection_lost: 'Diese Verbindung gibt es nicht mehr. Trennen Sie die Quelle und verbinden Sie sie dann neu.',
    no_streams:
      'Diese Quelle enthält keine Daten zum Synchronisieren. Fügen Sie dort Daten hinzu und versuchen Sie es erneut.',
    chosen_streams_gone: 'Die ausgewählten Daten gibt es in dieser Quelle nicht mehr. Wählen Sie andere Daten aus.',
    check_interrupted: 'Der Test wurde unterbrochen. Versuchen Sie es erneut.',
    check_not_run: 'Der Test konnte nicht ausgeführt werden. Versuchen Sie es später erneut.',
  },
  quotas: {
    reached: (what, next) => `Sie haben das Limit von ${what} erreicht. ${next}`,
    things: {
      sources: (count, amount) => `${amount} ${count === 1 ? 'Quelle' : 'Quellen'}`,
      connections: (count, amount) => `${amount} ${count === 1 ? 'Verbindung' : 'Verbindungen'}`,
      concurrent_syncs: (count, amount) =>
        `${amount} ${count === 1 ? 'gleichzeitiger Synchronisierung' : 'gleichzeitigen Synchronisierungen'}`,
      rows_per_day: (count, amount) => `${rows(count, amount)} pro Tag`,
      rows_per_month: (count, amount) => `${rows(count, amount)} pro Monat`,
      bytes_per_day: (_count, amount) => `${amount} pro Tag`,
      bytes_per_month: (_count, amount) => `${amount} pro Monat`,
    },
    no_room: 'Trennen Sie eine nicht benötigte Quelle oder bitten Sie den Support um ein höheres Limit.',
    too_many: 'Versuchen Sie es erneut, sobald eine davon beendet ist.',
    waits: 'Diese Synchronisierung startet, sobald eine andere beendet ist.',
    resumes: (time) => `Die Synchronisierung wird am ${time} fortgesetzt.`,
    nextSync: (time) => `Die nächste Synchronisierung dieser Verbindung ist ab ${time} möglich.`,
  },
  retryIn: (duration) => `Versuchen Sie es in ${duration} erneut.`,

  offlineBanner: 'Sie sind offline. Wir verbinden Sie automatisch wieder.',
  stale: 'Die Seite konnte nicht aktualisiert werden. Die Anzeige ist möglicherweise veraltet.',

  expired: {
    title: 'Ihre Sitzung ist abgelaufen',
    renewing: 'Ihre Sitzung wird erneuert. Ihre Eingaben gehen nicht verloren.',
    reload: 'Laden Sie die Seite neu oder öffnen Sie sie erneut aus der Anwendung.',
  },
} satisfies Words;
