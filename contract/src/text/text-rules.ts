/**
 * Text rules that the widget applies itself, separate from the format table, so that customers' browsers do not load
 * the other formats.
 */

const maxCodePoints = 255;
const fontFamily = /^[\p{L}\p{N} ,_'"-]+$/u;
const control = /\p{Cc}/u;
const bidiControl = /\p{Bidi_Control}/u;
const visible = /[^\p{White_Space}\p{Cf}]/u;

export function shortTextFault(what: string, text: string): string | undefined {
  if (!text.isWellFormed()) return `${what} must be valid Unicode without lone surrogates`;
  if (control.test(text)) return `${what} must not contain control characters`;
  if (bidiControl.test(text)) return `${what} must not contain bidirectional control characters`;
  if (!visible.test(text)) return `${what} must not be blank`;
  // Count code points only when the string could be too long: it never has more code points than UTF-16 units.
  if (text.length > maxCodePoints && [...text].length > maxCodePoints) {
    return `${what} must have at most ${maxCodePoints} characters`;
  }
  return undefined;
}

export function isFontFamily(text: string): boolean {
  return fontFamily.test(text);
}

export function isImageAddress(text: string): boolean {
  return /^https?:$/.test(URL.canParse(text) ? new URL(text).protocol : '');
}
