/** Body of every error response: only `detail`. */
import { type Static, Type } from 'typebox';

export const ErrorBody = Type.Object(
  { detail: Type.String({ description: 'What happened and, if possible, what to do.' }) },
  { title: 'Error body' },
);
export type ErrorBody = Static<typeof ErrorBody>;

/** Every `type` of a fault, with its cause and message. The list is closed. */
export const faultTypes = {
  'value_error.missing': ['required field or body missing', 'field required'],
  'value_error.extra': ['unknown field, only with `Prefer: handling=strict`', 'extra fields not permitted'],
  'type_error.none.not_allowed': ['null', 'none is not an allowed value'],
  'type_error.str': ['not a string', 'str type expected'],
  'type_error.uuid': ['not a UUID', 'value is not a valid uuid'],
  'type_error.integer': ['not an integer', 'value is not a valid integer'],
  'type_error.float': ['not a number', 'value is not a valid float'],
  'type_error.bool': ['neither true nor false', 'value could not be parsed to a boolean'],
  'type_error.list': ['not an array', 'value is not a valid list'],
  'type_error.dict': ['not an object', 'value is not a valid dict'],
  'type_error.enum': [
    'not a permitted value',
    "value is not a valid enumeration member; permitted: 'active', 'inactive'",
  ],
  type_error: ["wrong type according to the connector's specification", 'value is not of type …'],
  'value_error.number.not_le': ['number too large', 'ensure this value is less than or equal to 100'],
  'value_error.number.not_ge': ['number too small', 'ensure this value is greater than or equal to 1'],
  'value_error.list.max_items': ['too many items', 'ensure this value has at most 100 items'],
  'value_error.list.min_items': ['too few items', 'ensure this value has at least 1 items'],
  'value_error.list.max_size': ['items too long in total', 'a sentence with the limit'],
  'value_error.any_str.max_length': ['text too long', 'ensure this value has at most 64 characters'],
  'value_error.any_str.min_length': ['text too short', 'ensure this value has at least 1 characters'],
  'value_error.str.regex': ["wrong format according to the connector's specification", 'the value must match …'],
  'value_error.jsondecode': ['body is not valid JSON', 'what is wrong and where'],
  'value_error.name': ['invalid name', 'a sentence that says what is accepted'],
  'value_error.idempotency_key': ['invalid Idempotency-Key', 'a sentence that says why'],
  'value_error.tag': ['invalid tag', 'a sentence that says what is accepted'],
  'value_error.origin': ['invalid origin', 'a sentence that says what is accepted'],
  'value_error.cursor': ['cursor not issued by this service', 'a sentence that says what is accepted'],
  'value_error.datetime': ['not a timestamp', 'use a timestamp such as 2026-01-31T09:30:00Z'],
  'value_error.text': ['invalid text', 'a sentence that says what is accepted'],
  'value_error.placeholder': ['unknown placeholder, or invalid text', 'a sentence that says why'],
  'value_error.color': ['not a CSS color', 'use a CSS colour such as #4f46e5, rgb(79 70 229) or teal'],
  'value_error.font': ['not a list of fonts', 'use a list of fonts such as Inter, system-ui, sans-serif'],
  'value_error.url': ['not a URL', 'a sentence that says what is accepted'],
  'value_error.icon': ['neither an icon URL nor a small image', 'a sentence that says what is accepted'],
  'value_error.cron': ['not a Quartz cron expression', 'a sentence that says what is wrong'],
  'value_error.definition': ['no connector has this id', 'a sentence that says so'],
  'value_error.manifest': ['invalid manifest', 'what is wrong and where in the manifest'],
  'value_error.destination': [
    'the destination failed its test; `skip_check` saves it anyway',
    'the message of the destination or its connector',
  ],
  'value_error.secret': [
    'masked secret together with a changed address that the secret would be sent to',
    'enter this secret again because its address has changed',
  ],
  value_error: ['anything else', 'a sentence that says what is accepted'],
} as const satisfies Record<string, readonly [cause: string, msg: string]>;
export type FaultType = keyof typeof faultTypes;

export const Fault = Type.Object(
  {
    loc: Type.Array(Type.String(), {
      description: 'Location of the fault: `body`, `query`, `path` or `header`, then the field.',
    }),
    msg: Type.String({ description: 'What is wrong with the field.' }),
    type: Type.Unsafe<FaultType>({
      type: 'string',
      enum: Object.keys(faultTypes),
      description: 'Code of the fault, from a closed list.',
      examples: ['value_error.missing'],
    }),
  },
  { title: 'Fault' },
);
export type Fault = Static<typeof Fault>;

export const ValidationErrorBody = Type.Object(
  { detail: Type.Array(Fault, { description: 'All faults of the request.' }) },
  { title: 'Validation error body' },
);
export type ValidationErrorBody = Static<typeof ValidationErrorBody>;
