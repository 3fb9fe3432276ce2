/* Distinguishes JSON that was truncated in transit, which is worth a retry, from text that was never JSON. */

/** Whether a text begins as an object or a list and ends before that is closed. For a text that is not valid JSON. */
export function isCutOffJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (isInString && character === '\\') at++;
    else if (character === '"') isInString = !isInString;
    else if (isInString) continue;
    else if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') depth--;
  }
  return isInString || depth > 0;
}
