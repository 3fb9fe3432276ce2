export const slowFiles: string[];
export { BaseSequencer as default } from 'vitest/node';
