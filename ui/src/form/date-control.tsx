/** The browser's own control for a date or a time; a text input where that control cannot hold the wanted format. */
import { useState } from 'preact/hooks';
import { fromControl, toControl } from './date-text.ts';
import { type ControlProps, useField } from './form-context.ts';
import { TextControl, useInputProps } from './text-controls.tsx';

export function DateControl(props: ControlProps) {
  const { schema, kind } = useField().field;
  const of = kind === 'date' ? 'date' : 'date-time';
  // Decided once: a text input must not become another control while the customer types.
  const [isNative] = useState(toControl(of, schema, props.value) !== undefined);
  const inputProps = useInputProps();
  if (!isNative) return <TextControl {...props} />;
  const value = toControl(of, schema, props.value) ?? '';
  return (
    <input
      {...inputProps}
      class="inlay-control inlay-control-date"
      type={of === 'date' ? 'date' : 'datetime-local'}
      step={of === 'date' || value.length <= 'yyyy-mm-ddThh:mm'.length ? undefined : 1}
      max={of === 'date' ? '9999-12-31' : '9999-12-31T23:59'}
      value={value}
      onInput={({ currentTarget }) => props.onChange(fromControl(of, schema, currentTarget.value))}
    />
  );
}
