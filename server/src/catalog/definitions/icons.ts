/**
 * Icons of connectors. A connector may bring its icon along as a `data:` address. A client that is shown a connector
 * gets an address of this service instead, which serves the image: answers stay small, and a browser loads each icon
 * once. The address changes with the image, so that it may be kept for ever.
 */
import { createHash } from 'node:crypto';
import { isImageContent } from '@inlay/contract/text/formats';
import { AppError } from '../../kernel/errors.ts';
import type { Definition } from './definition.ts';
import type { Definitions } from './definitions.ts';

export interface Icon {
  mediaType: string;
  content: Buffer;
  /** Whether this is exactly the image that was requested, and not a newer image of the same connector. */
  isExact: boolean;
}

export const iconsPath = '/icons';

const dataAddress = /^data:(image\/(?:svg\+xml|png|jpeg|gif|webp))((?:;[^,;]*)*),(.*)$/s;

/** The address of an icon in answers; null for what is no image, or of a type that this service does not serve. */
export function iconAddress(
  { publicUrl }: { publicUrl: string },
  definitionId: string,
  icon: string | null,
): string | null {
  if (icon === null || !icon.startsWith('data:')) return icon;
  return readImage(icon) && `${publicUrl}${iconsPath}/${definitionId}/${editionOf(icon)}`;
}

export async function getIcon(ctx: { definitions: Definitions }, definitionId: string, edition: string): Promise<Icon> {
  const icon = await findGivenIcon(ctx, definitionId.toLowerCase());
  const image = icon === undefined ? null : readImage(icon);
  if (icon === undefined || image === null) throw new AppError('route_not_found');
  return { ...image, isExact: editionOf(icon) === edition };
}

async function findGivenIcon({ definitions }: { definitions: Definitions }, id: string): Promise<string | undefined> {
  for (const kind of ['source', 'destination'] as const) {
    const found: Definition | undefined = (await definitions.list(kind)).find((definition) => definition.id === id);
    if (found) return found.icon ?? undefined;
  }
  return undefined;
}

function editionOf(icon: string): string {
  return createHash('sha256').update(icon).digest('hex').slice(0, 16);
}

function readImage(icon: string): { mediaType: string; content: Buffer } | null {
  const [, mediaType, parameters = '', data = ''] = dataAddress.exec(icon) ?? [];
  if (mediaType === undefined) return null;
  const content = parameters.split(';').includes('base64') ? Buffer.from(data, 'base64') : decoded(data);
  if (!content || !isImageContent(mediaType, content.toString('latin1', 0, 16))) return null;
  return { mediaType, content };
}

function decoded(data: string): Buffer | undefined {
  try {
    return Buffer.from(decodeURIComponent(data));
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
