import type { SignInWords } from './sign-in-en.ts';

const es: SignInWords = {
  signIn: (provider) => `Iniciar sesión con ${provider}`,
  again: 'Volver a iniciar sesión',
  lead: (provider) => `Usted inicia sesión en la página de ${provider}. Su contraseña se queda allí.`,
  enterKeys: 'Introducir claves en su lugar',
  signInInstead: 'Iniciar sesión en su lugar',
  missing: 'Primero inicie sesión.',
  waiting: (provider) => `Continúe en la ventana de ${provider}`,
  waitingText: 'Cuando haya iniciado sesión, esta página continuará sola.',
  finishing: 'Terminando el inicio de sesión…',
  noWindow: 'Si no se ha abierto una ventana nueva, ábrala aquí:',
  openWindow: 'Abrir el inicio de sesión',
  useThisWindow: 'Continuar en esta ventana',
  windowClosed: 'Parece que se ha cerrado la ventana de inicio de sesión.',
  windowUnknown: 'Si ha cerrado la ventana, puede volver a abrirla.',
  reopenWindow: 'Volver a abrir la ventana',
  showWindow: 'Mostrar la ventana',
  cancelled: 'Inicio de sesión cancelado',
  connectedAs: (account) => `Conectado como ${account}`,
  connected: (provider) => `Conectado con ${provider}`,
  otherAccount: 'Usar otra cuenta',
  failed: 'El inicio de sesión no ha funcionado',
  failures: {
    denied: 'No ha dado su consentimiento. No se ha conectado nada.',
    expired: 'El inicio de sesión ha tardado demasiado. Empiece de nuevo.',
    refused: 'El proveedor no ha aceptado el inicio de sesión. Inténtelo de nuevo.',
    unreachable: 'El proveedor no responde en este momento. Inténtelo más tarde.',
    not_possible: 'Ahora no es posible iniciar sesión. Póngase en contacto con el soporte de este producto.',
  },
  values: {
    'GitLab host': 'Servidor de GitLab',
    'Sign-in host': 'Servidor de inicio de sesión',
    'Intercom address': 'Dirección de Intercom',
    'Name of the shop': 'Nombre de la tienda',
    'Subdomain of Zendesk': 'Subdominio de Zendesk',
  },
  onlyTheName: 'Introduzca solo el nombre, por ejemplo «acme», con letras, cifras y guiones.',
  oneOfHosts: (hosts) => `Elija uno de estos: ${hosts}.`,
  missingScopes: 'Faltan permisos',
  missingScopesText: 'Sin ellos no se pueden leer los datos. Vuelva a iniciar sesión y acéptelos todos:',
  grantAgain: 'Volver a autorizar',
  unconfirmed: 'Es otra cuenta',
  unconfirmedText: (account, before) =>
    `Ha iniciado sesión como ${account}. Hasta ahora esta fuente estaba conectada como ${before}. Si continúa, a partir de ahora traerá los datos de ${account}.`,
  unconfirmedUnknown:
    'Ha iniciado sesión con una cuenta distinta de la anterior. Si continúa, esta fuente traerá a partir de ahora los datos de esa cuenta.',
  confirm: 'Usar esta cuenta',
  endedTitle: 'Vuelva a iniciar sesión para continuar',
  endedText: (provider) =>
    `${provider} ya no acepta el inicio de sesión anterior. Hasta que vuelva a iniciar sesión no se sincroniza nada. Los ajustes y el historial se conservan.`,
  restored: 'Ha vuelto a iniciar sesión. La sincronización continúa sola.',
};

export default es;
