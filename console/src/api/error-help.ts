/** What the page about errors says of each code (docs/reference/errors.md). `npm run docs` writes the list. */
import help from './error-help.json';

export const errorHelp: Readonly<Record<string, string>> = help;
