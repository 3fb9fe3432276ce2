import type { VersionWords } from './en.ts';

const words: VersionWords = {
  version: 'Version',
  made: 'Modifié',
  title: 'Versions',
  current: 'actuelle',
  copyOf: (version) => `comme la version ${version}`,
  changes: "Ce qu'elle a changé",
  first: 'Rien avant',
  by: 'Par',
};
export default words;
