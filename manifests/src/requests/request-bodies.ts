/* Bodies of requests by their kind. The requester reads them. */
import { anything, type ComponentDefinition, either, mapping, required, string, template } from '../component.ts';

export const requestBodyComponents: ComponentDefinition[] = [
  {
    name: 'RequestBodyPlainText',
    step: 'S3',
    words: 'A plain text body.',
    options: { value: required(template, 'The text.') },
  },
  {
    name: 'RequestBodyUrlEncodedForm',
    step: 'S3',
    words: 'A form body.',
    options: { value: required(either(string, mapping(string)), 'The fields.') },
  },
  {
    name: 'RequestBodyJsonObject',
    step: 'S3',
    words: 'A JSON body.',
    options: { value: required(anything, 'The object.') },
  },
  {
    name: 'RequestBodyGraphQL',
    step: 'S3',
    words: 'A GraphQL query as a JSON body.',
    options: { value: required(anything, 'An object with `query` and any other fields that the API expects.') },
  },
];
