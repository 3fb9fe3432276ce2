/** Values that a source needs and the provider tells, in the token answer or in the redirect. */
import type { OAuthProvider } from '@inlay/contract/oauth-providers';
import { at, text } from './token-answers.ts';

const maxLength = 2_048;

export function takenValues(
  { taken = {} }: Pick<OAuthProvider, 'taken'>,
  answer: Record<string, unknown>,
  redirect: URLSearchParams,
): Record<string, string> {
  const values = Object.entries(taken).flatMap(([name, { from, path }]) => {
    const value = from === 'redirect' ? redirect.get(path[0] ?? '') : text(at(answer, path));
    return value ? [[name, value.toWellFormed().slice(0, maxLength)]] : [];
  });
  return Object.fromEntries(values);
}
