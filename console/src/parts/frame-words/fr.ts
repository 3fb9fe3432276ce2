import type { FrameWords } from './en.ts';

const words: FrameWords = {
  sees: (customer) => `Ce que voit ${customer}`,
  readOnly: 'Lecture seule : rien ne peut être modifié ici. Le journal d’audit indique que vous avez regardé.',
  frame: 'Widget',
  language: 'Langue',
  automatic: 'Comme le navigateur',
  scheme: 'Thème',
  schemes: { auto: 'Comme le système', light: 'Clair', dark: 'Sombre' },
  notLoaded: 'Le widget ne s’est pas chargé. Vérifiez votre connexion, puis réessayez.',
  refused: 'Le service n’accepte plus cette vue. Réessayez.',
  ended: 'Votre session est terminée, et cette vue aussi.',
  preview: 'Aperçu',
  draft: 'Ce qu’un nouveau client verrait de ce modèle. Il n’est pas enregistré.',
  lastGood: 'Ce brouillon ne peut pas être affiché. L’image est celle du dernier qui pouvait l’être.',
  notYet: 'Ce brouillon ne peut pas encore être affiché.',
};

export default words;
