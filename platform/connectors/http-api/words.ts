import { authenticationWords } from '../kit/http-settings-words.ts';
import { recordWords } from '../kit/records-words.ts';
import type { Dictionary } from '../kit/translate.ts';

export const dictionary: Dictionary = {
  ...authenticationWords,
  ...recordWords,
  'Base URL': { de: 'Basis-URL', es: 'URL base', fr: 'URL de base', ja: 'ベース URL' },

  'How the API knows who asks.': {
    de: 'Woran die API erkennt, wer anfragt.',
    es: 'Cómo sabe la API quién hace la solicitud.',
    fr: 'Comment l’API sait qui fait la demande.',
    ja: 'リクエスト元を API に示す方法です。',
  },
  'Key in a header': {
    de: 'Schlüssel in einem Header',
    es: 'Clave en una cabecera',
    fr: 'Clé dans un en-tête',
    ja: 'ヘッダーのキー',
  },
  Header: { de: 'Header', es: 'Cabecera', fr: 'En-tête', ja: 'ヘッダー' },
  Key: { de: 'Schlüssel', es: 'Clave', fr: 'Clé', ja: 'キー' },
  'Key in the query': {
    de: 'Schlüssel in der Abfrage',
    es: 'Clave en la consulta',
    fr: 'Clé dans la requête',
    ja: 'クエリのキー',
  },
  Parameter: { de: 'Parameter', es: 'Parámetro', fr: 'Paramètre', ja: 'パラメーター' },

  Stream: { de: 'Datenstrom', es: 'Flujo', fr: 'Flux', ja: 'ストリーム' },
  Streams: { de: 'Datenströme', es: 'Flujos', fr: 'Flux', ja: 'ストリーム' },
  'What to read, one stream for each kind of record.': {
    de: 'Was gelesen wird: ein Datenstrom für jede Art von Datensatz.',
    es: 'Qué se lee: un flujo para cada tipo de registro.',
    fr: 'Ce qui est lu : un flux pour chaque type d’enregistrement.',
    ja: '読み取る対象です。レコードの種類ごとに 1 つのストリームを指定します。',
  },
  Name: { de: 'Name', es: 'Nombre', fr: 'Nom', ja: '名前' },
  Value: { de: 'Wert', es: 'Valor', fr: 'Valeur', ja: '値' },
  Path: { de: 'Pfad', es: 'Ruta', fr: 'Chemin', ja: 'パス' },
  'Follows the base URL.': {
    de: 'Folgt auf die Basis-URL.',
    es: 'Se añade a la URL base.',
    fr: 'S’ajoute à l’URL de base.',
    ja: 'ベース URL の後に続きます。',
  },
  'Query parameters': {
    de: 'Abfrageparameter',
    es: 'Parámetros de consulta',
    fr: 'Paramètres de requête',
    ja: 'クエリパラメーター',
  },
  'Where the answer has the list of records, with dots. Empty: the answer is the list.': {
    de: 'Wo in der Antwort die Liste der Datensätze steht, mit Punkten. Leer: Die Antwort ist die Liste.',
    es: 'Dónde está la lista de registros en la respuesta, con puntos. Vacío: la respuesta es la lista.',
    fr: 'Où se trouve la liste des enregistrements dans la réponse, avec des points. Vide : la réponse est la liste.',
    ja: 'レスポンス内でレコードのリストがある場所を、ドット区切りで指定します。空欄の場合は、レスポンス全体がリストです。',
  },
  'Cursor field': { de: 'Cursorfeld', es: 'Campo de cursor', fr: 'Champ de curseur', ja: 'カーソルフィールド' },
  'A field that grows with every change, such as updated_at: only what is new since the last sync is taken.': {
    de: 'Ein Feld, das mit jeder Änderung wächst, etwa updated_at: Gelesen wird nur, was seit der letzten Synchronisierung neu ist.',
    es: 'Un campo que crece con cada cambio, como updated_at: solo se lee lo nuevo desde la última sincronización.',
    fr: 'Un champ qui augmente à chaque modification, comme updated_at : seules les nouveautés depuis la dernière synchronisation sont lues.',
    ja: 'updated_at のように、変更のたびに値が大きくなるフィールドです。前回の同期以降の新しいデータだけが読み取られます。',
  },
  'Parameter of the cursor': {
    de: 'Parameter des Cursors',
    es: 'Parámetro del cursor',
    fr: 'Paramètre du curseur',
    ja: 'カーソルのパラメーター',
  },
  'Tells the API the last value of the cursor field, so that it sends only what is new. Takes the place of a query parameter of the same name.':
    {
      de: 'Nennt der API den letzten Wert des Cursorfelds, damit sie nur Neues sendet. Ersetzt einen Abfrageparameter gleichen Namens.',
      es: 'Indica a la API el último valor del campo de cursor, para que envíe solo lo nuevo. Sustituye a un parámetro de consulta con el mismo nombre.',
      fr: 'Indique à l’API la dernière valeur du champ de curseur, afin qu’elle n’envoie que les nouveautés. Remplace un paramètre de requête du même nom.',
      ja: 'カーソルフィールドの最後の値を API に伝え、新しいデータだけを受け取ります。同じ名前のクエリパラメーターがある場合は、その代わりになります。',
    },

  Pagination: { de: 'Seitenweise Abfrage', es: 'Paginación', fr: 'Pagination', ja: 'ページネーション' },
  'How the API gives long lists in pages.': {
    de: 'Wie die API lange Listen auf Seiten verteilt.',
    es: 'Cómo divide la API las listas largas en páginas.',
    fr: 'Comment l’API répartit les longues listes en pages.',
    ja: 'API が長いリストをページに分けて返す方法です。',
  },
  'Page number': { de: 'Seitennummer', es: 'Número de página', fr: 'Numéro de page', ja: 'ページ番号' },
  'Ends with an empty page, unless the API says that there are more.': {
    de: 'Endet mit einer leeren Seite, sofern die API nicht angibt, dass es weitere gibt.',
    es: 'Termina con una página vacía, salvo que la API indique que hay más.',
    fr: 'Se termine par une page vide, sauf si l’API indique qu’il y en a d’autres.',
    ja: '空のページで終わります。ただし、API が続きがあると示している場合は続けます。',
  },
  'Path of the sign for more pages': {
    de: 'Pfad der Angabe, ob es weitere Seiten gibt',
    es: 'Ruta de la indicación de más páginas',
    fr: 'Chemin de l’indication d’autres pages',
    ja: '続きのページの有無を示すパス',
  },
  'Where the answer says whether there are more pages, with dots. Empty: usual names such as has_more are recognised.':
    {
      de: 'Wo in der Antwort steht, ob es weitere Seiten gibt, mit Punkten. Leer: Übliche Namen wie has_more werden erkannt.',
      es: 'Dónde indica la respuesta si hay más páginas, con puntos. Vacío: se reconocen los nombres habituales, como has_more.',
      fr: 'Où la réponse indique s’il y a d’autres pages, avec des points. Vide : les noms usuels comme has_more sont reconnus.',
      ja: 'レスポンス内で続きのページの有無が示される場所を、ドット区切りで指定します。空欄の場合は、has_more などの一般的な名前が認識されます。',
    },
  'Parameter of the page': {
    de: 'Parameter der Seite',
    es: 'Parámetro de la página',
    fr: 'Paramètre de la page',
    ja: 'ページのパラメーター',
  },
  'First page': { de: 'Erste Seite', es: 'Primera página', fr: 'Première page', ja: '最初のページ' },
  'Parameter of the page size': {
    de: 'Parameter der Seitengröße',
    es: 'Parámetro del tamaño de página',
    fr: 'Paramètre de la taille de page',
    ja: 'ページサイズのパラメーター',
  },
  'Page size': { de: 'Seitengröße', es: 'Tamaño de página', fr: 'Taille de page', ja: 'ページサイズ' },
  Offset: { de: 'Versatz (Offset)', es: 'Desplazamiento (offset)', fr: 'Décalage (offset)', ja: 'オフセット' },
  'Parameter of the offset': {
    de: 'Parameter des Versatzes',
    es: 'Parámetro del desplazamiento',
    fr: 'Paramètre du décalage',
    ja: 'オフセットのパラメーター',
  },
  'Token of the next page': {
    de: 'Token der nächsten Seite',
    es: 'Token de la página siguiente',
    fr: 'Jeton de la page suivante',
    ja: '次のページのトークン',
  },
  'Ends when the answer has no token, or says that there are no more pages.': {
    de: 'Endet, wenn die Antwort kein Token enthält oder angibt, dass es keine weiteren Seiten gibt.',
    es: 'Termina cuando la respuesta no contiene ningún token o indica que no hay más páginas.',
    fr: 'Se termine lorsque la réponse ne contient pas de jeton ou indique qu’il n’y a pas d’autre page.',
    ja: 'レスポンスにトークンがなくなるか、続きのページがないと示されると終わります。',
  },
  'Path of the token': { de: 'Pfad des Tokens', es: 'Ruta del token', fr: 'Chemin du jeton', ja: 'トークンのパス' },
  'Where the answer has the token of the next page, with dots.': {
    de: 'Wo in der Antwort das Token der nächsten Seite steht, mit Punkten.',
    es: 'Dónde está el token de la página siguiente en la respuesta, con puntos.',
    fr: 'Où se trouve le jeton de la page suivante dans la réponse, avec des points.',
    ja: 'レスポンス内で次のページのトークンがある場所を、ドット区切りで指定します。',
  },
  'Parameter of the token': {
    de: 'Parameter des Tokens',
    es: 'Parámetro del token',
    fr: 'Paramètre du jeton',
    ja: 'トークンのパラメーター',
  },
  'Link to the next page': {
    de: 'Link zur nächsten Seite',
    es: 'Enlace a la página siguiente',
    fr: 'Lien vers la page suivante',
    ja: '次のページへのリンク',
  },
  'Ends when there is no link.': {
    de: 'Endet, wenn es keinen Link gibt.',
    es: 'Termina cuando no hay enlace.',
    fr: 'Se termine lorsqu’il n’y a plus de lien.',
    ja: 'リンクがなくなると終わります。',
  },
  'Path of the link': { de: 'Pfad des Links', es: 'Ruta del enlace', fr: 'Chemin du lien', ja: 'リンクのパス' },
  'Where the answer has the address of the next page, with dots. Empty: in the Link header.': {
    de: 'Wo in der Antwort die Adresse der nächsten Seite steht, mit Punkten. Leer: im Link-Header.',
    es: 'Dónde está la dirección de la página siguiente en la respuesta, con puntos. Vacío: en la cabecera Link.',
    fr: 'Où se trouve l’adresse de la page suivante dans la réponse, avec des points. Vide : dans l’en-tête Link.',
    ja: 'レスポンス内で次のページのアドレスがある場所を、ドット区切りで指定します。空欄の場合は Link ヘッダーを使用します。',
  },

  Headers: { de: 'Header', es: 'Cabeceras', fr: 'En-têtes', ja: 'ヘッダー' },
  'Sent with every request, for instance a version of the API.': {
    de: 'Werden mit jeder Anfrage gesendet, zum Beispiel eine Version der API.',
    es: 'Se envían con cada solicitud, por ejemplo una versión de la API.',
    fr: 'Envoyés avec chaque requête, par exemple une version de l’API.',
    ja: 'API のバージョンなど、すべてのリクエストと一緒に送信されます。',
  },
  'Requests per second': {
    de: 'Anfragen pro Sekunde',
    es: 'Solicitudes por segundo',
    fr: 'Requêtes par seconde',
    ja: '1 秒あたりのリクエスト数',
  },
  'At most this many requests a second. Leave empty for as many as the API answers.': {
    de: 'Höchstens so viele Anfragen pro Sekunde. Ohne Angabe so viele, wie die API beantwortet.',
    es: 'Como máximo, este número de solicitudes por segundo. Déjelo vacío para hacer tantas como responda la API.',
    fr: 'Nombre maximal de requêtes par seconde. Laissez vide pour en envoyer autant que l’API en traite.',
    ja: '1 秒あたりのリクエスト数の上限です。空欄の場合は、API が応答できるだけ送信します。',
  },
};
