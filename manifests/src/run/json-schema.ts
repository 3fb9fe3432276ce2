/* Checks values against the JSON schemas of manifests. */
import { Ajv } from 'ajv';

/** Returns a message about what does not match; undefined if everything does. Throws an Error for an invalid schema. */
export function schemaCheck(schema: object): (value: unknown) => string | undefined {
  const code = { regExp: Object.assign(pythonPattern, { code: 'pythonPattern' }) };
  const lenient = { strict: false, validateFormats: false, unicodeRegExp: false, logger: false } as const;
  const ajv = new Ajv({ ...lenient, ownProperties: true, code });
  // Schemas name dialects by many URLs, but use the keywords that all of them share.
  const { $schema: _dialect, ...rules } = schema as Record<string, unknown>;
  const validate = ajv.compile(rules);
  return (value) => (validate(value) ? undefined : ajv.errorsText(validate.errors));
}

/** Patterns were written for Python. One that JavaScript cannot read refuses nothing. */
function pythonPattern(pattern: string): RegExp {
  const [flags = '', letters = ''] = /^\(\?([aimsux]+)\)/.exec(pattern) ?? [];
  const plain = pattern.slice(flags.length).replaceAll('(?P<', '(?<').replaceAll('\\A', '^').replaceAll('\\Z', '$');
  try {
    return new RegExp(plain, letters.replace(/[^ims]/g, ''));
  } catch {
    return /(?:)/;
  }
}
