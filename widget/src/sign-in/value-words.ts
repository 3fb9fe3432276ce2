/** Texts for values in a provider's URLs, which the server has in English only. */
import type { OfferedOAuth } from '@inlay/contract/catalog/template-oauth';
import type { SignInWords } from './sign-in-en.ts';

type Value = Pick<OfferedOAuth['values'][number], 'title' | 'hosts'>;

/** Operators' own titles are not translated. */
export const titleOf = ({ values }: SignInWords, { title }: Value): string =>
  Object.hasOwn(values, title) ? values[title as keyof typeof values] : title;

/** For a value that makes no valid URL. */
export const faultOf = (words: SignInWords, { hosts }: Value): string =>
  hosts ? words.oneOfHosts(hosts.join(', ')) : words.onlyTheName;
