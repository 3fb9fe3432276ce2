import { screenWords } from '../../words/screen-words.ts';
import type { FirstStepsWords } from './words/en.ts';

export const firstStepsWords = screenWords<FirstStepsWords>({
  en: () => import('./words/en.ts'),
  de: () => import('./words/de.ts'),
  fr: () => import('./words/fr.ts'),
  es: () => import('./words/es.ts'),
  ja: () => import('./words/ja.ts'),
});
