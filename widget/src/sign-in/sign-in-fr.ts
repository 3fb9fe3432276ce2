import type { SignInWords } from './sign-in-en.ts';

const fr: SignInWords = {
  signIn: (provider) => `Se connecter avec ${provider}`,
  again: 'Se reconnecter',
  lead: (provider) => `Vous vous connecterez chez ${provider}. Nous ne voyons jamais votre mot de passe.`,
  enterKeys: 'Saisir plutôt des identifiants',
  signInInstead: 'Se connecter plutôt',
  missing: 'Connectez-vous d’abord.',
  waiting: (provider) => `Continuez dans la fenêtre ${provider}`,
  waitingText: 'Cette page continue automatiquement dès que vous êtes connecté.',
  finishing: 'Finalisation de la connexion…',
  noWindow: 'Aucune nouvelle fenêtre ? Ouvrez-la ici :',
  openWindow: 'Ouvrir la connexion',
  useThisWindow: 'Continuer dans cette fenêtre',
  windowClosed: 'La fenêtre de connexion semble avoir été fermée.',
  windowUnknown: 'Si vous avez fermé la fenêtre, vous pouvez la rouvrir.',
  reopenWindow: 'Rouvrir la fenêtre',
  showWindow: 'Afficher la fenêtre',
  cancelled: 'Connexion annulée',
  connectedAs: (account) => `Connecté en tant que ${account}`,
  connected: (provider) => `Connecté à ${provider}`,
  otherAccount: 'Utiliser un autre compte',
  failed: 'Échec de la connexion',
  failures: {
    denied: 'Vous n’avez pas autorisé l’accès. Rien n’a été connecté.',
    expired: 'La connexion a pris trop de temps. Réessayez.',
    refused: 'Le fournisseur a refusé la connexion. Réessayez.',
    unreachable: 'Le fournisseur ne répond pas. Réessayez plus tard.',
    not_possible: 'La connexion est indisponible pour le moment. Contactez l’assistance.',
  },
  values: {
    'GitLab host': 'Serveur GitLab',
    'Sign-in host': 'Serveur de connexion',
    'Intercom address': 'Adresse Intercom',
    'Shop name': 'Nom de la boutique',
    'Zendesk subdomain': 'Sous-domaine Zendesk',
  },
  onlyTheName:
    'Saisissez uniquement le nom, par exemple « acme », avec des lettres, des chiffres et des traits d’union.',
  oneOfHosts: (hosts) => `Choisissez parmi : ${hosts}.`,
  missingScopes: 'Autorisations manquantes',
  missingScopesText:
    'Nous avons besoin de ces autorisations pour lire vos données. Reconnectez-vous et acceptez-les toutes :',
  grantAgain: 'Accorder les autorisations',
  unconfirmed: 'Vous avez utilisé un autre compte',
  unconfirmedText: (account, before) =>
    `Vous êtes connecté en tant que ${account}, mais cette source utilise ${before}. Si vous continuez, elle synchronisera les données de ${account}.`,
  unconfirmedUnknown:
    'Vous êtes connecté avec un autre compte qu’auparavant. Si vous continuez, cette source synchronisera les données du nouveau compte.',
  confirm: 'Utiliser ce compte',
  endedTitle: 'Reconnectez-vous pour continuer',
  endedText: (provider) =>
    `${provider} n’accepte plus votre connexion, la synchronisation est donc arrêtée. Vos paramètres et votre historique sont conservés.`,
  restored: 'Vous êtes de nouveau connecté. La synchronisation reprend automatiquement.',
};

export default fr;
