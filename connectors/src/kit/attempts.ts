/*
 * Which attempt a destination writes for. An attempt that lost its lease may still run somewhere, and its last bytes may
 * arrive after the next attempt has finished; destinations recognize it by its epoch.
 */

import { ConnectorError } from '@inlay/protocol/connector';
import type { ConfiguredCatalog } from '@inlay/protocol/protocol';

export interface Attempt {
  /** The connection. Each has its own epochs: several connections may write to the same place. */
  writer: string;
  epoch: number;
}

/** Undefined for a connector that was started by hand, or by a platform of an earlier release. */
export function attemptOf({ streams }: ConfiguredCatalog): Attempt | undefined {
  const { inlay_writer: writer, inlay_epoch: epoch } = streams[0] ?? {};
  return writer !== undefined && epoch !== undefined ? { writer, epoch } : undefined;
}

export function overtaken(cause?: unknown): ConnectorError {
  return new ConnectorError('A later attempt of this sync has taken over, so nothing more was written.', {
    cause,
    failureType: 'transient_error',
  });
}
