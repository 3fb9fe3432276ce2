import type { Words } from './words.ts';

export default {
  form: {},

  loading: 'Cargando…',
} satisfies Words;
