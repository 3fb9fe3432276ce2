import { screenWords } from '../words/screen-words.ts';
import type { VersionWords } from './version-words/en.ts';

/** Words about versions. Screens that list versions load them first. */
export const versionWords = screenWords<VersionWords>({
  en: () => import('./version-words/en.ts'),
  de: () => import('./version-words/de.ts'),
  fr: () => import('./version-words/fr.ts'),
  es: () => import('./version-words/es.ts'),
  ja: () => import('./version-words/ja.ts'),
});
