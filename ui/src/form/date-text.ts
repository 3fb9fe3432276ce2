/**
 * Translates dates between a specification and the browser's date controls, which know one format each. A specification
 * may want another format and give a pattern: then the first usual format that matches the pattern is written.
 */
import type { JsonSchema } from '@inlay/contract/catalog/connector-configuration';
import { compiled } from './validation.ts';

type Format = (date: string, time: string) => string;

const formats: Record<'date' | 'date-time', readonly Format[]> = {
  date: [(date) => date, (date) => `${date}T00:00:00Z`],
  'date-time': [
    (date, time) => `${date}T${time}Z`,
    (date, time) => `${date}T${time}.000Z`,
    (date, time) => `${date}T${time}.000000Z`,
    (date, time) => `${date}T${time}+00:00`,
    (date, time) => `${date}T${time}`,
    (date, time) => `${date} ${time}`,
    (date) => date,
  ],
};

const written = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:\.0+)?)?(?:Z|\+00:00)?)?$/;

/**
 * What the control holds for a text. Undefined: the control cannot show the text, or cannot write the wanted format.
 */
export function toControl(kind: 'date' | 'date-time', schema: JsonSchema, text: unknown): string | undefined {
  if (!formatFor(kind, schema)) return undefined;
  if (text === undefined || text === null || text === '') return '';
  const [, date, time = '00:00', seconds = '00'] = (typeof text === 'string' && written.exec(text)) || [];
  if (date === undefined) return undefined;
  if (kind === 'date') return `${time}:${seconds}` === '00:00:00' ? date : undefined;
  return `${date}T${time}${seconds === '00' ? '' : `:${seconds}`}`;
}

/** The text for what the control holds. */
export function fromControl(kind: 'date' | 'date-time', schema: JsonSchema, value: string): string | undefined {
  const [date = '', time = '00:00'] = value.split('T');
  if (date === '') return undefined;
  return formatFor(kind, schema)?.(date, time.length === 5 ? `${time}:00` : time);
}

function formatFor(kind: 'date' | 'date-time', { pattern }: JsonSchema): Format | undefined {
  const samples = formats[kind].map((format) => ({ format, text: format('2024-01-31', '13:30:00') }));
  const found = samples.find(({ text }) => compiled(pattern, text.length)?.test(text) ?? true);
  return found?.format;
}
