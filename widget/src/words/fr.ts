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
  nothingNew: 'Rien de nouveau',

  choose: {
    title: 'Connecter une source',
    lead: 'Choisissez d’où viennent vos données.',
    offers: 'Sources disponibles',
    search: 'Rechercher une source',
    found: (count, number) => `${number} ${count < 2 ? 'source trouvée' : 'sources trouvées'}`,
    nothingFound: (text) => `Aucune source ne correspond à « ${text} ».`,
    showAll: 'Afficher toutes les sources',
    connected: (count, number) => `${number} ${count < 2 ? 'connectée' : 'connectées'}`,
    yourSources: (_count, number) => `Vos sources (${number})`,
  },

  empty: {
    title: 'Rien à connecter pour l’instant',
    text: 'Aucune source n’est disponible pour vous actuellement. Dès qu’il y en aura, vous les trouverez ici.',
  },

  connect: {
    title: (template) => `Connecter ${template}`,
    guide: 'Guide de configuration',
    submit: 'Tester et connecter',
  },

  name: {
    label: 'Nom',
    hint: 'Le nom de cette source dans votre liste.',
    missing: 'Saisissez un nom.',
    unusable: 'Utilisez au maximum 255 caractères, sans caractères de contrôle.',
  },

  steps: {
    label: 'Progression',
    checking: 'Vérification de vos informations…',
    checked: 'Informations vérifiées',
    connect: 'Connecter',
    connecting: 'Connexion…',
    connected: 'Source connectée',
    save: 'Enregistrer',
    saving: 'Enregistrement…',
    firstSync: 'Première synchronisation',
    done: 'terminé',
    failed: 'échec',
    patience: 'Cela peut prendre une ou deux minutes.',
  },

  problemOnOurSide: 'Il y a un problème de notre côté, et notre équipe peut le voir. Vous n’avez rien à modifier.',
  signInEnded: 'La connexion n’est plus valable. Reconnectez-vous.',

  check: {
    warnings: 'Vérifié, mais il y a une chose à savoir',
    oneRecord: (stream) =>
      `${stream} : l’API répond avec un seul objet et non avec une liste, une seule ligne arrive donc. S’il devait y en avoir plus, vérifiez le chemin.`,
    oneRecordOfList: (stream, path) =>
      `${stream} : l’API répond avec un seul objet et non avec une liste, une seule ligne arrive donc. La liste se trouve probablement dans « ${path} » : indiquez-le comme chemin des enregistrements.`,
    failed: 'La vérification a révélé un problème',
    noReason: 'La source n’a pas donné de raison. Vérifiez vos informations, puis réessayez.',
    cancelled: 'Vérification annulée. Rien n’a été enregistré.',
    unconfirmed: 'La connexion n’a pas pu être confirmée',
    unconfirmedText:
      'La réponse s’est perdue en chemin. Consultez vos sources avant de réessayer, afin de ne rien connecter deux fois.',
  },

  discard: {
    title: 'Abandonner votre saisie ?',
    text: 'Ce que vous avez saisi n’est pas enregistré.',
    confirm: 'Abandonner',
    keep: 'Continuer la saisie',
  },

  connected: {
    title: (name) => `${name} : source connectée`,
    pendingTitle: (name) => `${name} : connexion en cours`,
    failedTitle: (name) => `${name} : la connexion a échoué`,
    waiting: 'Démarrage…',
    syncing: (rows) => `${rows} jusqu’ici`,
    synced: (rows) => `${rows} au total`,
    syncedWithoutCount: 'Terminée',
    syncFailed: 'Échec',
    syncCancelled: 'Annulée',
    paused: 'En pause',
    atNextRun: (when) => `Commence ${when}`,
    byHand: 'Pas encore démarrée',
    unknown: 'Inconnu pour le moment',
    leave: 'Vous n’avez pas besoin d’attendre : tout continue automatiquement.',
    nothingSynced:
      'Votre source est connectée. Aucune donnée n’en est encore synchronisée, et vous n’avez rien d’autre à faire.',
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
    statusUnknown:
      'L’état de la synchronisation n’est pas disponible actuellement. Vos sources ne sont pas concernées.',
  },

  states: {
    pending: 'Configuration en cours',
    failed: 'Action requise',
    syncing: 'Synchronisation',
    sync_failed: 'Dernier essai échoué',
    paused: 'En pause',
    ready: 'Connectée',
  },

  source: {
    parts: 'Rubriques de cette source',
    activity: 'Activité',
    settings: 'Paramètres',
    failed: 'Cette source requiert votre attention',
    failedWithoutReason: 'Elle n’a pas pu être configurée. Vérifiez les paramètres et enregistrez-les à nouveau.',
    reviewSettings: 'Vérifier les paramètres',
    pending: 'Cette source est en cours de configuration. Cela continue automatiquement.',
    nothingSynced: 'Cette source est connectée. Aucune donnée n’en est encore synchronisée.',
    syncTo: (destination) => `Synchronisation vers ${destination}`,
    syncNow: 'Synchroniser maintenant',
    syncing: 'En cours…',
    syncStarted: 'Synchronisation démarrée',
    cancelSync: 'Annuler la synchronisation',
    syncCancelled: 'Synchronisation annulée',
    failingSince: (when) => `En échec depuis le ${when}`,
    tryingAgain: (failing) => `${failing}, nouvel essai en cours`,
    failing: 'La synchronisation échoue',
    paused: 'La synchronisation est en pause. Elle reprendra dès que votre compte sera de nouveau actif.',
    pausedByTeam: 'La synchronisation est en pause.',
    notReady:
      'La synchronisation n’a pas pu démarrer, car cette connexion vient de changer. Réessayez dans un instant.',
    history: 'Historique',
    changes: {
      title: (count, number) =>
        `${number} ${count === 1 ? 'valeur n’est pas arrivée inchangée' : 'valeurs ne sont pas arrivées inchangées'}`,
      skipped: (count, number) =>
        `${number} ${count === 1 ? 'ligne ignorée : trop volumineuse' : 'lignes ignorées : trop volumineuses'} (20 Mo)`,
      notReplaced:
        'La source n’a pas indiqué si elle avait été lue jusqu’à la fin. Les lignes précédentes sont conservées.',
      nulled: (count, number, field) =>
        `${number} ${count === 1 ? 'valeur du champ' : 'valeurs du champ'} ${field} n’${count === 1 ? 'a pas pu être conservée' : 'ont pas pu être conservées'}`,
      shortened: (count, number, field) =>
        `${number} ${count === 1 ? 'valeur du champ' : 'valeurs du champ'} ${field} ${count === 1 ? 'a dû être raccourcie' : 'ont dû être raccourcies'}`,
      not_a_number: (count, number, field) =>
        `${number} ${count === 1 ? 'valeur du champ' : 'valeurs du champ'} ${field} ${count === 1 ? 'n’était pas un nombre et reste vide' : 'n’étaient pas des nombres et restent vides'}`,
      left_out: (count, number, field) =>
        `${number} ${count === 1 ? 'valeur du champ' : 'valeurs du champ'} ${field} ${count === 1 ? 'n’a' : 'n’ont'} pas de place dans la destination`,
      more: (count, number) => `et ${number} ${count === 1 ? 'autre champ' : 'autres champs'}`,
    },
    quietRuns: (_count, number) => `${number} synchronisations sans nouvelles données`,
    noHistory: 'Aucune synchronisation n’a encore eu lieu.',
    showMore: 'Afficher plus',
    save: 'Tester et enregistrer',
    rename: 'Enregistrer le nom',
    saved: 'Vos modifications sont enregistrées',
    notOffered:
      'Les informations de cette source ne peuvent pas être modifiées actuellement. Vous pouvez toujours la renommer ou la déconnecter.',
    goneTitle: 'Cette source n’existe plus',
    goneText: 'Elle a été déconnectée, peut-être dans une autre fenêtre.',
  },

  choice: {
    open: 'Données et fréquence',
    often: 'Fréquence',
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
    byHand: 'Seulement quand je la lance',
    asNow: 'Comme maintenant',
    streams: 'Ce qui est synchronisé',
    save: 'Enregistrer',
    soon: 'Elles prennent effet dans un instant.',
  },

  jobs: {
    pending: 'En attente',
    running: 'En cours',
    incomplete: 'Nouvel essai',
    failed: 'Échec',
    succeeded: 'Terminée',
    cancelled: 'Annulée',
  },

  disconnect: {
    heading: 'Déconnecter cette source',
    text: 'La synchronisation s’arrête et vos identifiants sont supprimés. Les données déjà transmises restent où elles sont.',
    open: 'Déconnecter',
    title: (name) => `Déconnecter ${name} ?`,
    confirm: 'Déconnecter',
    confirming: 'Déconnexion…',
    done: (name) => `${name} : source déconnectée`,
  },

  failures: {
    offline: {
      title: 'Vous êtes hors ligne',
      text: 'Vérifiez votre connexion Internet. Nous reprendrons dès que vous serez de nouveau en ligne.',
    },
    unreachable: {
      title: 'Pas de réponse',
      text: 'Le service n’a pas répondu à temps. Vérifiez votre connexion, puis réessayez.',
    },
    access_denied: {
      title: 'Vous n’avez pas accès',
      text: 'Votre accès a peut-être changé. Rechargez la page ou contactez l’assistance de ce produit.',
    },
    only_view: { title: 'Ceci est un aperçu', text: 'Rien ne peut être modifié ici, et les liens ne s’ouvrent pas.' },
    not_found: {
      title: 'Plus disponible',
      text: 'Ce que vous cherchiez n’existe plus. Revenez en arrière et choisissez à nouveau.',
    },
    conflict: {
      title: 'Impossible pour le moment',
      text: 'Quelque chose a changé entre-temps. Réessayez dans un instant.',
    },
    limit_reached: {
      title: 'Une limite est atteinte',
      text: 'Supprimez ce qui n’est pas utile ou demandez une limite plus élevée au support de ce produit.',
    },
    invalid: {
      title: 'Certaines informations ne sont pas acceptées',
      text: 'Corrigez les champs signalés, puis réessayez.',
    },
    rate_limited: { title: 'Trop de requêtes', text: 'Patientez un instant, puis réessayez.' },
    unavailable: {
      title: 'Un problème est survenu',
      text: 'Vous n’y êtes pour rien. Réessayez dans quelques minutes.',
    },
  },
  lookAt: (fields) => `Cela n’a pas fonctionné avec les données saisies. Vérifiez : ${fields}.`,
  reasons: {
    sign_in_lost: 'Votre connexion a été perdue. Reconnectez-vous.',
    platform_not_ready: 'La configuration prend plus de temps que d’habitude. Elle se poursuit automatiquement.',
    rejected_by_platform: 'Ces paramètres n’ont pas été acceptés. Vérifiez-les et réessayez.',
    source_lost: 'Cette source n’existe plus. Déconnectez-la, puis connectez-la de nouveau.',
    connection_lost: 'Cette liaison n’existe plus. Déconnectez la source, puis connectez-la de nouveau.',
    no_streams: 'Cette source ne contient aucune donnée à synchroniser.',
    chosen_streams_gone: 'Les données choisies n’existent plus dans cette source. Choisissez-en d’autres.',
    check_interrupted: 'La vérification a été interrompue. Réessayez.',
    check_not_run: 'La vérification n’a pas pu être lancée. Réessayez plus tard.',
  },
  quotas: {
    reached: (what) => `La limite de ${what} est atteinte.`,
    things: {
      sources: (count, amount) => `${amount} ${count < 2 ? 'source' : 'sources'}`,
      connections: (count, amount) => `${amount} ${count < 2 ? 'connexion' : 'connexions'}`,
      concurrent_syncs: (count, amount) =>
        `${amount} ${count < 2 ? 'synchronisation simultanée' : 'synchronisations simultanées'}`,
      rows_per_day: (count, amount) => `${amount} ${count < 2 ? 'ligne' : 'lignes'} par jour`,
      rows_per_month: (count, amount) => `${amount} ${count < 2 ? 'ligne' : 'lignes'} par mois`,
      bytes_per_day: (_count, amount) => `${amount} par jour`,
      bytes_per_month: (_count, amount) => `${amount} par mois`,
    },
    no_room: 'Supprimez une source qui n’est pas utile ou demandez une limite plus élevée.',
    too_many: 'Réessayez lorsque l’une d’elles sera terminée.',
    waits: 'La synchronisation démarrera automatiquement lorsqu’une autre sera terminée.',
    goesOn: (time) => `La synchronisation reprendra automatiquement le ${time}.`,
    nextSync: (time) => `La prochaine synchronisation de cette connexion pourra démarrer le ${time}.`,
  },
  retryIn: (duration) => `Vous pourrez réessayer dans ${duration}.`,

  offlineBanner: 'Vous êtes hors ligne. Nous reprendrons dès que vous serez de nouveau en ligne.',
  stale: 'Cette vue ne peut pas être actualisée pour le moment. Elle n’est peut-être pas à jour.',

  expired: {
    title: 'Votre session a expiré',
    renewing: 'Un instant : elle est en cours de renouvellement. Votre saisie n’est pas perdue.',
    reload: 'Rechargez cette page pour continuer.',
  },
} satisfies Words;
