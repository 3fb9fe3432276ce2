/**
 * Text formats used by the contract's schemas. Each returns one sentence that says what is accepted, or undefined. Pure
 * and platform-independent, so that server and browser apply the same rule.
 */

import type { FaultType } from '../errors.ts';
import { isCssColor } from './css-colors.ts';
import { originFault } from './origins.ts';
import { placeholderFault } from './placeholders.ts';
import { isFontFamily, isImageAddress, shortTextFault } from './text-rules.ts';

export interface Format {
  /** The `type` of the fault that the API reports. */
  type: FaultType;
  fault(text: string): string | undefined;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const dateTime = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const jobId = /^[0-9A-Za-z-]{1,64}$/;
const maxIconLength = 22_000;
/** No SVG: a drawing can hold script, and a browser that opens its address would run it. */
const iconData = /^data:(image\/(?:png|jpeg|gif|webp));base64,([A-Za-z0-9+/]{16,})={0,2}$/;

/** Magic bytes of image formats. A browser that sniffs content would trust them over the media type. */
const imageSignatures: Readonly<Record<string, RegExp>> = {
  'image/png': /^\x89PNG\r\n.\n/,
  'image/jpeg': /^\xff\xd8\xff/,
  'image/gif': /^GIF8[79]a/,
  'image/webp': /^RIFF[\s\S]{4}WEBP/,
};

/** `start`: the first bytes of the content, one character each. Types without a signature always match. */
export function isImageContent(mediaType: string, start: string): boolean {
  return imageSignatures[mediaType]?.test(start) ?? true;
}

function isIconData(text: string): boolean {
  const [, mediaType, data = ''] = iconData.exec(text) ?? [];
  return mediaType !== undefined && isImageContent(mediaType, atob(data.slice(0, 16)));
}

/** A day that does not exist would otherwise become the first of the next month. */
function isTime(text: string): boolean {
  const day = dateTime.exec(text)?.[1];
  if (day === undefined || Number.isNaN(Date.parse(text))) return false;
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

export const formats: Readonly<Record<string, Format>> = {
  uuid: {
    type: 'type_error.uuid',
    fault: (text) => (uuid.test(text) ? undefined : 'value is not a valid uuid'),
  },
  'date-time': {
    type: 'value_error.datetime',
    fault: (text) => (isTime(text) ? undefined : 'use a timestamp such as 2026-01-31T09:30:00Z'),
  },
  'job-id': {
    type: 'value_error',
    fault: (text) => (jobId.test(text) ? undefined : 'a job id must have 1 to 64 letters, digits and hyphens'),
  },
  name: { type: 'value_error.name', fault: (text) => shortTextFault('a name', text) },
  tag: {
    type: 'value_error.tag',
    // A tag is part of a path, where these two mean something else.
    fault: (text) => (/^\.\.?$/.test(text) ? 'a tag must not be . or ..' : shortTextFault('a tag', text)),
  },
  'placeholder-text': {
    type: 'value_error.placeholder',
    fault: (text) => placeholderFault(text) ?? (text === '' ? undefined : shortTextFault('the text', text)),
  },
  'search-text': {
    type: 'value_error.text',
    fault: (text) =>
      text.includes('\0') || !text.isWellFormed() ? 'the text must be valid Unicode without NUL characters' : undefined,
  },
  'short-text': { type: 'value_error.text', fault: (text) => shortTextFault('the text', text) },
  'css-color': {
    type: 'value_error.color',
    fault: (text) => (isCssColor(text) ? undefined : 'use a CSS colour such as #4f46e5, rgb(79 70 229) or teal'),
  },
  'font-family': {
    type: 'value_error.font',
    fault: (text) => (isFontFamily(text) ? undefined : 'use a list of fonts such as Inter, system-ui, sans-serif'),
  },
  'image-address': {
    type: 'value_error.url',
    fault: (text) =>
      isImageAddress(text) ? undefined : 'use an http:// or https:// URL such as https://app.example.com/logo.svg',
  },
  'icon-address': {
    type: 'value_error.icon',
    fault: (text) =>
      text.length <= maxIconLength && (isIconData(text) || (URL.canParse(text) && /^https:\/\//i.test(text)))
        ? undefined
        : 'use an https:// URL, or a PNG, JPEG, GIF or WebP image of at most 16 kB as a data: URL',
  },
  'web-origin': { type: 'value_error.origin', fault: originFault },
};
