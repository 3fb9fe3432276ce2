import type { Translated } from '../../../words/screen-words.ts';

const en = {
  title: 'Audit',
  type: 'Type',
  who: 'Who',
  what: 'Customer',
  outcome: 'Outcome',
  outcomes: { done: 'Done', refused: 'Refused' },
  when: 'When',
  from: 'From',
  client: 'Client',
  position: 'Position',
  request: 'Request',
  hash: 'Hash',
  organization: 'the whole organization',
  exportAs: (format: string) => `Export as ${format}`,
  nothing: 'Nothing is in the trail yet.',
  missing: 'There is no such entry. It may no longer be kept.',
  changes: 'Before and after',
  noChanges: 'Nothing to tell of before and after, or it was erased.',
  place: 'Place',
  before: 'Before',
  after: 'After',
  data: 'What is told of it',
  copyData: 'Copy as JSON',
};

export default en;
export type AuditWords = Translated<typeof en>;
