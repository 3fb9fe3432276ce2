import type { Dictionary } from '../kit/translate.ts';

export const dictionary: Dictionary = {
  Users: { de: 'Nutzer', es: 'Usuarios', fr: 'Utilisateurs', ja: 'ユーザー数' },
  'Number of users to generate. Products and purchases scale with it.': {
    de: 'Anzahl der erzeugten Nutzer. Produkte und Käufe ergeben sich daraus.',
    es: 'Número de usuarios que se generan. Los productos y las compras dependen de él.',
    fr: 'Nombre d’utilisateurs à générer. Les produits et les achats en découlent.',
    ja: '作成する架空のユーザーの数です。商品と購入の件数はこの数から決まります。',
  },
  Seed: { de: 'Startwert', es: 'Semilla', fr: 'Graine', ja: 'シード値' },
  'Change this number to get different records.': {
    de: 'Mit einer anderen Zahl erhalten Sie andere Datensätze.',
    es: 'Elija otro número para obtener otros registros.',
    fr: 'Choisissez un autre nombre pour obtenir d’autres enregistrements.',
    ja: '別の数値にすると、別のレコードが作成されます。',
  },
  'Records per second': {
    de: 'Datensätze pro Sekunde',
    es: 'Registros por segundo',
    fr: 'Enregistrements par seconde',
    ja: '1 秒あたりのレコード数',
  },
  'Maximum number of records per second. Leave empty for full speed.': {
    de: 'Höchstzahl der Datensätze pro Sekunde. Leer lassen für volle Geschwindigkeit.',
    es: 'Número máximo de registros por segundo. Déjelo vacío para usar la velocidad máxima.',
    fr: 'Nombre maximal d’enregistrements par seconde. Laissez vide pour la vitesse maximale.',
    ja: '1 秒あたりに読み取るレコード数の上限です。空欄の場合は制限しません。',
  },
};
