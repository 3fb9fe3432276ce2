/**
 * The process: starts the service or the bundled platform alone, greets the operator, and shuts down cleanly on
 * signals.
 */
import { type Config, isLoopback, type Secrets } from '../kernel/config/config.ts';
import { openDataDir } from '../kernel/config/data-dir.ts';
import { openSealer } from '../kernel/config/encryption-keys.ts';
import { systemRuntime } from '../kernel/runtime.ts';
import { createApp } from './app.ts';
import { openBundledPlatform, platformCredentials, platformPath } from './bundled-platform.ts';
import { openCredentialChannel } from './credential-channel.ts';
import { upgrade } from './deployment/upgrade.ts';
import { openTracer } from './open-tracer.ts';
import { openLog, stopOnSignal } from './running-process.ts';

export async function startService(config: Config, secrets: Secrets): Promise<void> {
  const { log, storage } = openLog(config);
  const app = await createApp(config, secrets, { log, storage });
  try {
    await app.listen();
  } catch (error) {
    await app.close();
    throw error;
  }
  stopOnSignal(() => app.close(), log);
  const generated = await app.makeFirstOperatorToken();
  // At the very first start only: later, `inlay console link` makes one for those who may use the command line.
  const link = generated && config.console ? (await app.makeConsoleLink()).url : undefined;
  process.stdout.write(
    greeting(config, {
      organizationId: app.organization.id,
      generated,
      link,
      configured: secrets.operatorToken !== undefined,
    }),
  );
}

interface Greeted {
  organizationId: string;
  /** What was made at the very first start. */
  generated: string | undefined;
  link: string | undefined;
  /** Whether the environment holds an operator token. */
  configured: boolean;
}

function greeting(config: Config, { organizationId, generated, link, configured }: Greeted): string {
  const lines = [
    '',
    '  Inlay is running.',
    '',
    `  Address        ${config.publicUrl}`,
    `  API reference  ${config.publicUrl}/docs`,
    ...(config.console ? [`  Console        ${config.publicUrl}/console`] : []),
    `  Organization   ${organizationId}`,
  ];
  if (generated) {
    lines.push(`  Operator token ${generated}`, '', "  Save the operator token now. You won't see it again.");
  }
  if (link) {
    lines.push('', '  Sign in to the console with this link. It works once, within 15 minutes:', '', `    ${link}`);
  }
  // In double quotes the shell fills in the variable.
  const header = generated ? `'Authorization: Bearer ${generated}'` : '"Authorization: Bearer $INLAY_OPERATOR_TOKEN"';
  lines.push(
    '',
    '  Try it:',
    '',
    `    curl -X POST ${config.publicUrl}/api/v1/embedded/scoped-token \\`,
    `      -H ${header} -H 'Content-Type: application/json' \\`,
    `      -d '{"workspace_name": "my-first-customer"}'`,
  );
  if (!generated && !configured) {
    lines.push('', '  Lost the operator token? Create a new one: inlay operator-token create --name <name>');
  }
  if (!isLoopback(config.host) && new URL(config.publicUrl).hostname === 'localhost') {
    lines.push('', '  Other machines can reach this service, but its links point to localhost. Set INLAY_PUBLIC_URL.');
  }
  return `${lines.join('\n')}\n\n`;
}

/** The bundled platform as a service of its own, for several replicas that share it. */
export async function startPlatform(config: Config, secrets: Secrets): Promise<void> {
  const { log, storage } = openLog(config);
  const dataDir = openDataDir(config.dataDir);
  await upgrade({ config, secrets, store: undefined, runtime: systemRuntime, tell: (line) => log.info(line) });
  const application = platformCredentials(secrets, dataDir);
  const channel = openCredentialChannel({ serviceUrl: config.serviceUrl, application, runtime: systemRuntime, log });
  const tracer = await openTracer(config, secrets, { runtime: systemRuntime, log });
  const { app, platform, close } = await openBundledPlatform(config, application, {
    dataDir,
    databaseUrl: secrets.platformDatabaseUrl,
    sealer: openSealer(secrets, dataDir),
    log,
    storage,
    tracer,
    credentials: channel,
    organizationId: config.platformOrganizationId,
    isInternal: false,
  });
  await app.listen({ host: config.host, port: config.port });
  platform.start();
  stopOnSignal(async () => {
    try {
      await close();
    } finally {
      storage.close();
      await channel.close();
      await tracer.close();
    }
  }, log);
  const from = secrets.platformClientId ? 'the environment' : dataDir.path('platform-credentials.json');
  process.stdout.write(
    [
      '',
      '  The bundled platform is running.',
      '',
      `  INLAY_PLATFORM_URL            ${config.publicUrl}${platformPath}`,
      `  INLAY_PLATFORM_CLIENT_ID      from ${from}`,
      `  INLAY_PLATFORM_CLIENT_SECRET  from ${from}`,
      '',
      config.serviceUrl === undefined
        ? '  INLAY_SERVICE_URL is not set. Until it is, syncs of sources with a customer sign-in wait.'
        : `  Access tokens of customers who signed in come from ${config.serviceUrl}.`,
      '',
      '',
    ].join('\n'),
  );
}
