/**
 * Every text of the console. The English file is the model: a language that lacks a text does not compile. Each language
 * is a file of its own, so a browser loads only one.
 */
import { type WidgetLocale, widgetLocales } from '@inlay/contract/embedding';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { read, write } from '../scheme.ts';
import type { Words } from './en.ts';

export type { Words };
export type Language = WidgetLocale;
export const languageNames: Record<Language, string> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  ja: '日本語',
};

const languages: Record<Language, () => Promise<{ default: Words }>> = {
  en: () => import('./en.ts'),
  de: () => import('./de.ts'),
  fr: () => import('./fr.ts'),
  es: () => import('./es.ts'),
  ja: () => import('./ja.ts'),
};

const key = 'inlay-console-language';

export async function loadWords(language: Language): Promise<Words> {
  return (await languages[language]()).default;
}

/** The person's choice, or the first of the browser's languages that we have. `de-AT` writes numbers as in Austria. */
export function chooseLanguage(): { language: Language; tag: string } {
  const chosen = read(key);
  for (const tag of [...(chosen ? [chosen] : []), ...navigator.languages]) {
    const language = widgetLocales.find((known) => known === tag.toLowerCase().split('-')[0]);
    if (language) return { language, tag };
  }
  return { language: 'en', tag: 'en' };
}

/** The page is loaded anew: nothing on it stays in another language. */
export function changeLanguage(language: Language): void {
  write(key, language);
  location.reload();
}

export const WordsContext = createContext<Words | undefined>(undefined);

export function useWords(): Words {
  const words = useContext(WordsContext);
  if (!words) throw new Error('No language is loaded.');
  return words;
}
