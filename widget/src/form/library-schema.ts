/**
 * The fields in the words of the form library. It renders them and keeps their values; which branch is chosen, what is
 * filled in and what is wrong is decided here, so it gets a schema without branches, defaults and rules.
 */
import { type Schema, Validator } from '@cfworker/json-schema';
import type { RJSFSchema, UiSchema, ValidatorType } from '@rjsf/utils';
import type { Field, ObjectField } from './fields.ts';

export interface LibraryForm {
  schema: RJSFSchema;
  uiSchema: UiSchema;
}

export function libraryForm(field: Field): LibraryForm {
  return { schema: schemaOf(field), uiSchema: uiSchemaOf(field) };
}

function schemaOf(field: Field): RJSFSchema {
  switch (field.kind) {
    case 'object':
      return { type: 'object', properties: byKey(field, schemaOf) };
    case 'choice':
      return { type: 'object' };
    case 'objects':
      return { type: 'array', items: schemaOf(field.item) };
    case 'list':
    case 'checkboxes':
      return { type: 'array', items: { type: 'string' } };
    case 'number':
      return { type: 'number' };
    case 'switch':
      return { type: 'boolean' };
    default:
      return { type: 'string' };
  }
}

function uiSchemaOf(field: Field): UiSchema {
  switch (field.kind) {
    case 'object':
      return { 'ui:options': { inlay: field }, ...byKey(field, uiSchemaOf) };
    case 'choice':
      return {
        'ui:field': 'ChoiceField',
        'ui:options': { inlay: field, branches: field.branches.map(libraryForm) },
      };
    case 'objects':
      return { 'ui:options': { inlay: field }, items: uiSchemaOf(field.item) };
    default:
      return { 'ui:widget': field.kind, 'ui:options': { inlay: field } };
  }
}

function byKey<T>({ fields }: ObjectField, of: (field: Field) => T): Record<string, T> {
  return Object.fromEntries(fields.filter(({ isShown }) => isShown).map((field) => [field.key, of(field)]));
}

/** The field behind a part of the library's form. */
export function fieldOf<F extends Field = Field>(uiSchema: UiSchema | undefined): F {
  return uiSchema?.['ui:options']?.inlay as F;
}

export function branchForms(uiSchema: UiSchema | undefined): LibraryForm[] {
  return uiSchema?.['ui:options']?.branches as LibraryForm[];
}

/** The library needs one; faults are found by validation.ts, which knows the branches and the language. */
export const libraryValidator: ValidatorType = {
  isValid: (schema, value) => validate(schema, value).valid,
  rawValidation: <Result>(schema: RJSFSchema, value: unknown) => ({
    errors: validate(schema, value).errors as Result[],
  }),
  validateFormData: (value, schema) => ({
    errors: validate(schema, value).errors.map(({ error }) => ({ stack: error })),
    errorSchema: {},
  }),
};

function validate(schema: RJSFSchema, value: unknown) {
  return new Validator(schema as Schema, '7', false).validate(value);
}
