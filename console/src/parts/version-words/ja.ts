import type { VersionWords } from './en.ts';

const words: VersionWords = {
  version: 'バージョン',
  made: '変更',
  title: 'バージョン',
  current: '現在',
  copyOf: (version) => `バージョン ${version} と同じ`,
  changes: '変更内容',
  first: 'これより前はありません',
  by: '変更者',
};
export default words;
