import type { Words } from './en.ts';

export default {
  form: {},

  loading: 'Chargement…',
} satisfies Words;
