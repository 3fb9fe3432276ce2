import type { Words } from './words.ts';

export default {
  form: {},

  loading: '読み込み中…',
} satisfies Words;
