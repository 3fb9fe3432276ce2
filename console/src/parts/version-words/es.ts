import type { VersionWords } from './en.ts';

const words: VersionWords = {
  version: 'Versión',
  made: 'Cambiada',
  title: 'Versiones',
  current: 'ahora',
  copyOf: (version) => `como la versión ${version}`,
  changes: 'Qué cambió',
  first: 'Nada antes',
  by: 'Por',
};
export default words;
