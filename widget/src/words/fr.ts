import type { Words } from './words.ts';

export default {
  form: {},

  loading: 'Chargement…',
} satisfies Words;
