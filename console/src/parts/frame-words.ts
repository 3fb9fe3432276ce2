import { screenWords } from '../words/screen-words.ts';
import type { FrameWords } from './frame-words/en.ts';

/** Words around a widget. Screens that show one load them first. */
export const frameWords = screenWords<FrameWords>({
  en: () => import('./frame-words/en.ts'),
  de: () => import('./frame-words/de.ts'),
  fr: () => import('./frame-words/fr.ts'),
  es: () => import('./frame-words/es.ts'),
  ja: () => import('./frame-words/ja.ts'),
});
