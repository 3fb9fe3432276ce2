/**
 * The connector's fields, each with who sets it: the operator, the customer, or no one. Fields inside an object are decided one
 * by one. Where the connector has several variants, the operator may choose one and leave its fields to customers.
 */
import { chosenBranch, type Path } from '@inlay/ui/form/configuration.ts';
import { Description } from '@inlay/ui/form/description.tsx';
import { FaultText } from '@inlay/ui/form/field-frame.tsx';
import { FieldContent } from '@inlay/ui/form/field-tree.tsx';
import type { ChoiceField, Field, ObjectField } from '@inlay/ui/form/fields.ts';
import { FieldContext, FormContext, faultId, fieldId, helpId, useForm } from '@inlay/ui/form/form-context.ts';
import type { ComponentChildren } from 'preact';
import { useContext } from 'preact/hooks';
import {
  changed,
  configField,
  customizationAt,
  type Draft,
  isTagged,
  type Mode,
  modeOf,
  valueAt,
  withBranch,
  withCustomization,
  withMode,
} from './draft.ts';
import { words as templatesWords } from './words.ts';

const words = templatesWords.editor;

interface FieldsProps {
  draft: Draft;
  change(next: (draft: Draft) => Draft): void;
  path: Path;
}

export function ConfigFields({ field, ...place }: FieldsProps & { field: ObjectField }) {
  return (
    <div class="t-fields">
      {field.fields
        .filter(({ isShown }) => isShown)
        .map((inner) => (
          <OneField field={inner} {...place} path={[...place.path, inner.key]} key={inner.key} />
        ))}
    </div>
  );
}

function OneField({ field, ...place }: FieldsProps & { field: Field }) {
  if (field.kind === 'object') return <ObjectGroup field={field} {...place} />;
  if (field.kind === 'choice' && isTagged(field)) return <BranchGroup field={field} {...place} />;
  return <WholeField field={field} {...place} />;
}

function ObjectGroup({ field, ...place }: FieldsProps & { field: ObjectField }) {
  return (
    <fieldset class="t-group">
      <legend>{field.title}</legend>
      <Help field={field} path={place.path} />
      <ConfigFields field={field} {...place} />
    </fieldset>
  );
}

function BranchGroup({ field, draft, change, path }: FieldsProps & { field: ChoiceField }) {
  const { formId, isDisabled } = useForm();
  const id = fieldId(formId, path);
  const value = valueAt(draft, [configField, ...path]);
  const chosen = chosenBranch(field, value);
  const mode = modeOf(draft, path);
  const at = chosen ? field.branches.indexOf(chosen) : -1;
  return (
    <fieldset class="t-group">
      <legend>{field.title}</legend>
      <Help field={field} path={path} />
      <div class="c-field">
        <label class="inlay-unseen" for={id}>
          {words.branchOf(field.title)}
        </label>
        <select
          class="c-control"
          id={id}
          disabled={isDisabled}
          value={mode === 'fixed' ? String(at) : mode}
          onChange={({ currentTarget: { value: picked } }) =>
            change((before) =>
              picked === 'asked' || picked === 'hidden'
                ? withMode(before, field, path, picked)
                : withBranch(before, path, chosen, field.branches[Number(picked)]),
            )
          }
        >
          <option value="asked">{words.customersChoose}</option>
          {field.branches.map(({ title }, index) => (
            <option value={String(index)} key={title}>
              {words.always(title)}
            </option>
          ))}
          {mode === 'fixed' && at < 0 && <option value="-1">{words.unknownBranch}</option>}
          {!field.required && <option value="hidden">{words.modes.hidden}</option>}
        </select>
      </div>
      {chosen && <ConfigFields field={chosen} draft={draft} change={change} path={path} key={at} />}
    </fieldset>
  );
}

/** A field that is set as a whole or not at all. */
function WholeField({ field, draft, change, path }: FieldsProps & { field: Field }) {
  const form = useForm();
  const id = fieldId(form.formId, path);
  const mode = modeOf(draft, path);
  const fault = form.faults.get(id);
  const value = valueAt(draft, [configField, ...path]);
  const isEmpty = mode === 'fixed' && value === '';
  const isGroup = ['objects', 'list', 'checkboxes', 'choice'].includes(field.kind);
  const title = <span class="inlay-field-title">{field.title}</span>;
  const describedBy = [field.description && helpId(id), fault && faultId(id)].filter(Boolean).join(' ') || undefined;
  return (
    <div class="t-field" data-mode={mode}>
      <div class="t-field-head">
        {mode === 'fixed' && !isGroup ? <label for={id}>{title}</label> : title}
        <code class="c-muted">{field.key}</code>
        {field.required && <span class="inlay-field-mark">{words.required}</span>}
        <ModeChoice
          field={field}
          mode={mode}
          onChoose={(next) => change((before) => withMode(before, field, path, next))}
        />
      </div>
      <Help field={field} path={path} />
      {mode === 'fixed' && (
        <Content
          {...{ field, id, path, value, fault, describedBy }}
          // An emptied control has no value, but the field stays fixed until the operator changes its mode.
          onChange={(at, next) =>
            change((before) => changed(before, [configField, ...at], at.length === path.length ? (next ?? '') : next))
          }
        />
      )}
      {isEmpty && <p class="c-hint c-danger">{words.emptyFixed}</p>}
      {fault && <FaultText id={id} message={fault} />}
      {mode === 'asked' && mayHaveDefault(field) && (
        <DefaultValue field={field} draft={draft} change={change} path={path} />
      )}
    </div>
  );
}

function ModeChoice({ field, mode, onChoose }: { field: Field; mode: Mode; onChoose(mode: Mode): void }) {
  const { isDisabled } = useForm();
  const offered: Mode[] = field.required ? ['fixed', 'asked'] : ['fixed', 'asked', 'hidden'];
  return (
    <select
      class="c-control t-mode"
      aria-label={words.modeOf(field.title)}
      value={mode}
      disabled={isDisabled}
      onChange={({ currentTarget }) => onChoose(currentTarget.value as Mode)}
    >
      {(offered.includes(mode) ? offered : [...offered, mode]).map((one) => (
        <option value={one} key={one}>
          {words.modes[one]}
        </option>
      ))}
    </select>
  );
}

interface ContentProps {
  field: Field;
  id: string;
  path: Path;
  value: unknown;
  fault?: string | undefined;
  describedBy?: string | undefined;
  onChange(path: Path, value: unknown): void;
}

function Content({ field, id, path, value, fault, describedBy, onChange }: ContentProps) {
  const form = useContext(FormContext);
  if (!form) return null;
  return (
    <FormContext.Provider value={{ ...form, change: onChange }}>
      <FieldContext.Provider value={{ field, path, id, fault, describedBy }}>
        <FieldContent field={field} path={path} value={value} />
      </FieldContext.Provider>
    </FormContext.Provider>
  );
}

/** Secrets have no default, because customers see defaults. */
const mayHaveDefault = ({ kind, schema }: Field) =>
  schema.airbyte_secret !== true &&
  ['text', 'long-text', 'number', 'switch', 'select', 'date', 'date-time'].includes(kind);

function DefaultValue({ field, draft, change, path }: FieldsProps & { field: Field }) {
  const { formId } = useForm();
  const id = `${fieldId(formId, path)}:default`;
  const value = customizationAt(draft, path)?.default;
  return (
    <details class="t-default" open={value !== undefined}>
      <summary>{words.defaultValue}</summary>
      <label class="inlay-unseen" for={id}>
        {words.defaultOf(field.title)}
      </label>
      <Content
        field={{ ...field, required: false }}
        id={id}
        path={path}
        value={value}
        onChange={(_, next) => change((before) => withCustomization(before, path, { default: next }))}
      />
    </details>
  );
}

function Help({ field: { description }, path }: { field: Field; path: Path }): ComponentChildren {
  const { formId } = useForm();
  return description ? <Description html={description} id={helpId(fieldId(formId, path))} /> : null;
}
