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
  nothingNew: 'Sin datos nuevos',

  choose: {
    title: 'Conectar una fuente',
    lead: 'Elija el origen de sus datos.',
    offers: 'Fuentes disponibles',
    search: 'Buscar fuentes',
    found: (count, number) => (count === 1 ? '1 fuente encontrada' : `${number} fuentes encontradas`),
    nothingFound: (text) => `No hay fuentes que coincidan con «${text}».`,
    showAll: 'Borrar la búsqueda',
    connected: (count, number) => `${number} ${count === 1 ? 'conectada' : 'conectadas'}`,
    yourSources: (_count, number) => `Sus fuentes (${number})`,
  },

  empty: {
    title: 'Aún no hay fuentes disponibles',
    text: 'Las fuentes que pueda conectar aparecerán aquí.',
  },

  connect: {
    title: (template) => `Conectar ${template}`,
    guide: 'Guía de configuración',
    submit: 'Probar y conectar',
  },

  name: {
    label: 'Nombre',
    hint: 'Se muestra en su lista de fuentes.',
    missing: 'Introduzca un nombre.',
    unusable: 'Use 255 caracteres como máximo, sin caracteres de control.',
  },

  steps: {
    label: 'Progreso',
    checking: 'Probando la conexión…',
    checked: 'Conexión probada',
    connect: 'Conectar',
    connecting: 'Conectando…',
    connected: 'Fuente conectada',
    save: 'Guardar',
    saving: 'Guardando…',
    firstSync: 'Primera sincronización',
    done: 'hecho',
    failed: 'error',
    patience: 'Suele tardar uno o dos minutos.',
  },

  problemOnOurSide: 'Hay un problema por nuestra parte. Ya nos estamos ocupando; no tiene que hacer nada.',
  signInEnded: 'Sesión no válida. Vuelva a iniciar sesión.',

  check: {
    warnings: 'Prueba superada con advertencias',
    oneRecord: (stream) =>
      `${stream}: la API devuelve un solo objeto en lugar de una lista, por lo que solo se sincroniza una fila. Si espera más, compruebe la ruta.`,
    oneRecordOfList: (stream, path) =>
      `${stream}: la API devuelve un solo objeto en lugar de una lista, por lo que solo se sincroniza una fila. Es probable que la lista esté en «${path}». Introdúzcalo como ruta de los registros.`,
    failed: 'La prueba de conexión ha fallado',
    noReason: 'La fuente no ha indicado el motivo.',
    next: 'Revise sus datos y vuelva a intentarlo.',
    cancelled: 'Prueba cancelada. No se ha guardado nada.',
    unconfirmed: 'No hemos podido confirmar la conexión',
    unconfirmedText:
      'La respuesta se ha perdido. Antes de volver a intentarlo, revise sus fuentes para no conectar la misma dos veces.',
  },

  discard: {
    title: '¿Descartar los cambios?',
    text: 'Los cambios no se han guardado.',
    confirm: 'Descartar',
    keep: 'Seguir editando',
  },

  connected: {
    title: (name) => `La fuente ${name} está conectada`,
    pendingTitle: (name) => `Conectando ${name}`,
    failedTitle: (name) => `No se ha podido conectar ${name}`,
    waiting: 'Iniciando…',
    syncing: (rows) => `${rows} hasta ahora`,
    synced: (rows) => `${rows} en total`,
    syncedWithoutCount: 'Completada',
    syncFailed: 'Fallida',
    syncCancelled: 'Cancelada',
    paused: 'En pausa',
    atNextRun: (when) => `Comienza ${when}`,
    byHand: 'Aún no se ha iniciado',
    unknown: 'Estado no disponible',
    leave: 'Puede salir de esta página. La sincronización continúa en segundo plano.',
    nothingSynced: 'Todo listo. Todavía no se sincronizan datos de esta fuente.',
    done: 'Listo',
    another: 'Conectar otra fuente',
    openSettings: 'Revisar la configuración',
  },

  list: {
    title: 'Sus fuentes',
    add: 'Añadir fuente',
    lastSync: (when) => `Última sincronización ${when}`,
    nextSync: (when) => `Próxima ${when}`,
    notSynced: 'Aún sin sincronizar',
    statusUnknown: 'El estado de sincronización no está disponible en este momento. Sus fuentes no se ven afectadas.',
  },

  states: {
    pending: 'Configurando',
    failed: 'Requiere atención',
    syncing: 'Sincronizando',
    sync_failed: 'Error',
    paused: 'En pausa',
    ready: 'Conectada',
  },

  source: {
    parts: 'Detalles de la fuente',
    activity: 'Actividad',
    settings: 'Configuración',
    failed: 'Esta fuente requiere su atención',
    failedWithoutReason: 'La configuración ha fallado. Revísela y vuelva a guardarla.',
    reviewSettings: 'Revisar la configuración',
    pending: 'Esta fuente se está configurando. Puede salir de esta página.',
    nothingSynced: 'Esta fuente está conectada. Todavía no se sincronizan datos.',
    syncTo: (destination) => `Sincronización con ${destination}`,
    syncNow: 'Sincronizar ahora',
    syncing: 'Sincronizando…',
    syncStarted: 'Sincronización iniciada',
    cancelSync: 'Cancelar sincronización',
    syncCancelled: 'Sincronización cancelada',
    failingFor: (duration) => `Falla desde hace ${duration}`,
    tryingAgain: (failing) => `${failing}, reintentando`,
    failing: 'La sincronización falla',
    paused: 'La sincronización está en pausa hasta que su cuenta vuelva a estar activa.',
    pausedByTeam: 'La sincronización está en pausa.',
    notReady:
      'Esta conexión acaba de cambiar y no se ha podido iniciar la sincronización. Inténtelo de nuevo en un momento.',
    history: 'Historial',
    changes: {
      title: (count, number) =>
        `${number} ${count === 1 ? 'valor modificado' : 'valores modificados'} durante la sincronización`,
      skipped: (count, number) => `${rows(count, number)} ${count === 1 ? 'omitida' : 'omitidas'}: más de 20 MB`,
      notReplaced: 'La fuente no confirmó que se leyeran todas las filas. Se conservan las filas anteriores.',
      nulled: (count, number, field) =>
        `${field}: no se ${count === 1 ? 'pudo' : 'pudieron'} guardar ${number} ${count === 1 ? 'valor' : 'valores'}`,
      shortened: (count, number, field) =>
        `${field}: ${number} ${count === 1 ? 'valor acortado' : 'valores acortados'}`,
      not_a_number: (count, number, field) =>
        `${field}: ${number} ${count === 1 ? 'valor no numérico quedó vacío' : 'valores no numéricos quedaron vacíos'}`,
      left_out: (count, number, field) =>
        `${field}: ${number} ${count === 1 ? 'valor omitido' : 'valores omitidos'} porque el destino no tiene esa columna`,
      more: (count, number) => `y ${number} ${count === 1 ? 'campo' : 'campos'} más`,
    },
    quietRuns: (_count, number) => `${number} sincronizaciones sin datos nuevos`,
    noHistory: 'Aún no hay sincronizaciones.',
    showMore: 'Mostrar más',
    save: 'Probar y guardar',
    rename: 'Guardar el nombre',
    saved: 'Cambios guardados',
    notOffered: 'No puede cambiar esta configuración ahora mismo, pero sí renombrar o desconectar la fuente.',
    goneTitle: 'Esta fuente ya no existe',
    goneText: 'Es posible que la fuente se haya desconectado en otra ventana.',
  },

  choice: {
    open: 'Datos y frecuencia',
    often: 'Frecuencia de sincronización',
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
    byHand: 'Manual',
    asNow: 'Mantener la frecuencia actual',
    streams: 'Datos para sincronizar',
    save: 'Guardar',
    soon: 'La nueva configuración se aplicará en un momento.',
  },

  jobs: {
    pending: 'En espera',
    running: 'En curso',
    incomplete: 'Reintentando',
    failed: 'Fallida',
    succeeded: 'Completada',
    cancelled: 'Cancelada',
  },

  disconnect: {
    heading: 'Desconectar fuente',
    text: 'La sincronización se detiene y se eliminan sus credenciales guardadas. Los datos ya sincronizados se conservan.',
    open: 'Desconectar',
    title: (name) => `¿Desconectar ${name}?`,
    confirm: 'Desconectar',
    confirming: 'Desconectando…',
    done: (name) => `Fuente ${name} desconectada`,
  },

  failures: {
    offline: {
      title: 'Sin conexión',
      text: 'Compruebe su conexión a Internet. Nos reconectaremos automáticamente.',
    },
    unreachable: {
      title: 'Sin respuesta',
      text: 'Se ha agotado el tiempo de espera. Compruebe su conexión y vuelva a intentarlo.',
    },
    access_denied: {
      title: 'No tiene acceso',
      text: 'Es posible que su acceso haya cambiado. Recargue la página o póngase en contacto con soporte.',
    },
    only_view: { title: 'Solo lectura', text: 'Aquí no puede cambiar nada y los enlaces no se abren.' },
    not_found: {
      title: 'Ya no está disponible',
      text: 'Lo que ha seleccionado ya no existe. Vuelva atrás y elija de nuevo.',
    },
    conflict: {
      title: 'No ha funcionado',
      text: 'Algo ha cambiado mientras tanto. Inténtelo de nuevo en un momento.',
    },
    limit_reached: {
      title: 'Límite alcanzado',
      text: 'Elimine lo que no necesite o pida a soporte que aumente el límite.',
    },
    invalid: {
      title: 'Algunos datos no son válidos',
      text: 'Corrija los campos marcados y vuelva a intentarlo.',
    },
    rate_limited: { title: 'Demasiadas solicitudes', text: 'Espere un momento y vuelva a intentarlo.' },
    unavailable: {
      title: 'Se ha producido un error',
      text: 'El problema es nuestro. Vuelva a intentarlo en unos minutos.',
    },
  },
  checkFields: (fields) => `No ha funcionado. Revise: ${fields}.`,
  reasons: {
    sign_in_lost: 'Hemos perdido su inicio de sesión. Vuelva a iniciar sesión.',
    not_reported:
      'No se ha indicado el motivo. Inténtelo de nuevo o, si sigue fallando, póngase en contacto con soporte.',
    platform_not_ready: 'La configuración tarda más de lo habitual. Terminará automáticamente.',
    rejected_by_platform: 'Se ha rechazado esta configuración. Revísela y vuelva a intentarlo.',
    source_lost: 'Esta fuente ya no existe. Desconéctela y vuelva a conectarla.',
    connection_lost: 'Esta conexión ya no existe. Desconecte la fuente y vuelva a conectarla.',
    no_streams: 'Esta fuente no tiene datos que sincronizar. Añada datos y vuelva a intentarlo.',
    chosen_streams_gone: 'Los datos seleccionados ya no están en esta fuente. Seleccione otros.',
    check_interrupted: 'La prueba se ha interrumpido. Vuelva a intentarlo.',
    check_not_run: 'No se ha podido realizar la prueba. Inténtelo más tarde.',
  },
  quotas: {
    reached: (what, next) => `Ha alcanzado el límite de ${what}. ${next}`,
    things: {
      sources: (count, amount) => `${amount} ${count === 1 ? 'fuente' : 'fuentes'}`,
      connections: (count, amount) => `${amount} ${count === 1 ? 'conexión' : 'conexiones'}`,
      concurrent_syncs: (count, amount) =>
        `${amount} ${count === 1 ? 'sincronización simultánea' : 'sincronizaciones simultáneas'}`,
      rows_per_day: (count, amount) => `${rows(count, amount)} al día`,
      rows_per_month: (count, amount) => `${rows(count, amount)} al mes`,
      bytes_per_day: (_count, amount) => `${amount} al día`,
      bytes_per_month: (_count, amount) => `${amount} al mes`,
    },
    no_room: 'Desconecte una fuente que no necesite o pida a soporte que aumente el límite.',
    too_many: 'Vuelva a intentarlo cuando termine una de ellas.',
    waits: 'Esta sincronización comenzará cuando termine otra.',
    resumes: (time) => `La sincronización se reanudará el ${time}.`,
    nextSync: (time) => `La próxima sincronización de esta conexión puede comenzar el ${time}.`,
  },
  retryIn: (duration) => `Vuelva a intentarlo en ${duration}.`,

  offlineBanner: 'Sin conexión. Nos reconectaremos automáticamente.',
  stale: 'No se ha podido actualizar la página. Es posible que la información no esté al día.',

  expired: {
    title: 'Su sesión ha caducado',
    renewing: 'Renovando su sesión. No se pierde nada de lo que ha introducido.',
    reload: 'Recargue la página o vuelva a abrirla desde la aplicación.',
  },
} satisfies Words;
