/** A connector as the platform reads it. */
import type { NewPlatformConnector } from './pipelines-port.ts';

export function bodyOf({ credential, ...connector }: Partial<NewPlatformConnector>): object {
  if (!credential) return connector;
  const { id, fields, handOver } = credential;
  return { ...connector, credential: { id, fields, hand_over: handOver } };
}
