import { authenticationWords } from '../kit/http-settings-words.ts';
import { recordWords } from '../kit/records-words.ts';
import { type Dictionary, everywhere } from '../kit/translate.ts';

export const dictionary: Dictionary = {
  ...authenticationWords,
  ...recordWords,
  'Stream name': {
    de: 'Name des Datenstroms',
    es: 'Nombre del flujo',
    fr: 'Nom du flux',
    ja: 'ストリームの名前',
  },
  Location: { de: 'Ort', es: 'Ubicación', fr: 'Emplacement', ja: '場所' },
  URL: { de: 'URL', es: 'URL', fr: 'URL', ja: 'URL' },
  'File URL': { de: 'URL der Datei', es: 'URL del archivo', fr: 'URL du fichier', ja: 'ファイルの URL' },
  'Server folder': {
    de: 'Ordner auf dem Server',
    es: 'Carpeta del servidor',
    fr: 'Dossier du serveur',
    ja: 'サーバーのフォルダー',
  },
  Path: { de: 'Pfad', es: 'Ruta', fr: 'Chemin', ja: 'パス' },
  'Absolute path in an allowed folder. Use * in the file name, for example *.csv, to read all matching files as one stream.':
    {
      de: 'Absoluter Pfad in einem freigegebenen Ordner. Mit * im Dateinamen, zum Beispiel *.csv, werden alle passenden Dateien als ein Datenstrom gelesen.',
      es: 'Ruta absoluta en una carpeta permitida. Use * en el nombre del archivo, por ejemplo *.csv, para leer todos los archivos que coincidan como un solo flujo.',
      fr: 'Chemin absolu dans un dossier autorisé. Utilisez * dans le nom du fichier, par exemple *.csv, pour lire tous les fichiers correspondants comme un seul flux.',
      ja: '許可されたフォルダー内の絶対パスです。ファイル名に * を使用すると（例: *.csv）、一致するすべてのファイルが 1 つのストリームとして読み取られます。',
    },
  Format: { de: 'Format', es: 'Formato', fr: 'Format', ja: '形式' },
  'Files can be compressed with gzip.': {
    de: 'Dateien können mit gzip komprimiert sein.',
    es: 'Los archivos pueden estar comprimidos con gzip.',
    fr: 'Les fichiers peuvent être compressés avec gzip.',
    ja: 'gzip で圧縮されたファイルも使用できます。',
  },
  CSV: everywhere('CSV'),
  'Column types such as integer, decimal, boolean, date and time are detected from the values. Empty cells become null.':
    {
      de: 'Spaltentypen wie ganze Zahl, Dezimalzahl, Wahrheitswert, Datum und Uhrzeit werden anhand der Werte erkannt. Leere Zellen werden zu null.',
      es: 'Los tipos de columna, como entero, decimal, booleano, fecha y hora, se detectan a partir de los valores. Las celdas vacías se convierten en null.',
      fr: 'Les types de colonne (entier, décimal, booléen, date, heure) sont détectés à partir des valeurs. Les cellules vides deviennent null.',
      ja: '整数、小数、真偽値、日付、時刻などの列の型は、値から検出されます。空のセルは null になります。',
    },
  Delimiter: { de: 'Trennzeichen', es: 'Delimitador', fr: 'Séparateur', ja: '区切り文字' },
  'Comma (,)': { de: 'Komma (,)', es: 'Coma (,)', fr: 'Virgule (,)', ja: 'カンマ (,)' },
  'Semicolon (;)': { de: 'Semikolon (;)', es: 'Punto y coma (;)', fr: 'Point-virgule (;)', ja: 'セミコロン (;)' },
  Tab: { de: 'Tabulator', es: 'Tabulador', fr: 'Tabulation', ja: 'タブ' },
  'Pipe (|)': {
    de: 'Senkrechter Strich (|)',
    es: 'Barra vertical (|)',
    fr: 'Barre verticale (|)',
    ja: '縦線 (|)',
  },
  'First row contains column names': {
    de: 'Erste Zeile enthält Spaltennamen',
    es: 'La primera fila contiene los nombres de columna',
    fr: 'La première ligne contient les noms de colonne',
    ja: '先頭行は列名',
  },
  'Otherwise, columns are named column_1, column_2 and so on.': {
    de: 'Sonst heißen die Spalten column_1, column_2 und so weiter.',
    es: 'De lo contrario, las columnas se llaman column_1, column_2, etc.',
    fr: 'Sinon, les colonnes s’appellent column_1, column_2, etc.',
    ja: 'オフの場合、列の名前は column_1、column_2 のようになります。',
  },
  Encoding: { de: 'Zeichencodierung', es: 'Codificación', fr: 'Encodage', ja: '文字コード' },
  'UTF-8': everywhere('UTF-8'),
  'Latin-1': everywhere('Latin-1'),
  'JSON Lines': everywhere('JSON Lines'),
  'One JSON object per line.': {
    de: 'Ein JSON-Objekt pro Zeile.',
    es: 'Un objeto JSON por línea.',
    fr: 'Un objet JSON par ligne.',
    ja: '1 行に 1 つの JSON オブジェクトです。',
  },
  JSON: everywhere('JSON'),
  'A list of objects, or an object that contains a list, up to 64 MB.': {
    de: 'Eine Liste von Objekten oder ein Objekt, das eine Liste enthält, bis 64 MB.',
    es: 'Una lista de objetos, o un objeto que contiene una lista, de 64 MB como máximo.',
    fr: 'Une liste d’objets, ou un objet qui contient une liste, de 64 Mo au maximum.',
    ja: 'オブジェクトのリスト、またはリストを含むオブジェクトです。最大 64 MB です。',
  },
  'Dot path to the list of records in the document. Leave empty if the document itself is the list.': {
    de: 'Punktpfad zur Liste der Datensätze im Dokument. Leer lassen, wenn das Dokument selbst die Liste ist.',
    es: 'Ruta con puntos a la lista de registros en el documento. Déjelo vacío si el propio documento es la lista.',
    fr: 'Chemin (avec des points) de la liste des enregistrements dans le document. Laissez vide si le document lui-même est la liste.',
    ja: 'ドキュメント内でレコードのリストがある場所を、ドット区切りで指定します。空欄の場合は、ドキュメント全体がリストです。',
  },
};
