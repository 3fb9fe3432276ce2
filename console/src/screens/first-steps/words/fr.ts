import type { FirstStepsWords } from './en.ts';

const fr: FirstStepsWords = {
  title: 'Premiers pas',
  lead: 'De rien aux premières lignes d’un client, dans ce navigateur.',
  hide: 'Masquer',
  show: 'Montrer les premiers pas',
  done: 'fait',
  steps: {
    destination: {
      title: 'Dire où vont les données',
      text: 'Choisissez une destination et faites-en un modèle de connexion. Les sources de tous les clients y sont connectées.',
    },
    source: {
      title: 'Proposer une source',
      text: 'Choisissez un connecteur et faites-en un modèle de source : c’est ce que les clients voient dans le widget. « Sample data » ne demande aucun compte.',
    },
    customer: {
      title: 'Ajouter un client',
      text: 'Plus tard, votre backend le fait en demandant un jeton de widget. Pour un essai, n’importe quel nom convient.',
    },
    connect: {
      title: 'Connecter une source comme ce client',
      text: 'Ouvrez le widget dans son propre onglet, tel que vos clients le verront, et connectez-y la source.',
    },
    rows: {
      title: 'Voir arriver les premières lignes',
      text: 'La première synchronisation démarre seule. Cette liste disparaît quand ses lignes sont arrivées.',
    },
  },
  chooseDestination: 'Choisir une destination',
  chooseSource: 'Choisir un connecteur',
  seeJobs: 'Voir les tâches',
  addCustomer: 'Ajouter un client',
  addText: 'Un client est un espace de travail de votre organisation. Votre backend le nomme de même.',
  customerName: 'Nom',
  nameHint: 'Comme votre backend le nommera, par exemple acme-inc.',
  added: (name) => `${name} est créé`,
  openWidget: 'Ouvrir le widget',
  openText: (name) =>
    `Crée un lien vers le vrai widget en tant que ${name}. Qui le possède peut connecter et retirer des sources de ce client pendant une heure.`,
  makeLink: 'Créer un lien',
  linkText: 'Le lien ouvre le vrai widget dans un nouvel onglet. Il vaut une heure ; ne le transmettez pas.',
  openAs: (name) => `Ouvrir le widget en tant que ${name}`,
  copyLink: 'Copier le lien',
  toCustomer: 'Aller au client',
};

export default fr;
