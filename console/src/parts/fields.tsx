/** Form fields with a label and a hint. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  label: string;
  hint?: string;
  value: string;
  onInput(value: string): void;
}

export function TextField({
  label,
  hint,
  value,
  onInput,
  type = 'text',
  isRequired = false,
  suggestions,
}: FieldProps & {
  type?: 'text' | 'url' | 'date' | 'password';
  isRequired?: boolean;
  suggestions?: readonly string[] | undefined;
}) {
  const id = useId();
  return (
    <div class="c-field">
      <label for={id}>{label}</label>
      <input
        class="c-control"
        id={id}
        type={type as 'text'}
        value={value}
        required={isRequired}
        autoComplete={type === 'password' ? 'new-password' : 'off'}
        list={suggestions && `${id}-list`}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
      {suggestions && (
        <datalist id={`${id}-list`}>
          {suggestions.map((text) => (
            <option value={text} key={text} />
          ))}
        </datalist>
      )}
      {hint && (
        <p class="c-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

export interface ChoiceFieldProps<V extends string> extends Pick<FieldProps, 'label' | 'hint'> {
  value: V;
  options: Readonly<Record<NoInfer<V>, string>>;
  onInput(value: NoInfer<V>): void;
}

export function ChoiceField<V extends string>({ label, hint, value, options, onInput }: ChoiceFieldProps<V>) {
  const id = useId();
  return (
    <div class="c-field">
      <label for={id}>{label}</label>
      <select
        class="c-control"
        id={id}
        value={value}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onChange={({ currentTarget }) => onInput(currentTarget.value as V)}
      >
        {Object.entries<string>(options).map(([key, text]) => (
          <option value={key} key={key}>
            {text}
          </option>
        ))}
      </select>
      {hint && (
        <p class="c-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

/** A list of labeled values. */
export function FactList({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="c-fact-list">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function CheckField({
  label,
  isChecked,
  onChange,
}: {
  label: string;
  isChecked: boolean;
  onChange(isChecked: boolean): void;
}) {
  return (
    <label class="c-tick">
      <input type="checkbox" checked={isChecked} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}
