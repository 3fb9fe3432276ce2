import type { FirstStepsWords } from './en.ts';

const es: FirstStepsWords = {
  title: 'Primeros pasos',
  lead: 'De la nada a las primeras filas de un cliente, en este navegador.',
  hide: 'Ocultar',
  show: 'Mostrar los primeros pasos',
  done: 'hecho',
  steps: {
    destination: {
      title: 'Decir adónde van los datos',
      text: 'Elija un destino y haga con él una plantilla de conexión. Las fuentes de todos los clientes se conectan a él.',
    },
    source: {
      title: 'Ofrecer una fuente',
      text: 'Elija un conector y haga con él una plantilla de fuente: es lo que los clientes ven en el widget. “Sample data” no necesita cuenta.',
    },
    customer: {
      title: 'Añadir un cliente',
      text: 'Más adelante lo hace su backend al pedir un token de widget. Para probar vale cualquier nombre.',
    },
    connect: {
      title: 'Conectar una fuente como este cliente',
      text: 'Abra el widget en otra pestaña, como lo verán sus clientes, y conecte allí la fuente.',
    },
    rows: {
      title: 'Ver llegar las primeras filas',
      text: 'La primera sincronización empieza sola. Esta lista desaparece cuando llegan sus filas.',
    },
  },
  chooseDestination: 'Elegir un destino',
  chooseSource: 'Elegir un conector',
  seeJobs: 'Ver los trabajos',
  addCustomer: 'Añadir cliente',
  addText: 'Un cliente es un espacio de trabajo de su organización. Su backend lo nombra igual.',
  customerName: 'Nombre',
  nameHint: 'Como lo nombrará su backend, por ejemplo acme-inc.',
  added: (name) => `${name} está listo`,
  openWidget: 'Abrir el widget',
  openText: (name) =>
    `Crea un enlace al widget real como ${name}. Quien lo tenga puede conectar y quitar fuentes de este cliente durante una hora.`,
  makeLink: 'Crear enlace',
  linkText: 'El enlace abre el widget real en una pestaña nueva. Vale una hora; no lo comparta.',
  openAs: (name) => `Abrir el widget como ${name}`,
  copyLink: 'Copiar el enlace',
  toCustomer: 'Ir al cliente',
};

export default es;
