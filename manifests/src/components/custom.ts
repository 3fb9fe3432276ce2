/* Components that are written in code. A manifest is data, so this engine runs none of that code. */
import type { ComponentDefinition } from '../component.ts';
import { asText } from '../manifest/problems.ts';

export const passedOverMigration: ComponentDefinition = {
  name: 'CustomStateMigration',
  step: 'S1',
  words: 'Migrates a state from an older version with code. Ignored, because only states from other platforms need it.',
  options: {},
  note: ({ class_name: name }) =>
    `CustomStateMigration "${asText(name)}" is ignored, because only states from other platforms need it`,
  make: () => (state: Record<string, unknown>) => state,
};

export const customComponents = [passedOverMigration];
