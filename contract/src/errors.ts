/** The body of every answer that is not a success: `detail` and nothing else. */
import { type Static, Type } from 'typebox';

export const ErrorBody = Type.Object(
  { detail: Type.String({ description: 'What happened and, where it helps, what to do' }) },
  { title: 'Error' },
);
export type ErrorBody = Static<typeof ErrorBody>;

export const Fault = Type.Object(
  {
    loc: Type.Array(Type.String(), { description: 'Where: `body`, `query` or `path`, then the field' }),
    msg: Type.String({ description: 'What is wrong with it' }),
    type: Type.String({ description: 'The same as a code' }),
  },
  { title: 'Fault' },
);
export type Fault = Static<typeof Fault>;

export const ValidationErrorBody = Type.Object(
  { detail: Type.Array(Fault, { description: 'All faults of the request' }) },
  { title: 'Validation error' },
);
export type ValidationErrorBody = Static<typeof ValidationErrorBody>;
