/* Bodies of requests by their kind. The requester reads them. */
import { anything, type ComponentDefinition, either, mapping, required, string, template } from '../component.ts';

export const requestBodyComponents: ComponentDefinition[] = [
  { name: 'RequestBodyPlainText', step: 'S3', words: 'A text.', options: { value: required(template, 'The text.') } },
  {
    name: 'RequestBodyUrlEncodedForm',
    step: 'S3',
    words: 'A form.',
    options: { value: required(either(string, mapping(string)), 'The fields.') },
  },
  {
    name: 'RequestBodyJsonObject',
    step: 'S3',
    words: 'An object in JSON.',
    options: { value: required(anything, 'The object.') },
  },
  {
    name: 'RequestBodyGraphQL',
    step: 'S3',
    words: 'A GraphQL query in JSON.',
    options: { value: required(anything, 'An object with `query` and what else the API wants.') },
  },
];
