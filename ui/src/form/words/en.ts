/** Texts of forms. The English file defines the keys of the others. */
const words = {
  optional: 'optional',
  optionalSettings: 'Optional settings',
  choose: 'Choose…',
  notSet: 'Not set',
  format: (example: string) => `Format: ${example}`,
  utc: 'Time is in UTC.',
  show: (title: string) => `Show ${title}`,
  saved: 'Saved value',
  keepSaved: 'Keep saved value',
  reenterSecret: 'The address changed. Enter this secret again.',
  add: 'Add',
  addTo: (title: string) => `Add to ${title}`,
  remove: (title: string) => `Remove ${title}`,
  numbered: (title: string, number: number) => `${title} ${number}`,
  /** For two or more fields. */
  faulty: (count: number) => `${count} fields need your attention.`,
  faults: {
    required: 'This field is required.',
    choose: 'Make a selection.',
    number: 'Enter a number.',
    integer: 'Enter a whole number.',
    json: 'Enter valid JSON of the expected type.',
    minimum: (limit: number) => `Must be ${limit} or more.`,
    maximum: (limit: number) => `Must be ${limit} or less.`,
    moreThan: (limit: number) => `Must be more than ${limit}.`,
    lessThan: (limit: number) => `Must be less than ${limit}.`,
    multipleOf: (step: number) => `Must be a multiple of ${step}.`,
    minLength: (limit: number) => `Must be at least ${limit} characters.`,
    maxLength: (limit: number) =>
      limit === 1 ? 'Must be a single character.' : `Must be at most ${limit} characters.`,
    minItems: (limit: number) => (limit === 1 ? 'Add at least one item.' : `Add at least ${limit} items.`),
    maxItems: (limit: number) => (limit === 1 ? 'Only one item is allowed.' : `At most ${limit} items are allowed.`),
    uniqueItems: 'Duplicate items aren’t allowed.',
    pattern: (wanted: string) => `Must match the format ${wanted}`,
    format: {
      email: 'Enter an email address.',
      uri: 'Enter a full URL, such as https://example.com.',
      date: 'Enter a date.',
      'date-time': 'Enter a date and time.',
      other: 'Must match the expected format.',
    },
    other: 'This value isn’t allowed.',
  },
};

export default words;
