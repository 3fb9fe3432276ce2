/** Finds the field that a connector's message is about, so that "Invalid API key" can be shown beside the API key. */
import type { JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import type { Path } from './configuration.ts';
import { type Field, readSpecification, titleFromKey } from './fields.ts';
import type { FieldFault } from './validation.ts';

/**
 * Looks for titles and keys as whole words; the longest name wins. Undefined: the message names no field, or several.
 */
export function faultNamedBy(message: string, specification: JsonSchema): FieldFault | undefined {
  const text = plain(message);
  const found = new Map<string, { path: Path; length: number }>();
  for (const { path, names } of namedFields(readSpecification(specification), [])) {
    for (const name of names) {
      const known = found.get(JSON.stringify(path));
      if (name.length <= (known?.length ?? 0) || !text.includes(` ${name} `)) continue;
      found.set(JSON.stringify(path), { path, length: name.length });
    }
  }
  const [first, second] = [...found.values()].sort((a, b) => b.length - a.length);
  return first && first.length !== second?.length ? { path: first.path, message } : undefined;
}

/** Only words, in small letters, each with a blank on both sides. `api_key` is two words, and so are `apiKey`s. */
function plain(text: string): string {
  return ` ${text
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .join(' ')} `;
}

interface Named {
  path: Path;
  names: string[];
}

/** The fields of every branch: a message may come from a check of any of them. */
function namedFields(field: Field, path: Path): Named[] {
  switch (field.kind) {
    case 'object':
      return field.fields
        .filter(({ isShown }) => isShown)
        .flatMap((inner) => {
          const here = [...path, inner.key];
          return [{ path: here, names: namesOf(inner) }, ...namedFields(inner, here)];
        });
    case 'choice':
      return field.branches.flatMap((branch) => namedFields(branch, path));
    default:
      // In a list, the item would be ambiguous.
      return [];
  }
}

function namesOf({ key, title }: Field): string[] {
  return [title, key, titleFromKey(key)].map((name) => plain(name).trim()).filter((name) => name !== '');
}
