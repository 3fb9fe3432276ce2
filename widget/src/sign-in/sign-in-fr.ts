import type { SignInWords } from './sign-in-en.ts';

const fr: SignInWords = {
  signIn: (provider) => `Se connecter avec ${provider}`,
  again: 'Se reconnecter',
  lead: (provider) => `Vous vous connectez sur la page de ${provider}. Votre mot de passe y reste.`,
  enterKeys: 'Saisir plutôt des clés',
  signInInstead: 'Se connecter plutôt',
  missing: 'Connectez-vous d’abord.',
  waiting: (provider) => `Continuez dans la fenêtre de ${provider}`,
  waitingText: 'Dès que vous êtes connecté, tout se poursuit ici automatiquement.',
  finishing: 'Finalisation de la connexion…',
  noWindow: 'Si aucune nouvelle fenêtre ne s’est ouverte, ouvrez-la ici :',
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
  failed: 'La connexion n’a pas abouti',
  failures: {
    denied: 'Vous n’avez pas donné votre accord. Rien n’a été connecté.',
    expired: 'La connexion a pris trop de temps. Recommencez.',
    refused: 'Le fournisseur n’a pas accepté la connexion. Réessayez.',
    unreachable: 'Le fournisseur ne répond pas pour le moment. Réessayez plus tard.',
    not_possible: 'La connexion est impossible pour le moment. Contactez l’assistance de ce produit.',
  },
  values: {
    'GitLab host': 'Serveur GitLab',
    'Sign-in host': 'Serveur de connexion',
    'Intercom address': 'Adresse d’Intercom',
    'Name of the shop': 'Nom de la boutique',
    'Subdomain of Zendesk': 'Sous-domaine Zendesk',
  },
  onlyTheName:
    'Saisissez seulement le nom, par exemple « acme », avec des lettres, des chiffres et des traits d’union.',
  oneOfHosts: (hosts) => `Choisissez parmi : ${hosts}.`,
  missingScopes: 'Des autorisations manquent',
  missingScopesText:
    'Sans elles, les données ne peuvent pas être lues. Connectez-vous de nouveau et acceptez-les toutes :',
  grantAgain: 'Autoriser de nouveau',
  unconfirmed: 'C’est un autre compte',
  unconfirmedText: (account, before) =>
    `Vous êtes connecté en tant que ${account}. Jusqu’ici, cette source utilisait ${before}. Si vous continuez, elle apportera désormais les données de ${account}.`,
  unconfirmedUnknown:
    'Vous êtes connecté avec un autre compte qu’auparavant. Si vous continuez, cette source apportera désormais les données de ce compte.',
  confirm: 'Utiliser ce compte',
  endedTitle: 'Reconnectez-vous pour continuer',
  endedText: (provider) =>
    `${provider} n’accepte plus la connexion précédente. Tant que vous ne vous reconnectez pas, rien n’est synchronisé. Les réglages et l’historique sont conservés.`,
  restored: 'Vous êtes de nouveau connecté. La synchronisation reprend automatiquement.',
};

export default fr;
