import type { VersionWords } from './en.ts';

const words: VersionWords = {
  version: 'Version',
  made: 'Geändert',
  title: 'Versionen',
  current: 'jetzt',
  copyOf: (version) => `wie Version ${version}`,
  changes: 'Was sie geändert hat',
  first: 'Nichts davor',
  by: 'Von',
};
export default words;
