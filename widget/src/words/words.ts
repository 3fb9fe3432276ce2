/**
 * All texts of the widget, in the customer's language. The English file defines the keys: a language with a missing or extra
 * text does not compile. Each language is a separate chunk, so a customer loads only one.
 */
import { type WidgetLocale, widgetLocales } from '@inlay/contract/embedding';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Words } from './en.ts';

export type { Words };

const languages: Record<WidgetLocale, () => Promise<{ default: Words }>> = {
  en: () => import('./en.ts'),
  de: () => import('./de.ts'),
  fr: () => import('./fr.ts'),
  es: () => import('./es.ts'),
  ja: () => import('./ja.ts'),
};

export async function loadWords(locale: WidgetLocale): Promise<Words> {
  return (await languages[locale]()).default;
}

/**
 * The first supported language, and the requested tag: `de-AT` gets German words, with Austrian dates and numbers.
 */
export function chooseLocale(asked: readonly string[]): { language: WidgetLocale; tag: string } {
  for (const tag of asked) {
    const language = widgetLocales.find((known) => known === tag.toLowerCase().split('-')[0]);
    if (language) return { language, tag: isLocaleTag(tag) ? tag : language };
  }
  return { language: 'en', tag: 'en' };
}

function isLocaleTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

export const WordsContext = createContext<Words | undefined>(undefined);

export function useWords(): Words {
  const words = useContext(WordsContext);
  if (!words) throw new Error('No language is loaded.');
  return words;
}
