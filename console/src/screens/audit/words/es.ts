import type { AuditWords } from './en.ts';

const words: AuditWords = {
  title: 'Auditoría',
  type: 'Tipo',
  who: 'Quién',
  what: 'Cliente',
  outcome: 'Resultado',
  outcomes: { done: 'Hecho', refused: 'Rechazado' },
  when: 'Cuándo',
  from: 'Desde',
  client: 'Programa',
  position: 'Posición',
  request: 'Petición',
  hash: 'Hash',
  organization: 'toda la organización',
  exportAs: (format) => `Exportar como ${format}`,
  nothing: 'Todavía no hay nada en el registro.',
  missing: 'No existe esa entrada. Quizá ya no se conserva.',
  changes: 'Antes y después',
  noChanges: 'No hay nada que decir del antes y el después, o se borró.',
  place: 'Lugar',
  before: 'Antes',
  after: 'Después',
  data: 'Lo que se sabe',
  copyData: 'Copiar como JSON',
};
export default words;
