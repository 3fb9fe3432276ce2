/** Schemas for destination checks, which operators run before connection templates send data there. */
import { type Static, Type } from 'typebox';
import type { Configuration } from '../catalog/connector-configuration.ts';
import { Uuid } from '../fields.ts';

const exampleTemplateId = 'd2b6f1a8-7e0c-4c39-9b64-5a8e3f7c1d02';
const exampleDefinitionId = 'c1f7b0a6-93d4-4e27-8b5c-70d2e6a3f815';

export const DestinationCheckPath = Type.Object({
  destination_check_id: Uuid('Identifier of the check.', '9b6f7a64-52c1-4f5e-8a44-1f3f4bb1a0c7'),
});

export const CheckDestinationRequest = Type.Object(
  {
    destination_definition_id: Type.Optional(
      Type.String({
        format: 'uuid',
        description: 'Definition of the destination. Required unless a template is given.',
        examples: [exampleDefinitionId],
      }),
    ),
    connection_template_id: Type.Optional(
      Type.String({
        format: 'uuid',
        description: 'Connection template whose destination is tested, instead of a definition.',
        examples: [exampleTemplateId],
      }),
    ),
    destination_config: Type.Optional(
      Type.Unsafe<Configuration>({
        type: 'object',
        additionalProperties: true,
        description:
          'Complete configuration of the destination. Defaults to that of the template, if given. Masked secrets stand for those of the template, unless an address differs.',
        examples: [{ path: 'exports' }],
      }),
    ),
  },
  {
    title: 'Check destination request',
    examples: [{ destination_definition_id: exampleDefinitionId, destination_config: { path: 'exports' } }],
  },
);
export type CheckDestinationRequest = Static<typeof CheckDestinationRequest>;
