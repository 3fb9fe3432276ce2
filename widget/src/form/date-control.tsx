/** The browser's own control for a date or a point in time; a line of text where it cannot hold what is wanted. */
import { useState } from 'preact/hooks';
import { fromControl, toControl } from './date-text.ts';
import { type ControlProps, useField } from './form-context.ts';
import { TextControl, useInputProps } from './text-controls.tsx';

export function DateControl(props: ControlProps) {
  const { schema, kind } = useField().field;
  const of = kind === 'date' ? 'date' : 'date-time';
  // Once for all: a line of text must not turn into something else while it is typed.
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
