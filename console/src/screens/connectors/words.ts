import { screenWords } from '../../words/screen-words.ts';
import type { ConnectorsWords } from './words/en.ts';

export const connectorsWords = screenWords<ConnectorsWords>({
  en: () => import('./words/en.ts'),
  de: () => import('./words/de.ts'),
  fr: () => import('./words/fr.ts'),
  es: () => import('./words/es.ts'),
  ja: () => import('./words/ja.ts'),
});
