import type { FrameWords } from './en.ts';

const words: FrameWords = {
  sees: (customer) => `Lo que ve ${customer}`,
  readOnly: 'Solo lectura: aquí no se puede cambiar nada. La auditoría dice que usted ha mirado.',
  frame: 'Widget',
  language: 'Idioma',
  automatic: 'Como el navegador',
  scheme: 'Tema',
  schemes: { auto: 'Como el sistema', light: 'Claro', dark: 'Oscuro' },
  notLoaded: 'El widget no se ha cargado. Compruebe su conexión e inténtelo de nuevo.',
  refused: 'El servicio ya no acepta esta vista. Inténtelo de nuevo.',
  ended: 'Su sesión ha terminado, y con ella esta vista.',
  preview: 'Vista previa',
  draft: 'Lo que un cliente nuevo vería de esta plantilla. No está guardada.',
  lastGood: 'Este borrador no se puede mostrar. La imagen es del último que se pudo mostrar.',
  notYet: 'Este borrador todavía no se puede mostrar.',
};

export default words;
