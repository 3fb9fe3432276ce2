import type { Dictionary } from '../kit/translate.ts';

/** Of the fields that source and destination have in common. */
const connectionDictionary: Dictionary = {
  Server: { de: 'Server', es: 'Servidor', fr: 'Serveur', ja: 'サーバー' },
  Login: { de: 'Anmeldung', es: 'Inicio de sesión', fr: 'Connexion', ja: 'ログイン' },
  Content: { de: 'Inhalt', es: 'Contenido', fr: 'Contenu', ja: '内容' },
  Host: { de: 'Host', es: 'Host', fr: 'Hôte', ja: 'ホスト' },
  'The name or address of the server.': {
    de: 'Name oder Adresse des Servers.',
    es: 'El nombre o la dirección del servidor.',
    fr: 'Le nom ou l’adresse du serveur.',
    ja: 'サーバーの名前またはアドレスです。',
  },
  Port: { de: 'Port', es: 'Puerto', fr: 'Port', ja: 'ポート' },
  Database: { de: 'Datenbank', es: 'Base de datos', fr: 'Base de données', ja: 'データベース' },
  User: { de: 'Benutzer', es: 'Usuario', fr: 'Utilisateur', ja: 'ユーザー' },
  Password: { de: 'Passwort', es: 'Contraseña', fr: 'Mot de passe', ja: 'パスワード' },
  Encryption: { de: 'Verschlüsselung', es: 'Cifrado', fr: 'Chiffrement', ja: '暗号化' },
  'Whether the connection is encrypted, and whether the server has to prove who it is.': {
    de: 'Ob die Verbindung verschlüsselt wird und ob der Server sich ausweisen muss.',
    es: 'Si la conexión se cifra y si el servidor debe demostrar su identidad.',
    fr: 'Indique si la connexion est chiffrée et si le serveur doit prouver son identité.',
    ja: '接続を暗号化するかどうか、またサーバーの身元を確認するかどうかを指定します。',
  },
  Never: { de: 'Nie', es: 'Nunca', fr: 'Jamais', ja: '暗号化しない' },
  'Nothing is encrypted, the password included. For trusted networks only.': {
    de: 'Nichts wird verschlüsselt, auch das Passwort nicht. Nur für vertrauenswürdige Netze.',
    es: 'No se cifra nada, ni siquiera la contraseña. Solo para redes de confianza.',
    fr: 'Rien n’est chiffré, pas même le mot de passe. Uniquement pour les réseaux de confiance.',
    ja: 'パスワードを含め、何も暗号化されません。信頼できるネットワークでのみ使用してください。',
  },
  'If the server offers it': {
    de: 'Wenn der Server sie anbietet',
    es: 'Si el servidor lo ofrece',
    fr: 'Si le serveur le propose',
    ja: 'サーバーが対応していれば暗号化',
  },
  'Encrypted where possible; the server is not verified.': {
    de: 'Verschlüsselt, wo es möglich ist. Der Server wird nicht geprüft.',
    es: 'Se cifra cuando es posible; no se verifica el servidor.',
    fr: 'Chiffrée si possible ; le serveur n’est pas vérifié.',
    ja: '可能な場合に暗号化します。サーバーは検証されません。',
  },
  Always: { de: 'Immer', es: 'Siempre', fr: 'Toujours', ja: '常に暗号化' },
  'Encrypted, or no connection; the server is not verified.': {
    de: 'Verschlüsselt oder gar nicht. Der Server wird nicht geprüft.',
    es: 'Sin cifrado no hay conexión; no se verifica el servidor.',
    fr: 'Sans chiffrement, pas de connexion ; le serveur n’est pas vérifié.',
    ja: '暗号化できない場合は接続しません。サーバーは検証されません。',
  },
  'Always, and verify the server': {
    de: 'Immer, und den Server prüfen',
    es: 'Siempre, y verificar el servidor',
    fr: 'Toujours, avec vérification du serveur',
    ja: '常に暗号化し、サーバーを検証',
  },
  'Safe against someone posing as the server.': {
    de: 'Schützt davor, dass sich jemand als der Server ausgibt.',
    es: 'Protege frente a quien se haga pasar por el servidor.',
    fr: 'Protège contre l’usurpation d’identité du serveur.',
    ja: 'サーバーへのなりすましを防ぎます。',
  },
  'CA certificate': { de: 'CA-Zertifikat', es: 'Certificado de la CA', fr: 'Certificat de l’AC', ja: 'CA 証明書' },
  "The certificate (PEM) that the server's own is signed with. Empty: one of the well-known authorities.": {
    de: 'Das Zertifikat (PEM), mit dem das des Servers signiert ist. Leer: eine der bekannten Zertifizierungsstellen.',
    es: 'El certificado (PEM) con el que está firmado el del servidor. Vacío: una de las autoridades conocidas.',
    fr: 'Le certificat (PEM) qui a signé celui du serveur. Vide : l’une des autorités reconnues.',
    ja: 'サーバーの証明書に署名した証明書（PEM 形式）です。空欄の場合は、一般に信頼されている認証局を使用します。',
  },
};

export const sourceDictionary: Dictionary = {
  ...connectionDictionary,
  Schemas: { de: 'Schemas', es: 'Esquemas', fr: 'Schémas', ja: 'スキーマ' },
  'Tables and views of these schemas are offered.': {
    de: 'Tabellen und Sichten dieser Schemas werden angeboten.',
    es: 'Se ofrecen las tablas y vistas de estos esquemas.',
    fr: 'Les tables et les vues de ces schémas sont proposées.',
    ja: 'これらのスキーマのテーブルとビューが対象になります。',
  },
};
