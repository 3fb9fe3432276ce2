import form from '@inlay/ui/form/words/es.ts';
import type { Words } from './en.ts';

const rows = (count: number, number: string) => `${number} ${count === 1 ? 'fila' : 'filas'}`;

export default {
  language: 'es',
  form,

  loading: 'Cargando…',
  back: 'Atrás',
  cancel: 'Cancelar',
  tryAgain: 'Reintentar',
  opensInNewTab: '(se abre en una pestaña nueva)',
  rows,
  nothingNew: 'Sin novedades',

  choose: {
    title: 'Conectar una fuente',
    lead: 'Elija de dónde proceden sus datos.',
    offers: 'Fuentes disponibles',
    search: 'Buscar fuentes',
    found: (count, number) => (count === 1 ? '1 fuente encontrada' : `${number} fuentes encontradas`),
    nothingFound: (text) => `Ninguna fuente coincide con «${text}».`,
    showAll: 'Mostrar todas las fuentes',
    connected: (count, number) => `${number} ${count === 1 ? 'conectada' : 'conectadas'}`,
    yourSources: (_count, number) => `Sus fuentes (${number})`,
  },

  empty: {
    title: 'Todavía no hay nada que conectar',
    text: 'En este momento no hay fuentes que pueda conectar. En cuanto las haya, las encontrará aquí.',
  },

  connect: {
    title: (template) => `Conectar ${template}`,
    guide: 'Guía de configuración',
    submit: 'Probar y conectar',
  },

  name: {
    label: 'Nombre',
    hint: 'Así aparecerá esta fuente en su lista.',
    missing: 'Introduzca un nombre.',
    unusable: 'Utilice como máximo 255 caracteres, sin caracteres de control.',
  },

  steps: {
    label: 'Progreso',
    checking: 'Comprobando sus datos…',
    checked: 'Datos comprobados',
    connect: 'Conectar',
    connecting: 'Conectando…',
    connected: 'Fuente conectada',
    save: 'Guardar',
    saving: 'Guardando…',
    firstSync: 'Primera sincronización',
    done: 'hecho',
    failed: 'error',
    patience: 'Puede tardar uno o dos minutos.',
  },

  problemOnOurSide: 'Hay un problema por nuestra parte y nuestro equipo puede verlo. No tiene que cambiar nada.',
  signInEnded: 'La sesión ha caducado. Vuelva a iniciar sesión.',

  check: {
    warnings: 'Comprobado, pero hay algo que debe saber',
    oneRecord: (stream) =>
      `${stream}: la API responde con un solo objeto y no con una lista, por lo que solo llega una fila. Si debería haber más, compruebe la ruta.`,
    oneRecordOfList: (stream, path) =>
      `${stream}: la API responde con un solo objeto y no con una lista, por lo que solo llega una fila. La lista está probablemente en «${path}»: indíquelo como ruta de los registros.`,
    failed: 'La comprobación ha detectado un problema',
    noReason: 'La fuente no ha indicado el motivo. Revise sus datos y vuelva a intentarlo.',
    cancelled: 'Comprobación cancelada. No se ha guardado nada.',
    unconfirmed: 'No hemos podido confirmar la conexión',
    unconfirmedText:
      'La respuesta se ha perdido por el camino. Consulte sus fuentes antes de volver a intentarlo, para no conectar nada dos veces.',
  },

  discard: {
    title: '¿Descartar lo introducido?',
    text: 'Lo que ha introducido no se ha guardado.',
    confirm: 'Descartar',
    keep: 'Seguir editando',
  },

  connected: {
    title: (name) => `${name}: fuente conectada`,
    pendingTitle: (name) => `${name}: conectando`,
    failedTitle: (name) => `${name}: no se ha podido conectar`,
    waiting: 'Iniciando…',
    syncing: (rows) => `${rows} hasta ahora`,
    synced: (rows) => `${rows} en total`,
    syncedWithoutCount: 'Completada',
    syncFailed: 'Error',
    syncCancelled: 'Cancelada',
    paused: 'En pausa',
    atNextRun: (when) => `Comienza ${when}`,
    byHand: 'Aún no se ha iniciado',
    unknown: 'Se desconoce por el momento',
    leave: 'No tiene que esperar: todo continúa automáticamente.',
    nothingSynced: 'Su fuente está conectada. Todavía no se sincronizan datos de ella y no tiene que hacer nada más.',
    done: 'Listo',
    another: 'Conectar otra fuente',
    openSettings: 'Revisar la configuración',
  },

  list: {
    title: 'Sus fuentes',
    add: 'Añadir una fuente',
    lastSync: (when) => `Última sincronización ${when}`,
    nextSync: (when) => `Próxima ${when}`,
    notSynced: 'Sin sincronizar todavía',
    statusUnknown:
      'El estado de la sincronización no está disponible en este momento. Sus fuentes no se ven afectadas.',
  },

  states: {
    pending: 'Configurando',
    failed: 'Requiere atención',
    syncing: 'Sincronizando',
    sync_failed: 'Último intento fallido',
    paused: 'En pausa',
    ready: 'Conectada',
  },

  source: {
    parts: 'Secciones de esta fuente',
    activity: 'Actividad',
    settings: 'Configuración',
    failed: 'Esta fuente requiere su atención',
    failedWithoutReason: 'No se ha podido configurar. Revise la configuración y guárdela de nuevo.',
    reviewSettings: 'Revisar la configuración',
    pending: 'Esta fuente se está configurando. El proceso continúa automáticamente.',
    nothingSynced: 'Esta fuente está conectada. Todavía no se sincronizan datos de ella.',
    syncTo: (destination) => `Sincronización con ${destination}`,
    syncNow: 'Sincronizar ahora',
    syncing: 'Sincronizando…',
    syncStarted: 'Sincronización iniciada',
    cancelSync: 'Cancelar sincronización',
    syncCancelled: 'Sincronización cancelada',
    failingSince: (when) => `Falla desde el ${when}`,
    tryingAgain: (failing) => `${failing}; se intenta de nuevo`,
    failing: 'La sincronización falla',
    paused: 'La sincronización está en pausa. Continuará cuando su cuenta vuelva a estar activa.',
    pausedByTeam: 'La sincronización está en pausa.',
    notReady:
      'No se ha podido iniciar la sincronización porque algo acaba de cambiar en esta conexión. Vuelva a intentarlo en un momento.',
    history: 'Historial',
    changes: {
      title: (count, number) => `${number} ${count === 1 ? 'valor no llegó' : 'valores no llegaron'} sin cambios`,
      skipped: (count, number) =>
        `${number} ${count === 1 ? 'fila omitida: demasiado grande para transferirla' : 'filas omitidas: demasiado grandes para transferirlas'} (20 MB)`,
      notReplaced: 'La fuente no indicó si se había leído hasta el final. Se conservan las filas anteriores.',
      nulled: (count, number, field) =>
        `${number} ${count === 1 ? 'valor' : 'valores'} del campo ${field} no se ${count === 1 ? 'pudo' : 'pudieron'} conservar`,
      shortened: (count, number, field) =>
        `${number} ${count === 1 ? 'valor' : 'valores'} del campo ${field} se ${count === 1 ? 'tuvo' : 'tuvieron'} que acortar`,
      not_a_number: (count, number, field) =>
        `${number} ${count === 1 ? 'valor' : 'valores'} del campo ${field} no ${count === 1 ? 'era' : 'eran'} un número y ${count === 1 ? 'quedó vacío' : 'quedaron vacíos'}`,
      left_out: (count, number, field) =>
        `${number} ${count === 1 ? 'valor' : 'valores'} del campo ${field} no ${count === 1 ? 'tiene' : 'tienen'} lugar en el destino`,
      more: (count, number) => `y ${number} ${count === 1 ? 'campo' : 'campos'} más`,
    },
    quietRuns: (_count, number) => `${number} sincronizaciones sin datos nuevos`,
    noHistory: 'Todavía no se ha sincronizado nada.',
    showMore: 'Mostrar más',
    save: 'Probar y guardar',
    rename: 'Guardar el nombre',
    saved: 'Sus cambios se han guardado',
    notOffered:
      'Los datos de esta fuente no se pueden modificar en este momento. Aun así, puede cambiarle el nombre o desconectarla.',
    goneTitle: 'Esta fuente ya no existe',
    goneText: 'Se ha desconectado, quizá en otra ventana.',
  },

  choice: {
    open: 'Datos y frecuencia',
    often: 'Frecuencia',
    every: (minutes) =>
      minutes < 60
        ? `Cada ${minutes} minutos`
        : minutes === 60
          ? 'Cada hora'
          : minutes < 1_440
            ? `Cada ${minutes / 60} horas`
            : minutes === 1_440
              ? 'Cada día'
              : 'Cada semana',
    byHand: 'Solo cuando yo la inicie',
    asNow: 'Como ahora',
    streams: 'Qué se sincroniza',
    save: 'Guardar',
    soon: 'Se aplican en un momento.',
  },

  jobs: {
    pending: 'En espera',
    running: 'En curso',
    incomplete: 'Nuevo intento',
    failed: 'Error',
    succeeded: 'Completada',
    cancelled: 'Cancelada',
  },

  disconnect: {
    heading: 'Desconectar esta fuente',
    text: 'La sincronización se detiene y sus datos de acceso se eliminan. Los datos ya entregados permanecen donde están.',
    open: 'Desconectar',
    title: (name) => `¿Desconectar ${name}?`,
    confirm: 'Desconectar',
    confirming: 'Desconectando…',
    done: (name) => `${name}: fuente desconectada`,
  },

  failures: {
    offline: {
      title: 'No tiene conexión',
      text: 'Compruebe su conexión a Internet. Continuaremos en cuanto vuelva a estar en línea.',
    },
    unreachable: {
      title: 'Sin respuesta',
      text: 'El servicio no ha respondido a tiempo. Compruebe su conexión y vuelva a intentarlo.',
    },
    access_denied: {
      title: 'No tiene acceso',
      text: 'Es posible que su acceso haya cambiado. Recargue la página o póngase en contacto con el soporte de este producto.',
    },
    only_view: { title: 'Esto es una vista', text: 'Aquí no se puede cambiar nada, y los enlaces no se abren.' },
    not_found: {
      title: 'Ya no está disponible',
      text: 'Lo que buscaba ya no existe. Vuelva atrás y elija de nuevo.',
    },
    conflict: {
      title: 'Ahora mismo no es posible',
      text: 'Algo ha cambiado mientras tanto. Vuelva a intentarlo en un momento.',
    },
    limit_reached: {
      title: 'Se ha alcanzado un límite',
      text: 'Elimine lo que no necesite o pida un límite mayor al soporte de este producto.',
    },
    invalid: {
      title: 'Algunos datos no se aceptan',
      text: 'Corrija los campos marcados y vuelva a intentarlo.',
    },
    rate_limited: { title: 'Demasiadas solicitudes', text: 'Espere un momento y vuelva a intentarlo.' },
    unavailable: {
      title: 'Algo ha salido mal',
      text: 'No es culpa suya. Vuelva a intentarlo dentro de unos minutos.',
    },
  },
  lookAt: (fields) => `No ha funcionado con los datos introducidos. Revise: ${fields}.`,
  reasons: {
    sign_in_lost: 'Se ha perdido su sesión. Vuelva a iniciar sesión.',
    platform_not_ready: 'La configuración tarda más de lo habitual. Continúa automáticamente.',
    rejected_by_platform: 'No se han aceptado estos ajustes. Revíselos e inténtelo de nuevo.',
    source_lost: 'Esta fuente ya no existe. Desconéctela y vuelva a conectarla.',
    connection_lost: 'Esta conexión ya no existe. Desconecte la fuente y vuelva a conectarla.',
    no_streams: 'Esta fuente no tiene datos que sincronizar.',
    chosen_streams_gone: 'Los datos elegidos ya no están en esta fuente. Elija de nuevo.',
    check_interrupted: 'La comprobación se ha interrumpido. Inténtelo de nuevo.',
    check_not_run: 'No se ha podido realizar la comprobación. Inténtelo más tarde.',
  },
  quotas: {
    reached: (what) => `Se ha alcanzado el límite de ${what}.`,
    things: {
      sources: (count, amount) => `${amount} ${count === 1 ? 'fuente' : 'fuentes'}`,
      connections: (count, amount) => `${amount} ${count === 1 ? 'conexión' : 'conexiones'}`,
      concurrent_syncs: (count, amount) =>
        `${amount} ${count === 1 ? 'sincronización simultánea' : 'sincronizaciones simultáneas'}`,
      rows_per_day: (count, amount) => `${amount} ${count === 1 ? 'fila' : 'filas'} por día`,
      rows_per_month: (count, amount) => `${amount} ${count === 1 ? 'fila' : 'filas'} por mes`,
      bytes_per_day: (_count, amount) => `${amount} por día`,
      bytes_per_month: (_count, amount) => `${amount} por mes`,
    },
    no_room: 'Elimine una fuente que no necesite o pida un límite mayor.',
    too_many: 'Inténtelo de nuevo cuando termine una.',
    waits: 'La sincronización empieza automáticamente cuando termina otra.',
    goesOn: (time) => `La sincronización continúa automáticamente el ${time}.`,
    nextSync: (time) => `La próxima sincronización de esta conexión puede empezar el ${time}.`,
  },
  retryIn: (duration) => `Podrá volver a intentarlo en ${duration}.`,

  offlineBanner: 'No tiene conexión. Continuaremos en cuanto vuelva a estar en línea.',
  stale: 'Esta vista no se puede actualizar en este momento. Es posible que no esté al día.',

  expired: {
    title: 'Su sesión ha caducado',
    renewing: 'Un momento: se está renovando. No se pierde nada de lo que ha introducido.',
    reload: 'Recargue esta página para continuar.',
  },
} satisfies Words;
