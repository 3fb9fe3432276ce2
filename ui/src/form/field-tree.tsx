/** Draws a field of any kind: its frame, and inside the frame a control, or the inner fields. */
import type { ComponentType } from 'preact';
import { ChoiceBranches } from './choice-field.tsx';
import { DateControl } from './date-control.tsx';
import { FieldFrame } from './field-frame.tsx';
import type { SimpleKind } from './fields.ts';
import { type ControlProps, type FieldProps, useForm } from './form-context.ts';
import { ListControl } from './list-control.tsx';
import { ObjectFields } from './object-fields.tsx';
import { ObjectList } from './object-list.tsx';
import { CheckboxesControl, SelectControl, SwitchControl } from './option-controls.tsx';
import { SecretControl } from './secret-control.tsx';
import { JsonControl, LongTextControl, NumberControl, TextControl } from './text-controls.tsx';

const controls: Record<Exclude<SimpleKind, 'constant'>, ComponentType<ControlProps>> = {
  text: TextControl,
  'long-text': LongTextControl,
  secret: SecretControl,
  number: NumberControl,
  switch: SwitchControl,
  select: SelectControl,
  checkboxes: CheckboxesControl,
  list: ListControl,
  date: DateControl,
  'date-time': DateControl,
  json: JsonControl,
};

export function FieldTree(props: FieldProps) {
  return (
    <FieldFrame {...props}>
      <FieldContent {...props} />
    </FieldFrame>
  );
}

/** The control of a field, or its inner fields, without title and help. */
export function FieldContent({ field, path, value }: FieldProps) {
  const { change } = useForm();
  const place = { path, value, Inner: FieldTree };
  switch (field.kind) {
    case 'object':
      return <ObjectFields field={field} {...place} />;
    case 'choice':
      return <ChoiceBranches field={field} {...place} />;
    case 'objects':
      return <ObjectList field={field} {...place} />;
    case 'constant':
      return null;
    default: {
      const Control = controls[field.kind];
      return <Control value={value} onChange={(next) => change(path, next)} />;
    }
  }
}
