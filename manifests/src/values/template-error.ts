/** Why a template gave no value. */
export type TemplateFault =
  /** The text is not a valid template. */
  | 'syntax'
  /** A name that nothing defines. */
  | 'unknown_name'
  /** A key below a missing key, or another use of a missing value. */
  | 'missing'
  /** Python's TypeError: an operation that values of these types do not have. */
  | 'type'
  /** Any other error of an operation: a division by zero, a date that cannot be read. */
  | 'value'
  /** A template that takes too many steps, or makes too much. */
  | 'limit';

/** The only error that templates throw. The message is for the author of a manifest. */
export class TemplateError extends Error {
  override name = 'TemplateError';
  readonly fault: TemplateFault;
  /** The text of the template. */
  template: string | undefined;

  constructor(fault: TemplateFault, message: string) {
    super(message);
    this.fault = fault;
  }
}
