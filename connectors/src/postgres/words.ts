import type { Dictionary } from '../kit/translate.ts';

/** Texts for the fields that source and destination share. */
const connectionDictionary: Dictionary = {
  Server: { de: 'Server', es: 'Servidor', fr: 'Serveur', ja: 'サーバー' },
  Login: { de: 'Anmeldung', es: 'Inicio de sesión', fr: 'Connexion', ja: 'ログイン' },
  Content: { de: 'Inhalt', es: 'Contenido', fr: 'Contenu', ja: '内容' },
  Host: { de: 'Host', es: 'Host', fr: 'Hôte', ja: 'ホスト' },
  'Hostname or IP address of the server.': {
    de: 'Hostname oder IP-Adresse des Servers.',
    es: 'Nombre de host o dirección IP del servidor.',
    fr: 'Nom d’hôte ou adresse IP du serveur.',
    ja: 'サーバーのホスト名または IP アドレスです。',
  },
  Port: { de: 'Port', es: 'Puerto', fr: 'Port', ja: 'ポート' },
  Database: { de: 'Datenbank', es: 'Base de datos', fr: 'Base de données', ja: 'データベース' },
  User: { de: 'Benutzer', es: 'Usuario', fr: 'Utilisateur', ja: 'ユーザー' },
  Password: { de: 'Passwort', es: 'Contraseña', fr: 'Mot de passe', ja: 'パスワード' },
  Encryption: { de: 'Verschlüsselung', es: 'Cifrado', fr: 'Chiffrement', ja: '暗号化' },
  "Whether to encrypt the connection and verify the server's identity.": {
    de: 'Ob die Verbindung verschlüsselt und die Identität des Servers geprüft wird.',
    es: 'Si se cifra la conexión y se verifica la identidad del servidor.',
    fr: 'Chiffrement de la connexion et vérification de l’identité du serveur.',
    ja: '接続を暗号化するかどうか、またサーバーの身元を確認するかどうかを指定します。',
  },
  Never: { de: 'Nie', es: 'Nunca', fr: 'Jamais', ja: '暗号化しない' },
  'Nothing is encrypted, not even the password. Use only on trusted networks.': {
    de: 'Nichts wird verschlüsselt, auch das Passwort nicht. Nur für vertrauenswürdige Netze.',
    es: 'No se cifra nada, ni siquiera la contraseña. Solo para redes de confianza.',
    fr: 'Rien n’est chiffré, pas même le mot de passe. Uniquement pour les réseaux de confiance.',
    ja: 'パスワードを含め、何も暗号化されません。信頼できるネットワークでのみ使用してください。',
  },
  'If the server supports it': {
    de: 'Wenn der Server sie unterstützt',
    es: 'Si el servidor lo admite',
    fr: 'Si le serveur la prend en charge',
    ja: 'サーバーが対応していれば暗号化',
  },
  'Encrypted if possible. The server is not verified.': {
    de: 'Nach Möglichkeit verschlüsselt. Der Server wird nicht geprüft.',
    es: 'Se cifra cuando es posible; no se verifica el servidor.',
    fr: 'Chiffrée si possible ; le serveur n’est pas vérifié.',
    ja: '可能な場合に暗号化します。サーバーは検証されません。',
  },
  Always: { de: 'Immer', es: 'Siempre', fr: 'Toujours', ja: '常に暗号化' },
  'Always encrypted. The server is not verified.': {
    de: 'Immer verschlüsselt. Der Server wird nicht geprüft.',
    es: 'Siempre cifrada; no se verifica el servidor.',
    fr: 'Toujours chiffrée ; le serveur n’est pas vérifié.',
    ja: '暗号化できない場合は接続しません。サーバーは検証されません。',
  },
  'Always, and verify the server': {
    de: 'Immer, und den Server prüfen',
    es: 'Siempre, y verificar el servidor',
    fr: 'Toujours, avec vérification du serveur',
    ja: '常に暗号化し、サーバーを検証',
  },
  'Protects against someone impersonating the server.': {
    de: 'Schützt davor, dass sich jemand als der Server ausgibt.',
    es: 'Protege frente a quien se haga pasar por el servidor.',
    fr: 'Protège contre l’usurpation d’identité du serveur.',
    ja: 'サーバーへのなりすましを防ぎます。',
  },
  'CA certificate': { de: 'CA-Zertifikat', es: 'Certificado de la CA', fr: 'Certificat de l’AC', ja: 'CA 証明書' },
  "The CA certificate (PEM) that signed the server's certificate. Leave empty for a public certificate authority.": {
    de: 'Das CA-Zertifikat (PEM), mit dem das Zertifikat des Servers signiert ist. Bei einer öffentlichen Zertifizierungsstelle leer lassen.',
    es: 'El certificado de la CA (PEM) que firmó el certificado del servidor. Déjelo vacío si es una autoridad de certificación pública.',
    fr: 'Le certificat de l’AC (PEM) qui a signé celui du serveur. Laissez vide pour une autorité de certification publique.',
    ja: 'サーバーの証明書に署名した CA 証明書 (PEM 形式) です。公的な認証局の場合は空欄にします。',
  },
};

export const sourceDictionary: Dictionary = {
  ...connectionDictionary,
  Schemas: { de: 'Schemas', es: 'Esquemas', fr: 'Schémas', ja: 'スキーマ' },
  'You can sync the tables and views in these schemas.': {
    de: 'Tabellen und Sichten dieser Schemas können synchronisiert werden.',
    es: 'Puede sincronizar las tablas y vistas de estos esquemas.',
    fr: 'Vous pouvez synchroniser les tables et les vues de ces schémas.',
    ja: 'これらのスキーマのテーブルとビューを同期できます。',
  },
};
