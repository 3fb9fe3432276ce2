/**
 * How widgets look in the console. A theme belongs to the operator's own page and is not known to the service; the
 * playground's choice stays in this browser and counts wherever the console shows a widget.
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

/** What was chosen in the playground. */
export function chosenLook(): WidgetLook {
  const { theme, locale } = parsed(read(key));
  return {
    theme: typeof theme === 'object' && theme !== null ? theme : {},
    locale: typeof locale === 'string' ? locale : undefined,
  };
}

/** How a widget is shown here. */
export function savedLook(): WidgetLook {
  const { theme, locale } = chosenLook();
  const scheme = savedScheme();
  return {
    // Where nothing was chosen, the widget is as light or dark as the console around it.
    theme: { ...(scheme === 'system' ? {} : { color_scheme: scheme }), ...theme },
    locale,
  };
}

export function saveLook(look: WidgetLook): void {
  write(key, JSON.stringify(look));
}

/** What a widget's address says after the token. The token itself is not in it. */
export function fragmentOf({ theme, locale, mode }: WidgetLook & Pick<WidgetFragment, 'mode'>): string {
  const wishes: WidgetFragment = {
    ...(mode ? { mode } : {}),
    renews: '1',
    ...(locale ? { locale } : {}),
    theme: JSON.stringify(theme),
  };
  return `&${new URLSearchParams(Object.entries(wishes))}`;
}

/** The widget checks a theme part by part, so nothing is checked here. */
function parsed(text: string | undefined): Partial<WidgetLook> {
  try {
    const look: unknown = JSON.parse(text ?? '{}');
    return typeof look === 'object' && look !== null ? look : {};
  } catch {
    return {};
  }
}
