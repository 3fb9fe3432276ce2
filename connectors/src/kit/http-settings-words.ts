/* The words of http-settings.ts in forms: how a server knows who asks. */
import type { Dictionary } from './translate.ts';

export const authenticationWords: Dictionary = {
  Authentication: { de: 'Authentifizierung', es: 'Autenticación', fr: 'Authentification', ja: '認証' },
  None: { de: 'Keine', es: 'Ninguna', fr: 'Aucune', ja: 'なし' },
  'Bearer token': { de: 'Bearer-Token', es: 'Token de portador', fr: 'Jeton du porteur', ja: 'Bearer トークン' },
  Token: { de: 'Token', es: 'Token', fr: 'Jeton', ja: 'トークン' },
  'Username and password': {
    de: 'Benutzername und Passwort',
    es: 'Nombre de usuario y contraseña',
    fr: 'Nom d’utilisateur et mot de passe',
    ja: 'ユーザー名とパスワード',
  },
  Username: { de: 'Benutzername', es: 'Nombre de usuario', fr: 'Nom d’utilisateur', ja: 'ユーザー名' },
  Password: { de: 'Passwort', es: 'Contraseña', fr: 'Mot de passe', ja: 'パスワード' },
};
