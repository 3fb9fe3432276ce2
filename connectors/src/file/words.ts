import { authenticationWords } from '../kit/http-settings-words.ts';
import { recordWords } from '../kit/records-words.ts';
import { type Dictionary, everywhere } from '../kit/translate.ts';

export const dictionary: Dictionary = {
  ...authenticationWords,
  ...recordWords,
  'Name of the stream': {
    de: 'Name des Datenstroms',
    es: 'Nombre del flujo',
    fr: 'Nom du flux',
    ja: 'ストリームの名前',
  },
  Location: { de: 'Ort', es: 'Ubicación', fr: 'Emplacement', ja: '場所' },
  'Web address': { de: 'Webadresse', es: 'Dirección web', fr: 'Adresse web', ja: 'Web アドレス' },
  Address: { de: 'Adresse', es: 'Dirección', fr: 'Adresse', ja: 'アドレス' },
  'Folder of the server': {
    de: 'Ordner auf dem Server',
    es: 'Carpeta del servidor',
    fr: 'Dossier du serveur',
    ja: 'サーバーのフォルダー',
  },
  Path: { de: 'Pfad', es: 'Ruta', fr: 'Chemin', ja: 'パス' },
  'An absolute path within a folder that the operator has allowed. The file name may contain *, as in *.csv: then all files that match are read as one stream.':
    {
      de: 'Ein absoluter Pfad in einem Ordner, den der Betreiber freigegeben hat. Der Dateiname darf * enthalten, etwa *.csv: Dann werden alle passenden Dateien als ein Datenstrom gelesen.',
      es: 'Una ruta absoluta dentro de una carpeta que el operador haya permitido. El nombre del archivo puede contener *, como en *.csv: en ese caso, todos los archivos que coincidan se leen como un solo flujo.',
      fr: 'Un chemin absolu dans un dossier autorisé par l’opérateur. Le nom du fichier peut contenir *, comme dans *.csv : tous les fichiers correspondants sont alors lus comme un seul flux.',
      ja: '運営者が許可したフォルダー内の絶対パスです。ファイル名には *.csv のように * を使用できます。その場合、一致するすべてのファイルが 1 つのストリームとして読み取られます。',
    },
  Format: { de: 'Format', es: 'Formato', fr: 'Format', ja: '形式' },
  'Files may be compressed with gzip.': {
    de: 'Dateien dürfen mit gzip komprimiert sein.',
    es: 'Los archivos pueden estar comprimidos con gzip.',
    fr: 'Les fichiers peuvent être compressés avec gzip.',
    ja: 'gzip で圧縮されたファイルも使用できます。',
  },
  CSV: everywhere('CSV'),
  'Integers, decimals, true and false, dates and times are recognised where a whole column has them. An empty cell is null.':
    {
      de: 'Ganze Zahlen, Dezimalzahlen, true und false sowie Datums- und Zeitangaben werden erkannt, wenn eine ganze Spalte sie enthält. Eine leere Zelle ist null.',
      es: 'Los enteros, los decimales, true y false, las fechas y las horas se reconocen cuando los contiene toda una columna. Una celda vacía es null.',
      fr: 'Les entiers, les décimaux, true et false, les dates et les heures sont reconnus lorsqu’une colonne entière en contient. Une cellule vide vaut null.',
      ja: '整数、小数、true と false、日付と時刻は、列全体がその形式の場合に認識されます。空のセルは null になります。',
    },
  Delimiter: { de: 'Trennzeichen', es: 'Delimitador', fr: 'Séparateur', ja: '区切り文字' },
  'Comma (,)': { de: 'Komma (,)', es: 'Coma (,)', fr: 'Virgule (,)', ja: 'カンマ (,)' },
  'Semicolon (;)': { de: 'Semikolon (;)', es: 'Punto y coma (;)', fr: 'Point-virgule (;)', ja: 'セミコロン (;)' },
  Tab: { de: 'Tabulator', es: 'Tabulador', fr: 'Tabulation', ja: 'タブ' },
  'Vertical bar (|)': {
    de: 'Senkrechter Strich (|)',
    es: 'Barra vertical (|)',
    fr: 'Barre verticale (|)',
    ja: '縦線 (|)',
  },
  'Names in the first line': {
    de: 'Namen in der ersten Zeile',
    es: 'Nombres en la primera línea',
    fr: 'Noms dans la première ligne',
    ja: '先頭行は列名',
  },
  'Otherwise the columns are called column_1, column_2 and so on.': {
    de: 'Sonst heißen die Spalten column_1, column_2 und so weiter.',
    es: 'De lo contrario, las columnas se llaman column_1, column_2, etc.',
    fr: 'Sinon, les colonnes s’appellent column_1, column_2, etc.',
    ja: 'オフの場合、列の名前は column_1、column_2 のようになります。',
  },
  Encoding: { de: 'Zeichencodierung', es: 'Codificación', fr: 'Encodage', ja: '文字コード' },
  'UTF-8': everywhere('UTF-8'),
  'Latin-1': everywhere('Latin-1'),
  'JSON Lines': everywhere('JSON Lines'),
  'One JSON object a line.': {
    de: 'Ein JSON-Objekt pro Zeile.',
    es: 'Un objeto JSON por línea.',
    fr: 'Un objet JSON par ligne.',
    ja: '1 行に 1 つの JSON オブジェクトです。',
  },
  JSON: everywhere('JSON'),
  'A list of objects, or an object with a list in it, of at most 64 MB.': {
    de: 'Eine Liste von Objekten oder ein Objekt, das eine Liste enthält, bis 64 MB.',
    es: 'Una lista de objetos, o un objeto que contiene una lista, de 64 MB como máximo.',
    fr: 'Une liste d’objets, ou un objet qui contient une liste, de 64 Mo au maximum.',
    ja: 'オブジェクトのリスト、またはリストを含むオブジェクトです。最大 64 MB です。',
  },
  'Where the document has the list of records, with dots. Empty: the document is the list.': {
    de: 'Wo im Dokument die Liste der Datensätze steht, mit Punkten. Leer: Das Dokument ist die Liste.',
    es: 'Dónde está la lista de registros en el documento, con puntos. Vacío: el documento es la lista.',
    fr: 'Où se trouve la liste des enregistrements dans le document, avec des points. Vide : le document est la liste.',
    ja: 'ドキュメント内でレコードのリストがある場所を、ドット区切りで指定します。空欄の場合は、ドキュメント全体がリストです。',
  },
};
