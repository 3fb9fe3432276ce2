import { formatting } from '../../words/formatting.ts';

export const words = {
  version: 'Version',
  made: 'Changed',
  title: 'Versions',
  current: 'now',
  copyOf: (version: number) => `as version ${formatting.number(version)}`,
  changes: 'What it changed',
  first: 'Nothing before it',
  by: 'By',
};
