/* The words of records.ts in forms: where records are, and what tells them apart. */
import type { Dictionary } from './translate.ts';

export const recordWords: Dictionary = {
  'Path of the records': {
    de: 'Pfad der Datensätze',
    es: 'Ruta de los registros',
    fr: 'Chemin des enregistrements',
    ja: 'レコードのパス',
  },
  'Primary key': { de: 'Primärschlüssel', es: 'Clave principal', fr: 'Clé primaire', ja: '主キー' },
  'The fields that tell one record from another.': {
    de: 'Die Felder, die einen Datensatz eindeutig bestimmen.',
    es: 'Los campos que distinguen un registro de otro.',
    fr: 'Les champs qui distinguent un enregistrement d’un autre.',
    ja: 'レコードを一意に識別するフィールドです。',
  },
};
