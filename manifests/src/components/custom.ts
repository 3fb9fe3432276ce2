/* Components that are written in code. A manifest is data, so this engine runs none of that code. */
import type { ComponentDefinition } from '../component.ts';
import { asText } from '../manifest/problems.ts';

export const passedOverMigration: ComponentDefinition = {
  name: 'CustomStateMigration',
  step: 'S1',
  words: 'Brings a state of an older version up to date with code. Passed over: only states from elsewhere need it.',
  options: {},
  note: ({ class_name: name }) =>
    `CustomStateMigration "${asText(name)}" is passed over: only states from elsewhere need it`,
  make: () => (state: Record<string, unknown>) => state,
};

export const customComponents = [passedOverMigration];
