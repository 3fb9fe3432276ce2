/** What the command line takes as an argument or option. */
import { InvalidArgumentError } from 'commander';

export function uuid(text: string): string {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) throw new InvalidArgumentError('Must be a UUID.');
  return text.toLowerCase();
}

export function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 36_500)) throw new InvalidArgumentError('Must be a number greater than 0.');
  return value;
}

export function time(text: string): string {
  if (Number.isNaN(Date.parse(text))) throw new InvalidArgumentError('Must be a time such as 2026-01-31T09:30:00Z.');
  return new Date(text).toISOString();
}

export function count(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError('Must be a whole number from 1 to 9999.');
  return Number(text);
}

const word = /^[A-Za-z0-9]([A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?$/;

/** `region=eu`, once for each label. */
export function label(text: string, labels: Record<string, string> = {}): Record<string, string> {
  const [key = '', value = '', ...rest] = text.split('=');
  if (rest.length > 0 || !word.test(key) || !word.test(value)) {
    throw new InvalidArgumentError('Must be key=value, of letters, digits and . _ / -');
  }
  return { ...labels, [key]: value };
}
