/** The texts shown before the widget itself has loaded, in all its languages. */
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
    failed: 'We couldn’t load your data sources.',
    retry: 'Try again',
    close: 'Close',
  },
  de: {
    title: 'Daten verbinden',
    loading: 'Wird geladen …',
    failed: 'Ihre Datenquellen konnten nicht geladen werden.',
    retry: 'Erneut versuchen',
    close: 'Schließen',
  },
  fr: {
    title: 'Connecter vos données',
    loading: 'Chargement…',
    failed: 'Impossible de charger vos sources de données.',
    retry: 'Réessayer',
    close: 'Fermer',
  },
  es: {
    title: 'Conectar sus datos',
    loading: 'Cargando…',
    failed: 'No hemos podido cargar sus fuentes de datos.',
    retry: 'Reintentar',
    close: 'Cerrar',
  },
  ja: {
    title: 'データを接続',
    loading: '読み込み中…',
    failed: 'データソースを読み込めませんでした。',
    retry: '再試行',
    close: '閉じる',
  },
};

/** The first supported language; `de-AT` gets German. */
export function chooseWords(asked: readonly string[]): Words {
  for (const tag of asked) {
    const language = tag.toLowerCase().split('-')[0] as WidgetLocale;
    if (Object.hasOwn(languages, language)) return languages[language];
  }
  return languages.en;
}
