/** Secrets in files, as container platforms and systemd hand them over: `INLAY_ENCRYPTION_KEY_FILE` names a file that holds the key. */
import { readFileSync } from 'node:fs';
import type { Variable } from './variables.ts';

export const secretVariables = [
  'INLAY_DATABASE_URL',
  'INLAY_PLATFORM_DATABASE_URL',
  'INLAY_OPERATOR_TOKEN',
  'INLAY_PLATFORM_CLIENT_ID',
  'INLAY_PLATFORM_CLIENT_SECRET',
  'INLAY_ENCRYPTION_KEY',
  'INLAY_WORKER_TOKEN',
  'INLAY_METRICS_TOKEN',
  'INLAY_CONSOLE_OIDC_CLIENT_SECRET',
  'INLAY_BACKUP_PASSPHRASE',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'OTEL_EXPORTER_OTLP_HEADERS',
] as const satisfies readonly Variable[];

export const secretFileVariables: readonly string[] = secretVariables.map((name) => `${name}_FILE`);

/** The environment with each secret in place of the file that holds it. */
export function withSecretFiles(
  env: Readonly<Record<string, string | undefined>>,
  faults: string[],
): Record<string, string | undefined> {
  const read = { ...env };
  for (const name of secretVariables) {
    const path = env[`${name}_FILE`];
    if (!path) continue;
    if (env[name]) {
      faults.push(`${name} and ${name}_FILE are both set. Unset one of them.`);
      continue;
    }
    try {
      read[name] = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
      if (read[name] === '') faults.push(`${name}_FILE names ${path}, which is empty.`);
    } catch (error) {
      faults.push(`${name}_FILE names ${path}, which cannot be read: ${reasonOf(error)}.`);
    }
  }
  return read;
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EACCES') return 'permission denied';
  if (code === 'EISDIR') return 'it is a directory';
  return code ?? message;
}
