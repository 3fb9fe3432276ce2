/** Controls that choose among given values: a switch, a select, and a group of checkboxes. */
import { deepCompareStrict } from '@cfworker/json-schema';
import { isObject } from '@inlay/contract/catalog/connector-configuration';
import { optionsOf } from './fields.ts';
import { type ControlProps, useField, useForm } from './form-context.ts';
import { useWords } from './form-words.ts';
import { useInputProps } from './text-controls.tsx';

export function SwitchControl({ value, onChange }: ControlProps) {
  return (
    <input
      {...useInputProps()}
      class="inlay-switch"
      type="checkbox"
      checked={value === true}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
  );
}

/** An option is identified by its place, because values may be of any type. */
export function SelectControl({ value: held, onChange }: ControlProps) {
  const words = useWords().form;
  const { schema, required } = useField().field;
  const options = optionsOf(schema) ?? [];
  const chosen = options.findIndex(({ value }) => deepCompareStrict(value, held));
  return (
    <select
      {...useInputProps()}
      class="inlay-control inlay-select"
      value={String(chosen)}
      onChange={({ currentTarget }) => onChange(options[Number(currentTarget.value)]?.value)}
    >
      {(!required || chosen < 0) && (
        <option value="-1" disabled={required}>
          {required ? words.choose : words.notSet}
        </option>
      )}
      {options.map(({ label }, index) => (
        <option key={index} value={String(index)}>
          {label}
        </option>
      ))}
    </select>
  );
}

/** The chosen values keep the order of the options. */
export function CheckboxesControl({ value, onChange }: ControlProps) {
  const { isDisabled } = useForm();
  const { id, field } = useField();
  const options = (isObject(field.schema.items) && optionsOf(field.schema.items)) || [];
  const chosen: unknown[] = Array.isArray(value) ? value : [];
  const isChosen = (option: unknown) => chosen.some((one) => deepCompareStrict(one, option));
  return (
    <div class="inlay-checkboxes">
      {options.map(({ value: option, label }, index) => (
        <div class="inlay-checkbox-row" key={index}>
          <input
            class="inlay-checkbox"
            type="checkbox"
            id={`${id}/${index}`}
            disabled={isDisabled}
            checked={isChosen(option)}
            onChange={({ currentTarget }) => {
              const next = options.filter((one) =>
                one.value === option ? currentTarget.checked : isChosen(one.value),
              );
              onChange(next.map((one) => one.value));
            }}
          />
          <label for={`${id}/${index}`}>{label}</label>
        </div>
      ))}
    </div>
  );
}
