import type { Words } from './en.ts';

export default {
  form: {},

  loading: '読み込み中…',
} satisfies Words;
