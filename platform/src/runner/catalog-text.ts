/**
 * Catalogs as text, for the database and for connectors. A catalog can have ten thousand streams, so it is written and
 * read in pieces, one stream per line.
 */

import type { Catalog, ConfiguredCatalog, Stream } from '@inlay/protocol/protocol';
import { longListText, mapInPieces, readLongList } from '@inlay/schedule/pieces';

const start = '{"streams":';

export async function catalogText({ streams }: Catalog | ConfiguredCatalog): Promise<string> {
  return `${start}${await longListText(streams)}}`;
}

/** Also reads catalogs of earlier versions: on one line, and with null for what a stream does not have. */
export async function readCatalog(text: string): Promise<Catalog> {
  const streams = text.startsWith(start) ? await readLongList(text.slice(start.length, -1)) : undefined;
  return streams ? { streams: streams as Stream[] } : await withoutNulls(JSON.parse(text));
}

/** As the rest of the platform knows catalogs: connectors may write what a stream does not have as null. */
export async function withoutNulls({ streams, ...rest }: Catalog): Promise<Catalog> {
  const present = (stream: Stream) => Object.fromEntries(Object.entries(stream).filter(([, value]) => value !== null));
  return { ...rest, streams: await mapInPieces(streams, (stream) => present(stream) as unknown as Stream) };
}
