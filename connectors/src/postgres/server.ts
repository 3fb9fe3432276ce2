/* Which PostgreSQL a configuration names, and as whom and how it is connected to. */
import type { Configuration } from '@inlay/protocol/connector';

type EncryptionMode = 'disable' | 'prefer' | 'require' | 'verify-full';

export interface Server {
  host: string;
  port: number;
  database: string;
  username: string;
  password: string;
  encryption: EncryptionMode;
  caCertificate: string | undefined;
}

export function readServer(config: Configuration): Server {
  const encryption = (config.ssl_mode ?? {}) as { mode?: EncryptionMode; ca_certificate?: string };
  return {
    host: String(config.host),
    port: Number(config.port ?? 5432),
    database: String(config.database),
    username: String(config.username),
    password: String(config.password ?? ''),
    encryption: encryption.mode ?? 'prefer',
    caCertificate: encryption.ca_certificate?.trim() || undefined,
  };
}
