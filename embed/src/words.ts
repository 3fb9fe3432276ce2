/** The few texts that are shown while the widget itself is not loaded, in all its languages. */
import type { WidgetLocale } from '@inlay/contract/embedding';

export interface Words {
  title: string;
  loading: string;
  failed: string;
  retry: string;
  close: string;
}

const languages: Record<WidgetLocale, Words> = {
  en: {
    title: 'Connect your data',
    loading: 'Loading…',
    failed: 'This could not be loaded.',
    retry: 'Try again',
    close: 'Close',
  },
  de: {
    title: 'Ihre Daten verbinden',
    loading: 'Wird geladen…',
    failed: 'Das konnte nicht geladen werden.',
    retry: 'Erneut versuchen',
    close: 'Schließen',
  },
  fr: {
    title: 'Connecter vos données',
    loading: 'Chargement…',
    failed: 'Le chargement a échoué.',
    retry: 'Réessayer',
    close: 'Fermer',
  },
  es: {
    title: 'Conectar sus datos',
    loading: 'Cargando…',
    failed: 'No se ha podido cargar.',
    retry: 'Intentar de nuevo',
    close: 'Cerrar',
  },
  ja: {
    title: 'データを接続',
    loading: '読み込んでいます…',
    failed: '読み込めませんでした。',
    retry: 'もう一度試す',
    close: '閉じる',
  },
};

/** The first language that we have: `de-AT` gets German. */
export function chooseWords(asked: readonly string[]): Words {
  for (const tag of asked) {
    const language = tag.toLowerCase().split('-')[0] as WidgetLocale;
    if (Object.hasOwn(languages, language)) return languages[language];
  }
  return languages.en;
}
