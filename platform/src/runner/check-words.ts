/**
 * What connectors add to the protocol for this platform: the settings at fault, and warnings of a check. Any connector may
 * send anything there, so only what has the right form counts, and only so much.
 */
import { isObject } from '@inlay/contract/catalog/connector-configuration';
import type { CheckWarning } from '@inlay/protocol/protocol';

const maxFields = 10;
const maxWarnings = 20;
const maxLength = 500;

/** Spread into a failure; empty if no settings are named. */
export function namedFields(fields: unknown): { fields?: string[] } {
  const named = Array.isArray(fields) ? fields.filter(isShortText).slice(0, maxFields) : [];
  return named.length > 0 ? { fields: named } : {};
}

/** Spread into an outcome; empty if there are no warnings. */
export function namedWarnings(warnings: unknown): { warnings?: CheckWarning[] } {
  const read = (Array.isArray(warnings) ? warnings : []).flatMap(readWarning).slice(0, maxWarnings);
  return read.length > 0 ? { warnings: read } : {};
}

function readWarning(item: unknown): CheckWarning[] {
  if (!isObject(item) || !isShortText(item.code) || !isShortText(item.message)) return [];
  const { code, message, stream, record_path } = item;
  return [
    {
      code,
      message,
      ...namedFields(item.fields),
      ...(isShortText(stream) && { stream }),
      ...(isShortText(record_path) && { record_path }),
    },
  ];
}

function isShortText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxLength;
}
