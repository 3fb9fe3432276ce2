/** Which streams of a source are synced, and single fields of the form: what operators may say, and what it means. */

import type { Customization } from '@inlay/contract/catalog/source-templates';
import type { Fault } from '@inlay/contract/errors';
import type { Definition } from '../definitions/definition.ts';
import { fieldCustomizationFaults } from './field-customizations.ts';

export function customizationFaults(
  { specification }: Definition,
  { stream_selection_mode, stream_whitelist = [], field_customizations }: Partial<Customization>,
): Fault[] {
  const fields = fieldCustomizationFaults(specification, field_customizations);
  if (stream_selection_mode !== 'whitelist' || stream_whitelist.length > 0) return fields;
  return [
    ...fields,
    {
      loc: ['body', 'customization', 'stream_whitelist'],
      msg: 'the list must not be empty if stream_selection_mode is whitelist',
      type: 'value_error.list.min_items',
    },
  ];
}

/** With its defaults filled in. */
export function complete(customization: Partial<Customization>): Customization {
  return {
    stream_selection_mode: customization.stream_selection_mode ?? 'suggested',
    stream_whitelist: customization.stream_whitelist ?? [],
    stream_customizations: customization.stream_customizations ?? {},
    ...(customization.field_customizations?.length && { field_customizations: customization.field_customizations }),
  };
}
