import type { Words } from './en.ts';

export default {
  form: {},

  loading: 'Wird geladen …',
} satisfies Words;
