/* Form texts for records.ts: where records are, and what identifies them. */
import type { Dictionary } from './translate.ts';

export const recordWords: Dictionary = {
  'Records path': {
    de: 'Pfad zu den Datensätzen',
    es: 'Ruta de los registros',
    fr: 'Chemin des enregistrements',
    ja: 'レコードのパス',
  },
  'Primary key': { de: 'Primärschlüssel', es: 'Clave principal', fr: 'Clé primaire', ja: '主キー' },
  'The fields that uniquely identify a record.': {
    de: 'Die Felder, die einen Datensatz eindeutig bestimmen.',
    es: 'Los campos que identifican un registro de forma única.',
    fr: 'Les champs qui identifient un enregistrement de façon unique.',
    ja: 'レコードを一意に識別するフィールドです。',
  },
};
