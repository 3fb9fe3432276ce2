/**
 * Signing in with a provider is a separate chunk, and so are its words in each language. Only customers who can sign in load
 * them.
 */

import type { WidgetLocale } from '@inlay/contract/embedding';
import type { Connection } from '@inlay/contract/pipelines/connections';
import type { SourceSummary } from '@inlay/contract/pipelines/sources';
import { Button } from '@inlay/ui/parts/button.tsx';
import { FailureNotice } from '../parts/failure-notice.tsx';
import { useLoaded } from '../sources/use-loaded.ts';
import { useWords, type Words } from '../words/words.ts';
import type { SignInWords } from './sign-in-en.ts';

type SignInModule = typeof import('./sign-in.tsx');

const languages: Record<WidgetLocale, () => Promise<{ default: SignInWords }>> = {
  en: () => import('./sign-in-en.ts'),
  de: () => import('./sign-in-de.ts'),
  fr: () => import('./sign-in-fr.ts'),
  es: () => import('./sign-in-es.ts'),
  ja: () => import('./sign-in-ja.ts'),
};

export interface LoadedSignIn {
  module: SignInModule;
  words: SignInWords;
}

export async function loadSignIn({ language }: Pick<Words, 'language'>): Promise<LoadedSignIn> {
  const [module, words] = await Promise.all([import('./sign-in.tsx'), languages[language as WidgetLocale]()]);
  return { module, words: words.default };
}

/** Whether the customer has to sign in again. */
export function isSignInEnded(source: Pick<SourceSummary, 'health'>, connections: readonly Connection[]): boolean {
  return [source, ...connections].some(({ health }) => health.attention?.code === 'sign_in_ended');
}

/** On the page of a source whose sign-in has ended. */
export function SignInAgain({ source }: { source: SourceSummary }) {
  const words = useWords();
  const loaded = useLoaded('', () => loadSignIn(words));
  if (loaded.value) return <loaded.value.module.SignInAgain source={source} words={loaded.value.words} />;
  if (loaded.error === undefined) return null;
  return <FailureNotice error={loaded.error} actions={<Button onClick={loaded.reload}>{words.tryAgain}</Button>} />;
}
