import type { Dictionary } from '../kit/translate.ts';

export const dictionary: Dictionary = {
  Users: { de: 'Nutzer', es: 'Usuarios', fr: 'Utilisateurs', ja: 'ユーザー数' },
  'How many users to make up. Products and purchases follow from it.': {
    de: 'So viele Nutzer werden erfunden. Produkte und Käufe ergeben sich daraus.',
    es: 'Cuántos usuarios se inventan. Los productos y las compras se derivan de ellos.',
    fr: 'Nombre d’utilisateurs à inventer. Les produits et les achats en découlent.',
    ja: '作成する架空のユーザーの数です。商品と購入の件数はこの数から決まります。',
  },
  Seed: { de: 'Startwert', es: 'Semilla', fr: 'Graine', ja: 'シード値' },
  'Choose another number to get other records.': {
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
  'Slows the source down to at most this many records a second. Leave empty for full speed.': {
    de: 'Bremst die Quelle auf höchstens so viele Datensätze pro Sekunde. Ohne Angabe läuft sie mit voller Geschwindigkeit.',
    es: 'Limita la fuente a este número de registros por segundo. Déjelo vacío para usar la velocidad máxima.',
    fr: 'Limite la source à ce nombre d’enregistrements par seconde. Laissez vide pour la vitesse maximale.',
    ja: '1 秒あたりに読み取るレコード数の上限です。空欄の場合は制限しません。',
  },
};
