/** Controls that choose among given values: a switch, a select, and a group of checkboxes. */
import { deepCompareStrict } from '@cfworker/json-schema';
import { isObject } from '@inlay/contract/connector-configuration';
import type { WidgetProps } from '@rjsf/utils';
import { useWords } from '../words/words.ts';
import { optionsOf } from './fields.ts';
import { useField } from './form-context.ts';
import { useInputProps } from './text-controls.tsx';

export function SwitchControl(props: WidgetProps) {
  return (
    <input
      {...useInputProps(props)}
      class="inlay-switch"
      type="checkbox"
      checked={props.value === true}
      onChange={({ currentTarget }) => props.onChange(currentTarget.checked)}
    />
  );
}

/** Options are told apart by their place: values may be of any type. */
export function SelectControl(props: WidgetProps) {
  const words = useWords().form;
  const { schema, required } = useField().field;
  const options = optionsOf(schema) ?? [];
  const chosen = options.findIndex(({ value }) => deepCompareStrict(value, props.value));
  return (
    <select
      {...useInputProps(props)}
      class="inlay-control inlay-select"
      value={String(chosen)}
      onChange={({ currentTarget }) => props.onChange(options[Number(currentTarget.value)]?.value)}
    >
      {(!required || chosen < 0) && (
        <option value="-1" disabled={required}>
          {required ? words.choose : words.notSet}
        </option>
      )}
      {options.map(({ label }, index) => (
        <option key={label} value={String(index)}>
          {label}
        </option>
      ))}
    </select>
  );
}

/** What was chosen keeps the order of the options. */
export function CheckboxesControl({ value, onChange, disabled }: WidgetProps) {
  const { id, field } = useField();
  const options = (isObject(field.schema.items) && optionsOf(field.schema.items)) || [];
  const chosen: unknown[] = Array.isArray(value) ? value : [];
  const isChosen = (option: unknown) => chosen.some((one) => deepCompareStrict(one, option));
  return (
    <div class="inlay-checkboxes">
      {options.map(({ value: option, label }, index) => (
        <div class="inlay-checkbox-row" key={label}>
          <input
            class="inlay-checkbox"
            type="checkbox"
            id={`${id}/${index}`}
            disabled={disabled}
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
