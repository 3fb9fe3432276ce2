/** The texts of forms in the reader's language, provided by the component that shows the form. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type en from './words/en.ts';

type Translated<T> = {
  [K in keyof T]: T[K] extends (...args: infer A) => string
    ? (...args: A) => string
    : T[K] extends string
      ? string
      : Translated<T[K]>;
};
export type FormWords = Translated<typeof en>;

export interface Words {
  /** For the connector's own texts, which may have translations. */
  language: string;
  form: FormWords;
}

export const FormWordsContext = createContext<Words | undefined>(undefined);

export function useWords(): Words {
  const words = useContext(FormWordsContext);
  if (!words) throw new Error('No words of forms are loaded.');
  return words;
}
