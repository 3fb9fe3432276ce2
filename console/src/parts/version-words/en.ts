import type { Translated } from '../../words/screen-words.ts';

const en = {
  version: 'Version',
  made: 'Changed',
  title: 'Versions',
  current: 'now',
  copyOf: (version: string) => `as version ${version}`,
  changes: 'What it changed',
  first: 'Nothing before it',
  by: 'By',
};

export default en;
export type VersionWords = Translated<typeof en>;
