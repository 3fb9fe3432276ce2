/**
 * Every text the widget shows, in the customer's language. English is the measure: a language that lacks a text, or has
 * one too many, does not compile. Each language is a file of its own, so a customer loads one.
 */
import { type WidgetLocale, widgetLocales } from '@inlay/contract/embedding';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Words } from './en.ts';

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

/** The first that we speak: `de-AT` is served with German. */
export function chooseLocale(asked: readonly string[]): WidgetLocale {
  for (const tag of asked) {
    const language = tag.toLowerCase().split('-')[0];
    const found = widgetLocales.find((locale) => locale === language);
    if (found) return found;
  }
  return 'en';
}

export const WordsContext = createContext<Words | undefined>(undefined);

export function useWords(): Words {
  const words = useContext(WordsContext);
  if (!words) throw new Error('No language is loaded.');
  return words;
}
