import { formatting } from '../../words/formatting.ts';

export const words = {
  version: 'Version',
  made: 'Created',
  title: 'Versions',
  current: 'current',
  copyOf: (version: number) => `restored from version ${formatting.number(version)}`,
  changes: 'Changes',
  first: 'No earlier version',
  by: 'Author',
  restore: 'Restore',
  restoreOf: (version: number) => `Restore version ${formatting.number(version)}`,
};
