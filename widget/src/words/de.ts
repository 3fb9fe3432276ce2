import type { Words } from './words.ts';

export default {
  form: {},

  loading: 'Wird geladen …',
} satisfies Words;
