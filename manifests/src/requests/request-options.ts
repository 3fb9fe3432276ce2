/* Where a value goes in a request. */
import { type ComponentDefinition, choice, type Given, list, optional, required, template } from '../component.ts';
import { emptyParts, type RequestParts, type Values } from '../http/request.ts';
import type { TextTemplate } from '../interpolation.ts';
import { pythonText } from '../values/printing.ts';

export class RequestOption {
  readonly #part: keyof RequestParts;
  readonly #path: readonly TextTemplate[];

  constructor(part: keyof RequestParts, path: readonly TextTemplate[]) {
    this.#part = part;
    this.#path = path;
  }

  put(parts: RequestParts, value: unknown): void {
    const keys = this.#path.map((key) => key.text());
    let target = parts[this.#part] as Values;
    for (const key of keys.slice(0, -1)) {
      target[key] ??= {};
      target = target[key] as Values;
    }
    target[keys.at(-1) ?? ''] = value;
  }

  /** A request with only this option. */
  alone(value: unknown): RequestParts {
    const parts = emptyParts();
    this.put(parts, value);
    return parts;
  }
}

/** The next page has its own URL. */
export class RequestPath {}

const partOf: Record<string, keyof RequestParts> = {
  request_parameter: 'query',
  header: 'headers',
  body_data: 'form',
  body_json: 'json',
};

function makeRequestOption(given: Given): RequestOption {
  const inject = pythonText(given.value('inject_into'));
  const path = given.has('field_path')
    ? given.texts('field_path')
    : given.has('field_name')
      ? [given.text('field_name') ?? '']
      : [];
  if (path.length === 0) throw new Error('A RequestOption requires a field_name or a field_path.');
  if (given.has('field_path') && given.has('field_name')) {
    throw new Error('A RequestOption takes either a field_name or a field_path, not both.');
  }
  if (given.has('field_path') && inject !== 'body_json') {
    throw new Error('A field_path works only in JSON bodies. Use field_name.');
  }
  return new RequestOption(
    partOf[inject] ?? 'query',
    path.map((key) => given.asTemplate(key)),
  );
}

export const requestOptionComponents: ComponentDefinition[] = [
  {
    name: 'RequestOption',
    step: 'S1',
    words:
      'Defines where to send a value in a request: a query parameter, a header, a form field or a field of a JSON body.',
    options: {
      inject_into: required(
        choice('request_parameter', 'header', 'body_data', 'body_json'),
        'The part of the request.',
      ),
      field_name: optional(template, 'The name of the parameter, header or field.'),
      field_path: optional(list(template), 'The path of a field in a JSON body.'),
    },
    make: makeRequestOption,
  },
  {
    name: 'RequestPath',
    step: 'S1',
    words: 'Uses the page token as the URL or path of the next page.',
    options: {},
    make: () => new RequestPath(),
  },
];
