/** The words of forms. The English file is the model of the others. */
const words = {
  optional: 'optional',
  optionalSettings: 'Optional settings',
  choose: 'Choose…',
  notSet: 'Not set',
  format: (example: string) => `Format: ${example}`,
  utc: 'The time is in UTC.',
  show: (title: string) => `Show ${title}`,
  saved: 'Saved, unchanged',
  keepSaved: 'Keep the saved value',
  secretAnew: 'The address has changed. Enter this secret again.',
  add: 'Add',
  addTo: (title: string) => `Add: ${title}`,
  remove: (title: string) => `Remove ${title}`,
  numbered: (title: string, number: number) => `${title} ${number}`,
  /** For two or more fields. */
  faulty: (count: number) => `${count} fields need your attention.`,
  faults: {
    required: 'Please fill this in.',
    choose: 'Please choose.',
    number: 'Please enter a number.',
    integer: 'Please enter a whole number.',
    json: 'Please enter valid JSON of the right kind.',
    minimum: (limit: number) => `Must be ${limit} or more.`,
    maximum: (limit: number) => `Must be ${limit} or less.`,
    moreThan: (limit: number) => `Must be more than ${limit}.`,
    lessThan: (limit: number) => `Must be less than ${limit}.`,
    multipleOf: (step: number) => `Must be a multiple of ${step}.`,
    minLength: (limit: number) => `Must have at least ${limit} characters.`,
    maxLength: (limit: number) =>
      limit === 1 ? 'Must be a single character.' : `Must have at most ${limit} characters.`,
    minItems: (limit: number) => (limit === 1 ? 'Please add at least one.' : `Please add at least ${limit}.`),
    maxItems: (limit: number) => (limit === 1 ? 'Only one is possible.' : `At most ${limit} are possible.`),
    uniqueItems: 'The same value is here twice.',
    pattern: (wanted: string) => `Must have the format ${wanted}`,
    format: {
      email: 'Please enter an e-mail address.',
      uri: 'Please enter a full address, such as https://example.com.',
      date: 'Please enter a date.',
      'date-time': 'Please enter a date and a time.',
      other: 'This does not have the expected format.',
    },
    other: 'This value is not possible here.',
  },
};

export default words;
