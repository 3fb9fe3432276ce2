import type { Translated } from '../../words/screen-words.ts';

const en = {
  sees: (customer: string) => `What ${customer} sees`,
  readOnly: 'Read-only: nothing can be changed here. The audit trail says that you have looked.',
  frame: 'Widget',
  language: 'Language',
  automatic: 'As the browser has it',
  scheme: 'Theme',
  schemes: { auto: 'As the system has it', light: 'Light', dark: 'Dark' },
  notLoaded: 'The widget has not loaded. Check your connection, then try again.',
  refused: 'The service no longer accepts this view. Try again.',
  ended: 'Your session has ended, and this view with it.',
  preview: 'Preview',
  draft: 'What a new customer would see of this template. It is not saved.',
  lastGood: 'This draft cannot be shown. The picture is of the last one that could.',
  notYet: 'This draft cannot be shown yet.',
};

export default en;
export type FrameWords = Translated<typeof en>;
