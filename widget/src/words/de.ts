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
  nothingNew: 'Nichts Neues',

  choose: {
    title: 'Quelle verbinden',
    lead: 'Wählen Sie, woher Ihre Daten kommen.',
    offers: 'Verfügbare Quellen',
    search: 'Quellen suchen',
    found: (count, number) => (count === 1 ? '1 Quelle gefunden' : `${number} Quellen gefunden`),
    nothingFound: (text) => `Keine Quelle passt zu „${text}“.`,
    showAll: 'Alle Quellen anzeigen',
    connected: (_count, number) => `${number} verbunden`,
    yourSources: (_count, number) => `Ihre Quellen (${number})`,
  },

  empty: {
    title: 'Noch nichts zu verbinden',
    text: 'Zurzeit gibt es keine Quellen, die Sie verbinden können. Sobald es welche gibt, finden Sie sie hier.',
  },

  connect: {
    title: (template) => `${template} verbinden`,
    guide: 'Anleitung zur Einrichtung',
    submit: 'Testen und verbinden',
  },

  name: {
    label: 'Name',
    hint: 'So erscheint diese Quelle in Ihrer Liste.',
    missing: 'Geben Sie einen Namen ein.',
    unusable: 'Verwenden Sie höchstens 255 Zeichen und keine Steuerzeichen.',
  },

  steps: {
    label: 'Fortschritt',
    checking: 'Ihre Angaben werden geprüft …',
    checked: 'Angaben geprüft',
    connect: 'Verbinden',
    connecting: 'Wird verbunden …',
    connected: 'Verbunden',
    save: 'Speichern',
    saving: 'Wird gespeichert …',
    firstSync: 'Erste Synchronisierung',
    done: 'erledigt',
    failed: 'fehlgeschlagen',
    patience: 'Das kann ein bis zwei Minuten dauern.',
  },

  problemOnOurSide: 'Auf unserer Seite gibt es ein Problem, und unser Team kann es sehen. Sie müssen nichts ändern.',
  signInEnded: 'Die Anmeldung gilt nicht mehr. Melden Sie sich erneut an.',

  check: {
    warnings: 'Geprüft, aber das sollten Sie wissen',
    oneRecord: (stream) =>
      `${stream}: Die API antwortet mit einem einzelnen Objekt statt mit einer Liste, daher kommt nur eine Zeile an. Wenn es mehr sein sollten, prüfen Sie den Pfad.`,
    oneRecordOfList: (stream, path) =>
      `${stream}: Die API antwortet mit einem einzelnen Objekt statt mit einer Liste, daher kommt nur eine Zeile an. Die Liste steht wahrscheinlich unter „${path}“: Geben Sie das als Pfad der Datensätze ein.`,
    failed: 'Bei der Prüfung gab es ein Problem',
    noReason: 'Die Quelle hat keinen Grund genannt. Gehen Sie Ihre Angaben durch und versuchen Sie es erneut.',
    cancelled: 'Prüfung abgebrochen. Es wurde nichts gespeichert.',
    unconfirmed: 'Die Verbindung konnte nicht bestätigt werden',
    unconfirmedText:
      'Die Antwort ist unterwegs verloren gegangen. Sehen Sie in Ihren Quellen nach, bevor Sie es erneut versuchen, damit nichts doppelt verbunden wird.',
  },

  discard: {
    title: 'Eingaben verwerfen?',
    text: 'Ihre Eingaben sind noch nicht gespeichert.',
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
    atNextRun: (when) => `Beginnt ${when}`,
    byHand: 'Noch nicht gestartet',
    unknown: 'Zurzeit nicht bekannt',
    leave: 'Sie müssen nicht warten: Alles läuft von selbst weiter.',
    nothingSynced:
      'Ihre Quelle ist verbunden. Es werden noch keine Daten daraus synchronisiert, und Sie müssen nichts weiter tun.',
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
    statusUnknown:
      'Der Stand der Synchronisierung ist gerade nicht verfügbar. Ihre Quellen sind davon nicht betroffen.',
  },

  states: {
    pending: 'Wird eingerichtet',
    failed: 'Handlungsbedarf',
    syncing: 'Wird synchronisiert',
    sync_failed: 'Zuletzt fehlgeschlagen',
    paused: 'Pausiert',
    ready: 'Verbunden',
  },

  source: {
    parts: 'Bereiche dieser Quelle',
    activity: 'Aktivität',
    settings: 'Einstellungen',
    failed: 'Diese Quelle braucht Ihre Aufmerksamkeit',
    failedWithoutReason:
      'Sie konnte nicht eingerichtet werden. Prüfen Sie die Einstellungen und speichern Sie sie erneut.',
    reviewSettings: 'Einstellungen prüfen',
    pending: 'Diese Quelle wird gerade eingerichtet. Das läuft von selbst weiter.',
    nothingSynced: 'Diese Quelle ist verbunden. Es werden noch keine Daten daraus synchronisiert.',
    syncTo: (destination) => `Synchronisierung nach ${destination}`,
    syncNow: 'Jetzt synchronisieren',
    syncing: 'Läuft …',
    syncStarted: 'Synchronisierung gestartet',
    cancelSync: 'Synchronisierung abbrechen',
    syncCancelled: 'Synchronisierung abgebrochen',
    failingSince: (when) => `Schlägt fehl seit ${when}`,
    tryingAgain: (failing) => `${failing}, neuer Versuch läuft`,
    failing: 'Synchronisierung schlägt fehl',
    paused: 'Die Synchronisierung ist pausiert. Sie geht weiter, sobald Ihr Konto wieder aktiv ist.',
    pausedByTeam: 'Die Synchronisierung ist pausiert.',
    notReady:
      'Die Synchronisierung konnte nicht gestartet werden, weil sich an dieser Verbindung gerade etwas geändert hat. Versuchen Sie es gleich noch einmal.',
    history: 'Verlauf',
    changes: {
      title: (count, number) => `${number} ${count === 1 ? 'Wert kam' : 'Werte kamen'} nicht unverändert an`,
      skipped: (count, number) =>
        `${number} ${count === 1 ? 'Zeile wurde' : 'Zeilen wurden'} ausgelassen: zu groß zum Übertragen (20 MB)`,
      notReplaced:
        'Die Quelle hat nicht gesagt, ob sie bis zum Ende gelesen wurde. Die bisherigen Zeilen bleiben erhalten.',
      nulled: (count, number, field) =>
        `${number} ${count === 1 ? 'Wert' : 'Werte'} des Feldes ${field} ${count === 1 ? 'konnte' : 'konnten'} nicht übernommen werden`,
      shortened: (count, number, field) =>
        `${number} ${count === 1 ? 'Wert' : 'Werte'} des Feldes ${field} ${count === 1 ? 'musste' : 'mussten'} gekürzt werden`,
      not_a_number: (count, number, field) =>
        `${number} ${count === 1 ? 'Wert' : 'Werte'} des Feldes ${field} ${count === 1 ? 'war' : 'waren'} keine Zahl, das Feld bleibt leer`,
      left_out: (count, number, field) =>
        `Für ${number} ${count === 1 ? 'Wert' : 'Werte'} des Feldes ${field} gibt es am Ziel keinen Platz`,
      more: (count, number) => `und ${number} ${count === 1 ? 'weiteres Feld' : 'weitere Felder'}`,
    },
    quietRuns: (_count, number) => `${number} Synchronisierungen ohne neue Daten`,
    noHistory: 'Es wurde noch nichts synchronisiert.',
    showMore: 'Mehr anzeigen',
    save: 'Testen und speichern',
    rename: 'Namen speichern',
    saved: 'Ihre Änderungen sind gespeichert',
    notOffered:
      'Die Angaben dieser Quelle können zurzeit nicht geändert werden. Sie können sie aber umbenennen oder trennen.',
    goneTitle: 'Diese Quelle gibt es nicht mehr',
    goneText: 'Sie wurde getrennt, vielleicht in einem anderen Fenster.',
  },

  choice: {
    open: 'Daten und Zeitplan',
    often: 'Wie oft',
    every: (minutes) =>
      minutes < 60
        ? `Alle ${minutes} Minuten`
        : minutes === 60
          ? 'Jede Stunde'
          : minutes < 1_440
            ? `Alle ${minutes / 60} Stunden`
            : minutes === 1_440
              ? 'Jeden Tag'
              : 'Jede Woche',
    byHand: 'Nur wenn ich sie starte',
    asNow: 'Wie jetzt',
    streams: 'Was synchronisiert wird',
    save: 'Speichern',
    soon: 'Sie gelten in wenigen Augenblicken.',
  },

  jobs: {
    pending: 'Wartet auf den Start',
    running: 'Läuft',
    incomplete: 'Neuer Versuch',
    failed: 'Fehlgeschlagen',
    succeeded: 'Abgeschlossen',
    cancelled: 'Abgebrochen',
  },

  disconnect: {
    heading: 'Diese Quelle trennen',
    text: 'Die Synchronisierung endet und Ihre Zugangsdaten werden gelöscht. Bereits gelieferte Daten bleiben, wo sie sind.',
    open: 'Trennen',
    title: (name) => `${name} trennen?`,
    confirm: 'Trennen',
    confirming: 'Wird getrennt …',
    done: (name) => `${name} ist getrennt`,
  },

  failures: {
    offline: {
      title: 'Sie sind offline',
      text: 'Prüfen Sie Ihre Internetverbindung. Es geht weiter, sobald Sie wieder verbunden sind.',
    },
    unreachable: {
      title: 'Keine Antwort',
      text: 'Der Dienst hat nicht rechtzeitig geantwortet. Prüfen Sie Ihre Verbindung und versuchen Sie es erneut.',
    },
    access_denied: {
      title: 'Sie haben keinen Zugriff',
      text: 'Möglicherweise hat sich Ihr Zugriff geändert. Laden Sie die Seite neu oder wenden Sie sich an den Support dieses Produkts.',
    },
    only_view: {
      title: 'Das ist eine Ansicht',
      text: 'Hier kann nichts geändert werden, und Links öffnen sich nicht.',
    },
    not_found: {
      title: 'Nicht mehr verfügbar',
      text: 'Was Sie gesucht haben, gibt es nicht mehr. Gehen Sie zurück und wählen Sie neu.',
    },
    conflict: {
      title: 'Das geht gerade nicht',
      text: 'Inzwischen hat sich etwas geändert. Versuchen Sie es gleich noch einmal.',
    },
    limit_reached: {
      title: 'Ein Limit ist erreicht',
      text: 'Entfernen Sie, was nicht gebraucht wird, oder bitten Sie den Support dieses Produkts um ein höheres Limit.',
    },
    invalid: {
      title: 'Einige Angaben werden nicht angenommen',
      text: 'Korrigieren Sie die markierten Felder und versuchen Sie es erneut.',
    },
    rate_limited: { title: 'Zu viele Anfragen', text: 'Warten Sie einen Moment und versuchen Sie es dann erneut.' },
    unavailable: {
      title: 'Etwas ist schiefgegangen',
      text: 'Das liegt nicht an Ihnen. Versuchen Sie es in ein paar Minuten erneut.',
    },
  },
  lookAt: (fields) => `Mit diesen Angaben hat es nicht funktioniert. Prüfen Sie: ${fields}.`,
  reasons: {
    sign_in_lost: 'Ihre Anmeldung ist verloren gegangen. Melden Sie sich erneut an.',
    platform_not_ready: 'Die Einrichtung dauert länger als üblich. Sie wird automatisch fortgesetzt.',
    rejected_by_platform:
      'Diese Einstellungen wurden nicht akzeptiert. Prüfen Sie sie und versuchen Sie es noch einmal.',
    source_lost: 'Diese Quelle gibt es nicht mehr. Trennen Sie sie und verbinden Sie sie neu.',
    connection_lost: 'Diese Verbindung gibt es nicht mehr. Trennen Sie die Quelle und verbinden Sie sie neu.',
    no_streams: 'Diese Quelle enthält keine Daten, die synchronisiert werden können.',
    chosen_streams_gone: 'Die ausgewählten Daten gibt es in dieser Quelle nicht mehr. Wählen Sie neu aus.',
    check_interrupted: 'Die Prüfung wurde unterbrochen. Versuchen Sie es noch einmal.',
    check_not_run: 'Die Prüfung konnte nicht ausgeführt werden. Versuchen Sie es später noch einmal.',
  },
  quotas: {
    reached: (what) => `Das Limit von ${what} ist erreicht.`,
    things: {
      sources: (count, amount) => `${amount} ${count === 1 ? 'Quelle' : 'Quellen'}`,
      connections: (count, amount) => `${amount} ${count === 1 ? 'Verbindung' : 'Verbindungen'}`,
      concurrent_syncs: (count, amount) =>
        `${amount} gleichzeitigen ${count === 1 ? 'Synchronisierung' : 'Synchronisierungen'}`,
      rows_per_day: (count, amount) => `${amount} ${count === 1 ? 'Zeile' : 'Zeilen'} pro Tag`,
      rows_per_month: (count, amount) => `${amount} ${count === 1 ? 'Zeile' : 'Zeilen'} pro Monat`,
      bytes_per_day: (_count, amount) => `${amount} pro Tag`,
      bytes_per_month: (_count, amount) => `${amount} pro Monat`,
    },
    no_room: 'Entfernen Sie eine Quelle, die nicht gebraucht wird, oder bitten Sie um ein höheres Limit.',
    too_many: 'Versuchen Sie es noch einmal, wenn eine beendet ist.',
    waits: 'Die Synchronisierung startet von selbst, sobald eine andere beendet ist.',
    goesOn: (time) => `Die Synchronisierung geht am ${time} von selbst weiter.`,
    nextSync: (time) => `Die nächste Synchronisierung dieser Verbindung kann am ${time} starten.`,
  },
  retryIn: (duration) => `Sie können es in ${duration} erneut versuchen.`,

  offlineBanner: 'Sie sind offline. Es geht weiter, sobald Sie wieder verbunden sind.',
  stale: 'Diese Ansicht kann gerade nicht aktualisiert werden und ist vielleicht nicht auf dem neuesten Stand.',

  expired: {
    title: 'Ihre Sitzung ist abgelaufen',
    renewing: 'Einen Moment: Sie wird erneuert. Ihre Eingaben gehen nicht verloren.',
    reload: 'Laden Sie diese Seite neu, um fortzufahren.',
  },
} satisfies Words;
