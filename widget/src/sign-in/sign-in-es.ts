import type { SignInWords } from './sign-in-en.ts';

const es: SignInWords = {
  signIn: (provider) => `Iniciar sesión con ${provider}`,
  again: 'Volver a iniciar sesión',
  lead: (provider) => `Iniciará sesión en ${provider}. Nunca vemos su contraseña.`,
  enterKeys: 'Introducir credenciales',
  signInInstead: 'Iniciar sesión con el proveedor',
  missing: 'Inicie sesión primero.',
  waiting: (provider) => `Continúe en la ventana de ${provider}`,
  waitingText: 'Esta página continuará automáticamente cuando haya iniciado sesión.',
  finishing: 'Finalizando el inicio de sesión…',
  noWindow: '¿No se ha abierto ninguna ventana? Ábrala aquí:',
  openWindow: 'Abrir inicio de sesión',
  useThisWindow: 'Continuar en esta ventana',
  windowClosed: 'Parece que se ha cerrado la ventana de inicio de sesión.',
  windowUnknown: 'Si ha cerrado la ventana, puede volver a abrirla.',
  reopenWindow: 'Reabrir ventana',
  showWindow: 'Mostrar ventana',
  cancelled: 'Inicio de sesión cancelado',
  connectedAs: (account) => `Conectado como ${account}`,
  connected: (provider) => `Conectado a ${provider}`,
  otherAccount: 'Usar otra cuenta',
  failed: 'Error al iniciar sesión',
  failures: {
    denied: 'No ha concedido acceso, así que no se ha conectado nada.',
    expired: 'El inicio de sesión ha tardado demasiado. Inténtelo de nuevo.',
    refused: 'El proveedor ha rechazado el inicio de sesión. Inténtelo de nuevo.',
    unreachable: 'El proveedor no responde. Inténtelo más tarde.',
    not_possible: 'No es posible iniciar sesión en este momento. Póngase en contacto con soporte.',
  },
  values: {
    'GitLab host': 'Servidor de GitLab',
    'Sign-in host': 'Servidor de inicio de sesión',
    'Intercom address': 'Dirección de Intercom',
    'Shop name': 'Nombre de la tienda',
    'Zendesk subdomain': 'Subdominio de Zendesk',
  },
  onlyTheName: 'Introduzca solo el nombre, por ejemplo «acme», con letras, cifras y guiones.',
  oneOfHosts: (hosts) => `Elija una de estas direcciones: ${hosts}.`,
  missingScopes: 'Faltan permisos',
  missingScopesText: 'Necesitamos estos permisos para leer sus datos. Vuelva a iniciar sesión y acéptelos todos:',
  grantAgain: 'Conceder permisos',
  unconfirmed: 'Ha usado otra cuenta',
  unconfirmedText: (account, before) =>
    `Ha iniciado sesión como ${account}, pero esta fuente está conectada como ${before}. Si continúa, se sincronizarán los datos de ${account}.`,
  unconfirmedUnknown:
    'Ha iniciado sesión con una cuenta distinta de la anterior. Si continúa, se sincronizarán los datos de la nueva cuenta.',
  confirm: 'Usar esta cuenta',
  endedTitle: 'Vuelva a iniciar sesión para continuar',
  endedText: (provider) =>
    `${provider} ya no acepta su inicio de sesión, por lo que la sincronización se ha detenido. La configuración y el historial se conservan.`,
  restored: 'Ha vuelto a iniciar sesión. La sincronización se reanudará automáticamente.',
};

export default es;
