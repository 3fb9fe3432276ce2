/** Definitions of a platform that describes its connectors itself, as the bundled one does. */
import type { Logger } from 'pino';
import { AppError } from '../../kernel/errors.ts';
import type { ConnectorKind, PlatformDefinition } from '../../kernel/platform/pipelines-port.ts';
import { PlatformError, type PlatformPort } from '../../kernel/platform/platform-port.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import { byName, type Definition } from './definition.ts';
import type { Definitions } from './definitions.ts';
import { keepFresh } from './keep-fresh.ts';

/** Short: a person who adds a connector to the platform wants to see it. */
const maxAgeMs = 2_000;
const pauseMs = 1_000;

interface PlatformDefinitionsOptions {
  platform: PlatformPort;
  runtime: Runtime;
  log: Logger;
}

export function createPlatformDefinitions({ platform, runtime, log }: PlatformDefinitionsOptions): Definitions {
  const keep = (kind: ConnectorKind) =>
    keepFresh({
      read: async () => byName((await platform.listDefinitions(kind)).flatMap((item) => readDefinition(kind, item))),
      maxAgeMs,
      pauseMs,
      runtime,
      onFailure: (err, isStale) => {
        if (isStale) log.warn({ err }, 'Failed to list platform connectors; using cached list');
      },
    });
  const kept = { source: keep('source'), destination: keep('destination') };
  return { list: (kind) => kept[kind]().catch(asUnavailable) };
}

function asUnavailable(cause: unknown): never {
  if (cause instanceof PlatformError) throw new AppError('definitions_unavailable', {}, { cause });
  throw cause;
}

function readDefinition(kind: ConnectorKind, { specification, iconUrl, ...item }: PlatformDefinition): Definition[] {
  if (!specification) return [];
  return [
    {
      ...item,
      kind,
      icon: iconUrl,
      documentationUrl: specification.documentationUrl ?? null,
      supportLevel: null,
      specification,
      suggestedStreams: [],
    },
  ];
}

/** Whether the platform says how its connectors are configured. Throws when that cannot be found out just now. */
export async function describesConnectors(platform: PlatformPort): Promise<boolean> {
  try {
    return (await platform.listDefinitions('source')).some(({ specification }) => specification !== undefined);
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    if (error.failure === 'unavailable' || error.failure === 'throttled') asUnavailable(error);
    return false; // The platform has no such listing, or our credentials may not read it.
  }
}
