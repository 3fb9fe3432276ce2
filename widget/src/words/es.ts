import type { Words } from './en.ts';

export default {
  form: {},

  loading: 'Cargando…',
} satisfies Words;
