/** What the parts of a form know of the whole without being told by the part around them. */

import type { ComponentType } from 'preact';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Path } from './configuration.ts';
import type { Field } from './fields.ts';

export interface FormState {
  formId: string;
  /** Of something that exists already: what was set then is not folded away. */
  isExisting: boolean;
  isDisabled: boolean;
  /** Messages by the id of their field. */
  faults: ReadonlyMap<string, string>;
  /** Counts from the call on, so that several calls before the next render lose nothing. Undefined: nothing is there. */
  change(path: Path, value: unknown): void;
}

/** The field a control stands for. */
export interface FieldState {
  field: Field;
  path: Path;
  id: string;
  fault: string | undefined;
  /** Ids of what explains the control. */
  describedBy: string | undefined;
}

/** A field, and what it holds. */
export interface FieldProps<F extends Field = Field> {
  field: F;
  path: Path;
  value: unknown;
}

/** A field that is made of others is told what draws those. */
export interface OuterFieldProps<F extends Field> extends FieldProps<F> {
  Inner: ComponentType<FieldProps>;
}

export interface ControlProps {
  value: unknown;
  onChange(value: unknown): void;
}

export const FormContext = createContext<FormState | undefined>(undefined);
export const FieldContext = createContext<FieldState | undefined>(undefined);

export function useForm(): FormState {
  const form = useContext(FormContext);
  if (!form) throw new Error('No form is around this.');
  return form;
}

export function useField(): FieldState {
  const field = useContext(FieldContext);
  if (!field) throw new Error('No field is around this.');
  return field;
}

/** Unique on the page and without blanks, whatever the keys are. */
export function fieldId(formId: string, path: Path): string {
  return [formId, ...path.map((key) => encodeURIComponent(String(key).toWellFormed()))].join('/');
}

export const helpId = (id: string) => `${id}:help`;
export const hintId = (id: string) => `${id}:hint`;
export const faultId = (id: string) => `${id}:fault`;

const focusable = 'input:checked, input:not([type="radio"]), input, select, textarea, button';

/** Opens whatever hides these fields, and moves the focus to the first of them on the page. */
export function showFields(ids: readonly string[]): void {
  const elements = ids.map((id) => document.getElementById(id)).filter((element) => element !== null);
  for (const element of elements) {
    for (let outer = element.parentElement; outer; outer = outer.parentElement) {
      if (outer instanceof HTMLDetailsElement) outer.open = true;
    }
  }
  // Fields are shown in sections, so the order of the specification is not that of the page.
  const isBefore = (a: Element, b: Element) => Boolean(a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING);
  const first = elements.sort((a, b) => (isBefore(a, b) ? -1 : 1))[0];
  const control = first?.matches(focusable) ? first : first?.querySelector<HTMLElement>(focusable);
  control?.focus();
}
