/** Controls that hold one text: lines, numbers, long texts and JSON. An empty one holds nothing. */
import type { JsonSchema } from '@inlay/contract/connector-configuration';
import type { WidgetProps } from '@rjsf/utils';
import { useState } from 'preact/hooks';
import { typeOf } from './fields.ts';
import { useField } from './form-context.ts';

/** A first example, to stand where nothing is entered yet. */
export function exampleOf({ examples }: JsonSchema): string | undefined {
  let example: unknown = examples;
  while (Array.isArray(example)) example = example[0];
  return typeof example === 'string' || typeof example === 'number' ? String(example) : undefined;
}

/** What all inputs tell about themselves. */
export function useInputProps({ disabled, required }: Pick<WidgetProps, 'disabled' | 'required'>) {
  const { id, fault, describedBy, field } = useField();
  return {
    id,
    disabled: disabled ?? false,
    'aria-describedby': describedBy,
    'aria-invalid': fault !== undefined,
    'aria-required': required || field.required,
  };
}

/** Names, keys and addresses are no prose. */
export const noProse = { autoComplete: 'off', autoCapitalize: 'none', autoCorrect: 'off', spellcheck: false } as const;

export function TextControl(props: WidgetProps) {
  const { schema, kind } = useField().field;
  const isNumber = kind === 'number';
  const format = typeof schema.format === 'string' ? schema.format : '';
  const modes: Record<string, 'email' | 'url'> = { email: 'email', uri: 'url' };
  return (
    <input
      {...useInputProps(props)}
      {...noProse}
      class="inlay-control"
      type="text"
      inputMode={isNumber ? (typeOf(schema) === 'integer' ? 'numeric' : 'decimal') : (modes[format] ?? 'text')}
      placeholder={exampleOf(schema)}
      value={props.value ?? ''}
      onInput={({ currentTarget }) => props.onChange(currentTarget.value === '' ? undefined : currentTarget.value)}
    />
  );
}

export function LongTextControl(props: WidgetProps) {
  const { schema } = useField().field;
  return (
    <textarea
      {...useInputProps(props)}
      {...noProse}
      class="inlay-control inlay-control-code"
      rows={4}
      placeholder={exampleOf(schema)}
      value={props.value ?? ''}
      onInput={({ currentTarget }) => props.onChange(currentTarget.value === '' ? undefined : currentTarget.value)}
    />
  );
}

/** Text that is no JSON is held as the text it is, and so is no object or list: a fault like any other. */
export function JsonControl(props: WidgetProps) {
  const [text, setText] = useState(() => (props.value === undefined ? '' : JSON.stringify(props.value, null, 2)));
  const change = (next: string) => {
    setText(next);
    props.onChange(next.trim() === '' ? undefined : parsed(next));
  };
  return (
    <textarea
      {...useInputProps(props)}
      {...noProse}
      class="inlay-control inlay-control-code"
      rows={4}
      placeholder={typeOf(useField().field.schema) === 'array' ? '[]' : '{}'}
      value={text}
      onInput={({ currentTarget }) => change(currentTarget.value)}
    />
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}
