/** What the parts of a form know of it without being told by the form library: their field, its id and its fault. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Field } from './fields.ts';
import type { Path } from './validation.ts';

export interface FormState {
  formId: string;
  /** Of something that exists already: what was set then is not folded away. */
  isExisting: boolean;
  /** Messages by the id of their field. */
  faults: ReadonlyMap<string, string>;
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

/** Opens whatever hides the field, and puts the keyboard there. */
export function focusField(id: string): void {
  const element = document.getElementById(id);
  if (!element) return;
  for (let outer = element.parentElement; outer; outer = outer.parentElement) {
    if (outer instanceof HTMLDetailsElement) outer.open = true;
  }
  const control = element.matches(focusable) ? element : element.querySelector<HTMLElement>(focusable);
  control?.focus();
}

/** Fields are shown in sections, so the order of the specification is not that of the page. */
export function firstOnPage(ids: readonly string[]): string | undefined {
  const elements = ids.map((id) => document.getElementById(id)).filter((element) => element !== null);
  const isBefore = (a: Element, b: Element) => Boolean(a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING);
  return elements.sort((a, b) => (isBefore(a, b) ? -1 : 1))[0]?.id;
}
