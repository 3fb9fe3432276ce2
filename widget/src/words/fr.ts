import type { Words } from './en.ts';

export default {
  form: {
    optional: 'facultatif',
    optionalSettings: 'Paramètres facultatifs',
    choose: 'Choisissez…',
    notSet: 'Non défini',
    format: (example) => `Format : ${example}`,
    utc: 'L’heure est exprimée en UTC.',
    show: (title) => `Afficher : ${title}`,
    saved: 'Enregistré, inchangé',
    keepSaved: 'Conserver la valeur enregistrée',
    add: 'Ajouter',
    addTo: (title) => `Ajouter : ${title}`,
    remove: (title) => `Retirer : ${title}`,
    numbered: (title, number) => `${title} ${number}`,
    summary: (count) => (count === 1 ? 'Veuillez vérifier un champ :' : `Veuillez vérifier ${count} champs :`),
    faults: {
      required: 'Veuillez remplir ce champ.',
      choose: 'Veuillez faire un choix.',
      number: 'Veuillez saisir un nombre.',
      integer: 'Veuillez saisir un nombre entier.',
      json: 'Veuillez saisir du JSON valide, du type attendu.',
      minimum: (limit) => `La valeur doit être supérieure ou égale à ${limit}.`,
      maximum: (limit) => `La valeur doit être inférieure ou égale à ${limit}.`,
      moreThan: (limit) => `La valeur doit être supérieure à ${limit}.`,
      lessThan: (limit) => `La valeur doit être inférieure à ${limit}.`,
      multipleOf: (step) => `La valeur doit être un multiple de ${step}.`,
      minLength: (limit) => `Veuillez saisir au moins ${limit} caractères.`,
      maxLength: (limit) =>
        limit === 1 ? 'Veuillez saisir un seul caractère.' : `Veuillez saisir au plus ${limit} caractères.`,
      minItems: (limit) =>
        limit === 1 ? 'Veuillez ajouter au moins un élément.' : `Veuillez ajouter au moins ${limit} éléments.`,
      maxItems: (limit) =>
        limit === 1 ? 'Un seul élément est possible.' : `${limit} éléments au plus sont possibles.`,
      uniqueItems: 'Un élément figure deux fois.',
      pattern: (wanted) => `Le format attendu est ${wanted}`,
      format: {
        email: 'Veuillez saisir une adresse e-mail.',
        uri: 'Veuillez saisir une adresse complète, par exemple https://example.com.',
        date: 'Veuillez saisir une date.',
        'date-time': 'Veuillez saisir une date et une heure.',
        other: 'Ceci n’a pas le format attendu.',
      },
      other: 'Cette valeur n’est pas possible ici.',
    },
  },

  loading: 'Chargement…',
} satisfies Words;
