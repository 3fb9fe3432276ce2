/**
 * Texts of connection templates in which a few words in braces stand for something known only when a connection is made.
 * Any other word in braces is a mistake and is refused, rather than ending up in the name of a table.
 */

export const placeholderNames = ['workspace_id', 'workspace_name', 'source_slug'] as const;
export type Placeholders = Record<(typeof placeholderNames)[number], string>;

const placeholder = /\{([^{}]*)\}/g;

/** One sentence that says what is accepted, or undefined. */
export function placeholderFault(text: string): string | undefined {
  if (/[{}]/.test(text.replace(placeholder, ''))) return 'braces must enclose a placeholder';
  const unknown = [...text.matchAll(placeholder)].find(([, name]) => !isKnown(name));
  if (!unknown) return undefined;
  return `use only the placeholders ${placeholderNames.map((name) => `{${name}}`).join(', ')}`;
}

export function fillPlaceholders(text: string, values: Placeholders): string {
  return text.replace(placeholder, (whole, name: string) => (isKnown(name) ? values[name] : whole));
}

function isKnown(name: string | undefined): name is keyof Placeholders {
  return (placeholderNames as readonly (string | undefined)[]).includes(name);
}
