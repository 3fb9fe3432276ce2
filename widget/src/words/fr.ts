import form from '@inlay/ui/form/words/fr.ts';
import type { Words } from './en.ts';

const rows = (count: number, number: string) => `${number} ${count < 2 ? 'ligne' : 'lignes'}`;

export default {
  language: 'fr',
  form,

  loading: 'Chargement…',
  back: 'Retour',
  cancel: 'Annuler',
  tryAgain: 'Réessayer',
  opensInNewTab: '(s’ouvre dans un nouvel onglet)',
  rows,
  nothingNew: 'Aucune nouvelle donnée',

  choose: {
    title: 'Connecter une source',
    lead: 'Choisissez la provenance de vos données.',
    offers: 'Sources disponibles',
    search: 'Rechercher une source',
    found: (count, number) => `${number} ${count < 2 ? 'source trouvée' : 'sources trouvées'}`,
    nothingFound: (text) => `Aucune source ne correspond à « ${text} ».`,
    showAll: 'Effacer la recherche',
    connected: (count, number) => `${number} ${count < 2 ? 'connectée' : 'connectées'}`,
    yourSources: (_count, number) => `Vos sources (${number})`,
  },

  empty: {
    title: 'Aucune source disponible pour l’instant',
    text: 'Les sources que vous pouvez connecter apparaîtront ici.',
  },

  connect: {
    title: (template) => `Connecter ${template}`,
    guide: 'Guide de configuration',
    submit: 'Tester et connecter',
  },

  name: {
    label: 'Nom',
    hint: 'Affiché dans la liste de vos sources.',
    missing: 'Saisissez un nom.',
    unusable: 'Utilisez 255 caractères au maximum, sans caractères de contrôle.',
  },

  steps: {
    label: 'Progression',
    checking: 'Test de la connexion…',
    checked: 'Connexion testée',
    connect: 'Connecter',
    connecting: 'Connexion…',
    connected: 'Source connectée',
    save: 'Enregistrer',
    saving: 'Enregistrement…',
    firstSync: 'Première synchronisation',
    done: 'terminé',
    failed: 'échec',
    patience: 'Prend généralement une à deux minutes.',
  },

  problemOnOurSide: 'Un problème est survenu de notre côté. Nous nous en occupons, vous n’avez rien à faire.',
  signInEnded: 'Autorisation non valide. Reconnectez-vous.',

  check: {
    warnings: 'Test réussi avec des avertissements',
    oneRecord: (stream) =>
      `${stream} : l’API renvoie un seul objet au lieu d’une liste, une seule ligne est donc synchronisée. Si vous en attendez davantage, vérifiez le chemin.`,
    oneRecordOfList: (stream, path) =>
      `${stream} : l’API renvoie un seul objet au lieu d’une liste, une seule ligne est donc synchronisée. La liste se trouve probablement dans « ${path} ». Indiquez-le comme chemin des enregistrements.`,
    failed: 'Échec du test de connexion',
    noReason: 'La source n’a donné aucune raison.',
    next: 'Vérifiez vos informations, puis réessayez.',
    cancelled: 'Test annulé. Rien n’a été enregistré.',
    unconfirmed: 'Nous n’avons pas pu confirmer la connexion',
    unconfirmedText:
      'La réponse s’est perdue. Avant de réessayer, vérifiez vos sources pour ne pas connecter deux fois la même.',
  },

  discard: {
    title: 'Abandonner les modifications ?',
    text: 'Vos modifications n’ont pas été enregistrées.',
    confirm: 'Abandonner',
    keep: 'Continuer à modifier',
  },

  connected: {
    title: (name) => `La source ${name} est connectée`,
    pendingTitle: (name) => `Connexion de ${name}`,
    failedTitle: (name) => `Impossible de connecter ${name}`,
    waiting: 'Démarrage…',
    syncing: (rows) => `${rows} jusqu’ici`,
    synced: (rows) => `${rows} au total`,
    syncedWithoutCount: 'Terminée',
    syncFailed: 'Échec',
    syncCancelled: 'Annulée',
    paused: 'En pause',
    atNextRun: (when) => `Démarre ${when}`,
    byHand: 'Pas encore démarrée',
    unknown: 'État indisponible',
    leave: 'Vous pouvez quitter cette page. La synchronisation continue en arrière-plan.',
    nothingSynced: 'Tout est prêt. Aucune donnée de cette source n’est encore synchronisée.',
    done: 'Terminé',
    another: 'Connecter une autre source',
    openSettings: 'Vérifier les paramètres',
  },

  list: {
    title: 'Vos sources',
    add: 'Ajouter une source',
    lastSync: (when) => `Dernière synchronisation ${when}`,
    nextSync: (when) => `Prochaine ${when}`,
    notSynced: 'Pas encore synchronisée',
    statusUnknown: 'L’état de synchronisation est indisponible pour le moment. Vos sources ne sont pas affectées.',
  },

  states: {
    pending: 'Configuration en cours',
    failed: 'Action requise',
    syncing: 'Synchronisation',
    sync_failed: 'Échec',
    paused: 'En pause',
    ready: 'Connectée',
  },

  source: {
    parts: 'Détails de la source',
    activity: 'Activité',
    settings: 'Paramètres',
    failed: 'Cette source requiert votre attention',
    failedWithoutReason: 'La configuration a échoué. Vérifiez les paramètres et enregistrez-les à nouveau.',
    reviewSettings: 'Vérifier les paramètres',
    pending: 'Cette source est en cours de configuration. Vous pouvez quitter cette page.',
    nothingSynced: 'Cette source est connectée. Aucune donnée n’est encore synchronisée.',
    syncTo: (destination) => `Synchronisation vers ${destination}`,
    syncNow: 'Synchroniser maintenant',
    syncing: 'En cours…',
    syncStarted: 'Synchronisation démarrée',
    cancelSync: 'Annuler la synchronisation',
    syncCancelled: 'Synchronisation annulée',
    failingFor: (duration) => `En échec depuis ${duration}`,
    tryingAgain: (failing) => `${failing}, nouvelle tentative en cours`,
    failing: 'Synchronisation en échec',
    paused: 'La synchronisation est en pause jusqu’à la réactivation de votre compte.',
    pausedByTeam: 'La synchronisation est en pause.',
    notReady:
      'Cette connexion vient d’être modifiée, la synchronisation n’a pas pu démarrer. Réessayez dans un instant.',
    history: 'Historique',
    changes: {
      title: (count, number) =>
        `${number} ${count < 2 ? 'valeur modifiée' : 'valeurs modifiées'} lors de la synchronisation`,
      skipped: (count, number) => `${rows(count, number)} ${count < 2 ? 'ignorée' : 'ignorées'} : plus de 20 Mo`,
      notReplaced:
        'La source n’a pas confirmé que toutes les lignes ont été lues. Les lignes précédentes sont conservées.',
      nulled: (count, number, field) =>
        `${field} : ${number} ${count < 2 ? 'valeur n’a pas pu être enregistrée' : 'valeurs n’ont pas pu être enregistrées'}`,
      shortened: (count, number, field) =>
        `${field} : ${number} ${count < 2 ? 'valeur raccourcie' : 'valeurs raccourcies'}`,
      not_a_number: (count, number, field) =>
        `${field} : ${number} ${count < 2 ? 'valeur non numérique laissée vide' : 'valeurs non numériques laissées vides'}`,
      left_out: (count, number, field) =>
        `${field} : ${number} ${count < 2 ? 'valeur ignorée' : 'valeurs ignorées'}, colonne absente de la destination`,
      more: (count, number) => `et ${number} ${count < 2 ? 'autre champ' : 'autres champs'}`,
    },
    quietRuns: (_count, number) => `${number} synchronisations sans nouvelles données`,
    noHistory: 'Aucune synchronisation pour l’instant.',
    showMore: 'Afficher plus',
    save: 'Tester et enregistrer',
    rename: 'Enregistrer le nom',
    saved: 'Modifications enregistrées',
    notOffered:
      'Vous ne pouvez pas modifier ces paramètres pour le moment, mais vous pouvez renommer ou déconnecter la source.',
    goneTitle: 'Cette source n’existe plus',
    goneText: 'La source a peut-être été déconnectée dans une autre fenêtre.',
  },

  choice: {
    open: 'Données et fréquence',
    often: 'Fréquence de synchronisation',
    every: (minutes) =>
      minutes < 60
        ? `Toutes les ${minutes} minutes`
        : minutes === 60
          ? 'Toutes les heures'
          : minutes < 1_440
            ? `Toutes les ${minutes / 60} heures`
            : minutes === 1_440
              ? 'Tous les jours'
              : 'Toutes les semaines',
    byHand: 'Manuelle',
    asNow: 'Conserver la fréquence actuelle',
    streams: 'Données à synchroniser',
    save: 'Enregistrer',
    soon: 'Les nouveaux paramètres s’appliquent dans un instant.',
  },

  jobs: {
    pending: 'En attente',
    running: 'En cours',
    incomplete: 'Nouvelle tentative',
    failed: 'Échec',
    succeeded: 'Terminée',
    cancelled: 'Annulée',
  },

  disconnect: {
    heading: 'Déconnecter la source',
    text: 'La synchronisation s’arrête et vos identifiants enregistrés sont supprimés. Les données déjà synchronisées sont conservées.',
    open: 'Déconnecter',
    title: (name) => `Déconnecter ${name} ?`,
    confirm: 'Déconnecter',
    confirming: 'Déconnexion…',
    done: (name) => `Source ${name} déconnectée`,
  },

  failures: {
    offline: {
      title: 'Vous êtes hors ligne',
      text: 'Vérifiez votre connexion Internet. La reconnexion est automatique.',
    },
    unreachable: {
      title: 'Pas de réponse',
      text: 'La requête a expiré. Vérifiez votre connexion, puis réessayez.',
    },
    access_denied: {
      title: 'Accès refusé',
      text: 'Votre accès a peut-être changé. Rechargez la page ou contactez l’assistance.',
    },
    only_view: {
      title: 'Lecture seule',
      text: 'Vous ne pouvez rien modifier ici, et les liens ne s’ouvrent pas.',
    },
    not_found: {
      title: 'Plus disponible',
      text: 'Votre sélection n’existe plus. Revenez en arrière et choisissez à nouveau.',
    },
    conflict: {
      title: 'L’opération a échoué',
      text: 'Quelque chose a changé entre-temps. Réessayez dans un instant.',
    },
    limit_reached: {
      title: 'Limite atteinte',
      text: 'Supprimez ce dont vous n’avez pas besoin ou demandez à l’assistance d’augmenter la limite.',
    },
    invalid: {
      title: 'Certaines informations sont incorrectes',
      text: 'Corrigez les champs signalés, puis réessayez.',
    },
    rate_limited: { title: 'Trop de requêtes', text: 'Patientez un instant, puis réessayez.' },
    unavailable: {
      title: 'Une erreur est survenue',
      text: 'Le problème vient de chez nous. Réessayez dans quelques minutes.',
    },
  },
  checkFields: (fields) => `L’opération a échoué. Vérifiez : ${fields}.`,
  reasons: {
    sign_in_lost: 'Votre autorisation a été perdue. Reconnectez-vous.',
    not_reported: 'Aucune raison n’a été donnée. Réessayez ou, si le problème persiste, contactez l’assistance.',
    platform_not_ready: 'La configuration prend plus de temps que prévu. Elle se terminera automatiquement.',
    rejected_by_platform: 'Ces paramètres ont été refusés. Vérifiez-les, puis réessayez.',
    source_lost: 'Cette source n’existe plus. Déconnectez-la, puis reconnectez-la.',
    connection_lost: 'Cette connexion n’existe plus. Déconnectez la source, puis reconnectez-la.',
    no_streams: 'Cette source ne contient aucune donnée à synchroniser. Ajoutez-y des données, puis réessayez.',
    chosen_streams_gone: 'Les données sélectionnées n’existent plus dans cette source. Sélectionnez d’autres données.',
    check_interrupted: 'Le test a été interrompu. Réessayez.',
    check_not_run: 'Le test n’a pas pu être lancé. Réessayez plus tard.',
  },
  quotas: {
    reached: (what, next) => `Vous avez atteint la limite de ${what}. ${next}`,
    things: {
      sources: (count, amount) => `${amount} ${count < 2 ? 'source' : 'sources'}`,
      connections: (count, amount) => `${amount} ${count < 2 ? 'connexion' : 'connexions'}`,
      concurrent_syncs: (count, amount) =>
        `${amount} ${count < 2 ? 'synchronisation simultanée' : 'synchronisations simultanées'}`,
      rows_per_day: (count, amount) => `${rows(count, amount)} par jour`,
      rows_per_month: (count, amount) => `${rows(count, amount)} par mois`,
      bytes_per_day: (_count, amount) => `${amount} par jour`,
      bytes_per_month: (_count, amount) => `${amount} par mois`,
    },
    no_room: 'Déconnectez une source inutile ou demandez à l’assistance d’augmenter la limite.',
    too_many: 'Réessayez lorsque l’une d’elles sera terminée.',
    waits: 'Cette synchronisation démarrera lorsqu’une autre sera terminée.',
    resumes: (time) => `La synchronisation reprendra le ${time}.`,
    nextSync: (time) => `La prochaine synchronisation de cette connexion pourra démarrer le ${time}.`,
  },
  retryIn: (duration) => `Réessayez dans ${duration}.`,

  offlineBanner: 'Vous êtes hors ligne. La reconnexion est automatique.',
  stale: 'La page n’a pas pu être actualisée. Les informations affichées ne sont peut-être pas à jour.',

  expired: {
    title: 'Votre session a expiré',
    renewing: 'Renouvellement de votre session. Votre saisie est conservée.',
    reload: 'Rechargez la page ou rouvrez-la depuis l’application.',
  },
} satisfies Words;
