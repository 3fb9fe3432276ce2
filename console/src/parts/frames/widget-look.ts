/**
 * Appearance of widgets in the console. The service does not know the theme, which belongs to the operator's own page. The
 * playground's settings stay in this browser and apply wherever the console shows a widget.
 */
import type { WidgetFragment, WidgetLocale, WidgetTheme } from '@inlay/contract/embedding';
import { read, savedScheme, write } from '../../scheme.ts';

export const languageNames: Record<WidgetLocale, string> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  ja: '日本語',
};

export interface WidgetLook {
  theme: WidgetTheme;
  /** Undefined: the widget takes the browser's language. */
  locale?: string | undefined;
}

const key = 'inlay-console-widget-look';

/** The playground's settings. */
export function chosenLook(): WidgetLook {
  const { theme, locale } = parsed(read(key));
  return {
    theme: typeof theme === 'object' && theme !== null ? theme : {},
    locale: typeof locale === 'string' ? locale : undefined,
  };
}

/** The appearance of widgets in the console. */
export function savedLook(): WidgetLook {
  const { theme, locale } = chosenLook();
  const scheme = savedScheme();
  return {
    // By default, the widget follows the console's color scheme.
    theme: { ...(scheme === 'system' ? {} : { color_scheme: scheme }), ...theme },
    locale,
  };
}

export function saveLook(look: WidgetLook): void {
  write(key, JSON.stringify(look));
}

/** The URL fragment of a widget, without the token. */
export function fragmentOf({ theme, locale, mode }: WidgetLook & Pick<WidgetFragment, 'mode'>): string {
  const wishes: WidgetFragment = {
    ...(mode ? { mode } : {}),
    renews: '1',
    ...(locale ? { locale } : {}),
    theme: JSON.stringify(theme),
  };
  return `&${new URLSearchParams(Object.entries(wishes))}`;
}

/** The widget validates the theme. */
function parsed(text: string | undefined): Partial<WidgetLook> {
  try {
    const look: unknown = JSON.parse(text ?? '{}');
    return typeof look === 'object' && look !== null ? look : {};
  } catch {
    return {};
  }
}
