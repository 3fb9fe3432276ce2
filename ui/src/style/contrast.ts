/** The contrast of colors as WCAG 2 defines it, for colors that are computed from a theme. */

/** sRGB, each channel from 0 to 1. */
export type Rgb = readonly [number, number, number];

/** The contrast that text needs. */
export const legible = 4.5;

export function contrast(a: Rgb, b: Rgb): number {
  const [darker = 0, lighter = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (lighter + 0.05) / (darker + 0.05);
}

export function isDark(color: Rgb): boolean {
  return contrast(color, white) > contrast(color, black);
}

const white: Rgb = [1, 1, 1];
const black: Rgb = [0, 0, 0];

/** White or black, whichever is easier to read on the color. One of them is always legible. */
export function textOn(color: Rgb): Rgb {
  return isDark(color) ? white : black;
}

/** The color itself, or the color mixed with just enough of the text's color to be legible on the background. */
export function legibleOn(color: Rgb, background: Rgb, text: Rgb): Rgb {
  for (let share = 0; share < 1; share += 0.05) {
    const mixed = mix(color, text, share);
    if (contrast(mixed, background) >= legible) return mixed;
  }
  return text;
}

export function cssOf([r, g, b]: Rgb): string {
  const byte = (channel: number) => Math.round(Math.min(1, Math.max(0, channel)) * 255);
  return `rgb(${byte(r)} ${byte(g)} ${byte(b)})`;
}

function mix(a: Rgb, b: Rgb, share: number): Rgb {
  return [0, 1, 2].map((i) => (a[i] ?? 0) * (1 - share) + (b[i] ?? 0) * share) as unknown as Rgb;
}

function luminance([r, g, b]: Rgb): number {
  const linear = (c: number) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}
