/**
 * How the widget looks for this customer: takes a theme from the address, keeps its valid parts, and turns them into
 * CSS variables. Values that the theme leaves out keep their defaults.
 *
 * Invariants: only values in the contract's formats reach a style, and text is legible for any chosen colors.
 */

import { colorSchemes, type WidgetTheme } from '@inlay/contract/embedding';
import { isCssColor } from '@inlay/contract/text/css-colors';
import { isFontFamily, isImageAddress } from '@inlay/contract/text/text-rules';
import { contrast, cssOf, isDark, legible, legibleOn, type Rgb, textOn } from '@inlay/ui/style/contrast.ts';

const maxRadius = 32;

/** The colors of style/tokens.css, for the colors that a theme leaves out. */
const designed: Record<Scheme, { background: Rgb; text: Rgb }> = {
  light: { background: hex(0xffffff), text: hex(0x171a21) },
  dark: { background: hex(0x14161c), text: hex(0xeceef3) },
};

type Scheme = 'light' | 'dark';

/** How a browser reads a CSS color; undefined when the browser does not know it. */
export type ColorReader = (color: string) => Rgb | undefined;

/** An invalid part doesn't affect the others. */
export function parseTheme(json: string | undefined): WidgetTheme {
  const given = parseObject(json);
  const theme: WidgetTheme = {};
  const scheme = colorSchemes.find((known) => known === given.color_scheme);
  if (scheme) theme.color_scheme = scheme;
  for (const key of ['primary_color', 'background_color', 'text_color'] as const) {
    const color = textOf(given[key], isCssColor);
    if (color) theme[key] = color;
  }
  const { radius } = given;
  if (typeof radius === 'number' && radius >= 0 && radius <= maxRadius) theme.radius = radius;
  const font = textOf(given.font_family, isFontFamily);
  if (font) theme.font_family = font;
  const logo = textOf(given.logo_url, isImageAddress);
  if (logo) theme.logo_url = logo;
  return theme;
}

/** The logo, if it may be loaded: the page's policy allows images of the origin that embeds the widget. */
export function logoOf({ logo_url }: WidgetTheme, allowedOrigin: string | undefined): string | undefined {
  return logo_url && new URL(logo_url).origin === allowedOrigin ? logo_url : undefined;
}

export interface Look {
  /** Undefined: the customer's own setting decides. */
  scheme: Scheme | undefined;
  /** The values by the name of the CSS variable. */
  variables: Record<string, string>;
}

export function lookOf(theme: WidgetTheme, read: ColorReader): Look {
  const background = theme.background_color ? read(theme.background_color) : undefined;
  const text = theme.text_color ? read(theme.text_color) : undefined;
  const primary = theme.primary_color ? read(theme.primary_color) : undefined;
  const scheme = schemeOf(theme, background, text);
  const variables: Record<string, string> = {};

  const paletteOf = (of: Scheme) => {
    const behind = background ?? designed[of].background;
    const written = text && contrast(text, behind) >= legible ? text : designed[of].text;
    return { background: behind, text: contrast(written, behind) >= legible ? written : textOn(behind) };
  };
  const [light, dark] = [paletteOf('light'), paletteOf('dark')];
  if (background) variables['--inlay-background'] = cssOf(background);
  if (background || text) variables['--inlay-text'] = lightDark(light.text, dark.text);
  if (primary) {
    variables['--inlay-primary'] = cssOf(primary);
    variables['--inlay-on-primary'] = cssOf(textOn(primary));
    variables['--inlay-link'] = lightDark(
      legibleOn(primary, light.background, light.text),
      legibleOn(primary, dark.background, dark.text),
    );
  }
  if (theme.radius !== undefined) variables['--inlay-radius'] = `${theme.radius}px`;
  if (theme.font_family) variables['--inlay-font'] = theme.font_family;
  return { scheme, variables };
}

/**
 * A background color decides first, because it is the same in both schemes; then a text color; then the wished
 * scheme.
 */
function schemeOf(theme: WidgetTheme, background?: Rgb, text?: Rgb): Scheme | undefined {
  if (background) return isDark(background) ? 'dark' : 'light';
  if (theme.color_scheme === 'light' || theme.color_scheme === 'dark') return theme.color_scheme;
  if (text) return isDark(text) ? 'light' : 'dark';
  return undefined;
}

export function applyLook({ scheme, variables }: Look, root: HTMLElement): void {
  if (scheme) root.dataset.scheme = scheme;
  for (const [name, value] of Object.entries(variables)) root.style.setProperty(name, value);
}

/** Any CSS color in sRGB: a mixture is computed in the space it names, whatever its parts were written in. */
export function readCssColor(color: string): Rgb | undefined {
  if (!CSS.supports('color', color)) return undefined;
  const probe = document.createElement('span');
  probe.style.color = `color-mix(in srgb, ${color} 100%, ${color})`;
  document.body.append(probe);
  const computed = getComputedStyle(probe).color;
  probe.remove();
  const channels = /^color\(srgb ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)/.exec(computed)?.slice(1).map(Number);
  return channels && (channels as unknown as Rgb);
}

function lightDark(light: Rgb, dark: Rgb): string {
  return `light-dark(${cssOf(light)}, ${cssOf(dark)})`;
}

function textOf(value: unknown, isValid: (text: string) => boolean): string | undefined {
  return typeof value === 'string' && isValid(value) ? value : undefined;
}

function parseObject(json: string | undefined): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(json ?? '{}');
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {};
  } catch {
    // The address holds a text that is no theme: the widget keeps its default look.
    return {};
  }
}

function hex(color: number): Rgb {
  return [(color >> 16) / 255, ((color >> 8) & 255) / 255, (color & 255) / 255];
}
