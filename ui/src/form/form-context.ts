/** What every part of a form knows about the whole form. */

import type { ComponentType } from 'preact';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Path } from './configuration.ts';
import type { Field } from './fields.ts';

export interface FormState {
  formId: string;
  /** Whether the form is of an existing source: then sections with values that are set are open at first. */
  isExisting: boolean;
  isDisabled: boolean;
  /** Messages by the id of their field. */
  faults: ReadonlyMap<string, string>;
  /** Takes effect at once, so that several calls before the next render lose nothing. Undefined removes the value. */
  change(path: Path, value: unknown): void;
}

/** The field a control stands for. */
export interface FieldState {
  field: Field;
  path: Path;
  id: string;
  fault: string | undefined;
  /** Ids of the elements that explain the control. */
  describedBy: string | undefined;
}

/** A field, and what it holds. */
export interface FieldProps<F extends Field = Field> {
  field: F;
  path: Path;
  value: unknown;
}

/** A field with inner fields gets the component that draws them. */
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
