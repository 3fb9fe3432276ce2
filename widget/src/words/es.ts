import type { Words } from './en.ts';

export default {
  form: {
    optional: 'opcional',
    optionalSettings: 'Ajustes opcionales',
    choose: 'Elija…',
    notSet: 'Sin definir',
    format: (example) => `Formato: ${example}`,
    utc: 'La hora se indica en UTC.',
    show: (title) => `Mostrar: ${title}`,
    saved: 'Guardado, sin cambios',
    keepSaved: 'Conservar el valor guardado',
    add: 'Añadir',
    addTo: (title) => `Añadir: ${title}`,
    remove: (title) => `Quitar: ${title}`,
    numbered: (title, number) => `${title} ${number}`,
    summary: (count) => (count === 1 ? 'Revise un campo:' : `Revise ${count} campos:`),
    faults: {
      required: 'Rellene este campo.',
      choose: 'Elija una opción.',
      number: 'Introduzca un número.',
      integer: 'Introduzca un número entero.',
      json: 'Introduzca JSON válido del tipo esperado.',
      minimum: (limit) => `El valor debe ser ${limit} o más.`,
      maximum: (limit) => `El valor debe ser ${limit} o menos.`,
      moreThan: (limit) => `El valor debe ser mayor que ${limit}.`,
      lessThan: (limit) => `El valor debe ser menor que ${limit}.`,
      multipleOf: (step) => `El valor debe ser múltiplo de ${step}.`,
      minLength: (limit) => `Introduzca al menos ${limit} caracteres.`,
      maxLength: (limit) =>
        limit === 1 ? 'Introduzca un solo carácter.' : `Introduzca como máximo ${limit} caracteres.`,
      minItems: (limit) => (limit === 1 ? 'Añada al menos un elemento.' : `Añada al menos ${limit} elementos.`),
      maxItems: (limit) =>
        limit === 1 ? 'Solo es posible un elemento.' : `Son posibles ${limit} elementos como máximo.`,
      uniqueItems: 'Un elemento está repetido.',
      pattern: (wanted) => `El formato esperado es ${wanted}`,
      format: {
        email: 'Introduzca una dirección de correo electrónico.',
        uri: 'Introduzca una dirección completa, por ejemplo https://example.com.',
        date: 'Introduzca una fecha.',
        'date-time': 'Introduzca una fecha y una hora.',
        other: 'Esto no tiene el formato esperado.',
      },
      other: 'Este valor no es posible aquí.',
    },
  },

  loading: 'Cargando…',
} satisfies Words;
