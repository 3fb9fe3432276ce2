/** What is said of a value that a provider's addresses need. The server says it in English only. */
import type { OfferedOAuth } from '@inlay/contract/catalog/template-oauth';
import type { SignInWords } from './sign-in-en.ts';

type Value = Pick<OfferedOAuth['values'][number], 'title' | 'hosts'>;

/** What an operator has called it stays as it is. */
export const titleOf = ({ values }: SignInWords, { title }: Value): string =>
  Object.hasOwn(values, title) ? values[title as keyof typeof values] : title;

/** No address can be made with what the customer has entered. */
export const faultOf = (words: SignInWords, { hosts }: Value): string =>
  hosts ? words.oneOfHosts(hosts.join(', ')) : words.onlyTheName;
