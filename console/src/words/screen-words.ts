/** Words that only one screen has. They lie beside the screen and are loaded with it, so the first page stays small. */
import { chooseLanguage, type Language } from './words.ts';

/** The same shape with other texts: each is a string, or a function that makes one. */
export type Translated<T> = {
  [K in keyof T]: T[K] extends (...args: infer A) => string
    ? (...args: A) => string
    : T[K] extends string
      ? string
      : Translated<T[K]>;
};

export interface ScreenWords<T> {
  /** Called before the screen is shown. */
  load(): Promise<void>;
  /** A change of the language loads the page anew, so these never change. */
  get(): T;
}

export function screenWords<T>(languages: Record<Language, () => Promise<{ default: T }>>): ScreenWords<T> {
  let words: T | undefined;
  return {
    async load() {
      words ??= (await languages[chooseLanguage().language]()).default;
    },
    get() {
      if (words === undefined) throw new Error('The words of this screen are not loaded.');
      return words;
    },
  };
}
