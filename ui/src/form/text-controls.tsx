/** Controls that hold one text: lines, numbers, long texts and JSON. An empty control holds no value. */
import type { JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import { useState } from 'preact/hooks';
import { typeOf } from './fields.ts';
import { type ControlProps, useField, useForm } from './form-context.ts';

/** The first example, shown while nothing is entered yet. */
export function exampleOf({ examples }: JsonSchema): string | undefined {
  let example: unknown = examples;
  while (Array.isArray(example)) example = example[0];
  return typeof example === 'string' || typeof example === 'number' ? String(example) : undefined;
}

/** The properties that all inputs share. */
export function useInputProps() {
  const { id, fault, describedBy, field } = useField();
  return {
    id,
    disabled: useForm().isDisabled,
    'aria-describedby': describedBy,
    'aria-invalid': fault !== undefined,
    'aria-required': field.required,
  };
}

/** For names, keys and addresses: no spelling help and no automatic capitals. */
export const noProse = { autoComplete: 'off', autoCapitalize: 'none', autoCorrect: 'off', spellcheck: false } as const;

/** A configuration may hold another value where a text is expected; it is shown as JSON. */
export function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

export function TextControl({ value, onChange }: ControlProps) {
  const { schema } = useField().field;
  const modes: Record<string, 'email' | 'url'> = { email: 'email', uri: 'url' };
  return (
    <input
      {...useInputProps()}
      {...noProse}
      class="inlay-control"
      type="text"
      inputMode={modes[String(schema.format)] ?? 'text'}
      placeholder={exampleOf(schema)}
      value={textOf(value)}
      onInput={({ currentTarget }) => onChange(currentTarget.value === '' ? undefined : currentTarget.value)}
    />
  );
}

/** The typed text is kept: `0.50` may become `0.505`, although its number is `0.5` already. */
export function NumberControl({ value, onChange }: ControlProps) {
  const { schema } = useField().field;
  const [typed, setTyped] = useState('');
  return (
    <input
      {...useInputProps()}
      {...noProse}
      class="inlay-control"
      type="text"
      inputMode={typeOf(schema) === 'integer' ? 'numeric' : 'decimal'}
      placeholder={exampleOf(schema)}
      value={numberIn(typed) === value ? typed : textOf(value)}
      onInput={({ currentTarget }) => {
        setTyped(currentTarget.value);
        onChange(numberIn(currentTarget.value));
      }}
    />
  );
}

/** Text that isn't a number is held as text and becomes a normal fault. */
function numberIn(text: string): unknown {
  if (text.trim() === '') return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : text;
}

export function LongTextControl({ value, onChange }: ControlProps) {
  const { schema } = useField().field;
  return (
    <textarea
      {...useInputProps()}
      {...noProse}
      class="inlay-control inlay-control-code"
      rows={4}
      placeholder={exampleOf(schema)}
      value={textOf(value)}
      onInput={({ currentTarget }) => onChange(currentTarget.value === '' ? undefined : currentTarget.value)}
    />
  );
}

/**
 * Text that isn't JSON is held as text and becomes a normal fault, being neither an object nor a list. The typed text is shown
 * unchanged while it is equivalent to the value.
 */
export function JsonControl({ value, onChange }: ControlProps) {
  const [typed, setTyped] = useState('');
  const change = (next: string) => {
    setTyped(next);
    onChange(read(next));
  };
  const isTyped = JSON.stringify(read(typed)) === JSON.stringify(value);
  return (
    <textarea
      {...useInputProps()}
      {...noProse}
      class="inlay-control inlay-control-code"
      rows={4}
      placeholder={typeOf(useField().field.schema) === 'array' ? '[]' : '{}'}
      value={isTyped ? typed : value === undefined ? '' : JSON.stringify(value, null, 2)}
      onInput={({ currentTarget }) => change(currentTarget.value)}
    />
  );
}

const read = (text: string) => (text.trim() === '' ? undefined : parsed(text));

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}
