/** The body of every answer that is not a success: `detail` and nothing else. */
import { type Static, Type } from 'typebox';

export const ErrorBody = Type.Object(
  { detail: Type.String({ description: 'What happened and, where it helps, what to do' }) },
  { title: 'Error body' },
);
export type ErrorBody = Static<typeof ErrorBody>;

/**
 * Every `type` that a fault can have, with its cause and its message. The list is closed: no code can use another type.
 */
export const faultTypes = {
  'value_error.missing': ['a required field, or the body, is absent', 'field required'],
  'value_error.extra': ['an unknown field, with `Prefer: handling=strict` only', 'extra fields not permitted'],
  'type_error.none.not_allowed': ['null', 'none is not an allowed value'],
  'type_error.str': ['not a string', 'str type expected'],
  'type_error.uuid': ['not a UUID', 'value is not a valid uuid'],
  'type_error.integer': ['not an integer', 'value is not a valid integer'],
  'type_error.float': ['not a number', 'value is not a valid float'],
  'type_error.bool': ['neither true nor false', 'value could not be parsed to a boolean'],
  'type_error.list': ['not an array', 'value is not a valid list'],
  'type_error.dict': ['not an object', 'value is not a valid dict'],
  'type_error.enum': [
    'not in the enumeration',
    "value is not a valid enumeration member; permitted: 'active', 'inactive'",
  ],
  type_error: ["another type than a connector's specification asks for", 'value is not of type …'],
  'value_error.number.not_le': ['the number is too large', 'ensure this value is less than or equal to 100'],
  'value_error.number.not_ge': ['the number is too small', 'ensure this value is greater than or equal to 1'],
  'value_error.list.max_items': ['too many items in a list', 'ensure this value has at most 100 items'],
  'value_error.list.min_items': ['too few items in a list', 'ensure this value has at least 1 items'],
  'value_error.list.max_size': ['the items of a list are too long together', 'one sentence that names the limit'],
  'value_error.any_str.max_length': ['the text is too long', 'ensure this value has at most 64 characters'],
  'value_error.any_str.min_length': ['the text is too short', 'ensure this value has at least 1 characters'],
  'value_error.str.regex': [
    "the text does not have the form that a connector's specification asks for",
    'the value must have the form …',
  ],
  'value_error.jsondecode': ['the body is not JSON that can be read', 'what is wrong and where'],
  'value_error.name': ['the name is not accepted', 'one sentence that says what is accepted'],
  'value_error.idempotency_key': ['the Idempotency-Key is not accepted', 'one sentence that says why'],
  'value_error.tag': ['the tag is not accepted', 'one sentence that says what is accepted'],
  'value_error.origin': ['the origin is not accepted', 'one sentence that says what is accepted'],
  'value_error.cursor': ['the cursor was not made by this service', 'one sentence that says what is accepted'],
  'value_error.datetime': ['not a time', 'a time must be written as in 2026-01-31T09:30:00Z'],
  'value_error.text': ['the text is not accepted', 'one sentence that says what is accepted'],
  'value_error.placeholder': ['a placeholder is unknown, or the text is not accepted', 'one sentence that says why'],
  'value_error.color': ['not a colour of CSS', 'a colour must be written as in #4f46e5, rgb(79 70 229) or teal'],
  'value_error.font': ['not a list of fonts', 'fonts must be written as in Inter, system-ui, sans-serif'],
  'value_error.url': ['not an address of the web', 'one sentence that says what is accepted'],
  'value_error.icon': ['neither an address of an icon nor a small image', 'one sentence that says what is accepted'],
  'value_error.cron': ['not a Quartz expression', 'one sentence that says what is wrong'],
  'value_error.definition': ['there is no connector with this id', 'one sentence that says so'],
  'value_error.manifest': ['the manifest is not accepted', 'what is wrong, and where in the manifest'],
  'value_error.destination': [
    'the destination was tested and does not work; `skip_check` saves it all the same',
    'what the destination, or its connector, said',
  ],
  'value_error.secret': [
    'a secret was sent masked, but an address to which it would be sent has changed',
    'give this secret again: an address beside it has changed',
  ],
  value_error: ['anything else', 'one sentence that says what is accepted'],
} as const satisfies Record<string, readonly [cause: string, msg: string]>;
export type FaultType = keyof typeof faultTypes;

export const Fault = Type.Object(
  {
    loc: Type.Array(Type.String(), { description: 'Where: `body`, `query`, `path` or `header`, then the field' }),
    msg: Type.String({ description: 'What is wrong with it' }),
    type: Type.Unsafe<FaultType>({
      type: 'string',
      enum: Object.keys(faultTypes),
      description: 'The same as a code, from a closed list',
      examples: ['value_error.missing'],
    }),
  },
  { title: 'Fault' },
);
export type Fault = Static<typeof Fault>;

export const ValidationErrorBody = Type.Object(
  { detail: Type.Array(Fault, { description: 'All faults of the request' }) },
  { title: 'Validation error body' },
);
export type ValidationErrorBody = Static<typeof ValidationErrorBody>;
