import type { Translated } from '../../../words/screen-words.ts';

const en = {
  title: 'Widget playground',
  lead: 'Choose how the widget shall be, and copy the code for your backend and your page.',
  settings: 'Settings',
  customer: 'Name of the customer',
  customerHint: 'As your backend knows the customer. There is a workspace of this name, or it is made.',
  origin: 'Origin of your page',
  originHint: 'Scheme and host of the page that shows the widget.',
  language: 'Language',
  automatic: 'As the browser has it',
  scheme: 'Theme',
  schemes: { auto: 'As the customer has it', light: 'Light', dark: 'Dark' },
  color: 'Colour of buttons and links',
  colorHint: 'Such as #4f46e5. Left empty: ours.',
  radius: 'Roundness of corners, in pixels',
  tags: 'Only sources with these tags',
  tagsHint: 'Separated by commas. Left empty: all.',
  mode: 'A source needs',
  modes: { any: 'one of the tags', all: 'all of the tags' },
  backend: 'In your backend',
  page: 'In your page',
  languageOfCode: 'Language of the code',
  copy: 'Copy',
  offered: 'What this customer would be offered',
  template: 'Template',
  shown: 'Offered',
  yes: 'Yes',
  no: 'No',
  why: 'Why',
  nothing: 'There is no template yet. Make one of a connector.',
  toConnectors: 'Choose a connector',
};

export default en;
export type PlaygroundWords = Translated<typeof en>;
