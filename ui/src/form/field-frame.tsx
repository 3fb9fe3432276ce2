/**
 * The texts around every control, linked to it for screen readers: above it its title, help and hint, below it its
 * fault. Controls of one input get a label; those of several a fieldset with a legend.
 */
import type { ComponentChildren } from 'preact';
import { toControl } from './date-text.ts';
import { Description } from './description.tsx';
import type { Field } from './fields.ts';
import { FieldContext, type FieldProps, faultId, fieldId, helpId, hintId, useForm } from './form-context.ts';
import { useWords } from './form-words.ts';
import { FaultIcon } from './icons.tsx';
import { exampleOf } from './text-controls.tsx';

const grouped = new Set<Field['kind']>(['object', 'choice', 'objects', 'list', 'checkboxes']);

export function FieldFrame({ field, path, value, children }: FieldProps & { children: ComponentChildren }) {
  const { formId, faults } = useForm();
  const words = useWords().form;
  const id = fieldId(formId, path);
  const fault = faults.get(id);
  const hint = hintFor(field, value, words);
  const { description, kind } = field;
  const index = path.at(-1);
  const title = typeof index === 'number' ? words.numbered(field.title, index + 1) : field.title;
  const describedBy = [description && helpId(id), hint && hintId(id), fault && faultId(id)].filter(Boolean).join(' ');

  const name = <span class="inlay-field-title">{title}</span>;
  const mark = !field.required && field.isAlwaysShown && <span class="inlay-field-mark">{words.optional}</span>;
  const help = (
    <>
      {description && <Description html={description} id={helpId(id)} />}
      {hint && (
        <p class="inlay-field-hint" id={hintId(id)}>
          {hint}
        </p>
      )}
    </>
  );
  const wrong = fault && <FaultText id={id} message={fault} />;
  return (
    <FieldContext.Provider value={{ field, path, id, fault, describedBy: describedBy || undefined }}>
      {grouped.has(kind) ? (
        <fieldset
          class={`inlay-field inlay-field-group inlay-field-${kind}`}
          id={id}
          aria-describedby={describedBy || undefined}
        >
          <legend class="inlay-field-label">
            {name} {mark}
          </legend>
          {help}
          {/* The fault of a group is above its fields, because the group may be long. */}
          {wrong}
          {children}
        </fieldset>
      ) : (
        <div class={`inlay-field inlay-field-${kind}`}>
          <div class="inlay-field-label">
            <label for={id}>{name}</label>
            {mark}
          </div>
          {help}
          {children}
          {wrong}
        </div>
      )}
    </FieldContext.Provider>
  );
}

export function FaultText({ id, message }: { id: string; message: string }) {
  return (
    <p class="inlay-field-fault" id={faultId(id)}>
      <FaultIcon />
      <span>{message}</span>
    </p>
  );
}

function hintFor({ kind, schema }: Field, value: unknown, words: ReturnType<typeof useWords>['form']) {
  if (kind === 'date-time' && toControl(kind, schema, value) !== undefined) return words.utc;
  if (kind === 'date' && toControl(kind, schema, value) !== undefined) return undefined;
  const { pattern_descriptor: wanted } =
    kind === 'list' ? { ...schema, ...(schema.items as Record<string, unknown>) } : schema;
  if (typeof wanted !== 'string' || wanted === '' || wanted === exampleOf(schema)) return undefined;
  return words.format(wanted);
}
