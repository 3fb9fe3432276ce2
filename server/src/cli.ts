/** The command line. Every command reads the same environment as the service. */
import { resolve } from 'node:path';
import type { Definition } from '@inlay/platform/definitions/definitions';
import {
  listRegisteredDefinitions,
  type Registration,
  registerDefinition,
  removeDefinition,
} from '@inlay/platform/definitions/registered-definitions';
import type { OpenPlatform } from '@inlay/platform/open-platform';
import { Problem } from '@inlay/platform/problems';
import { RunFailure } from '@inlay/platform/runner/runner';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { openBundledPlatform, platformCredentials } from './bundled-platform.ts';
import { readConfig } from './config.ts';
import { openDataDir } from './data-dir.ts';
import { migrate } from './db/migrations.ts';
import type { Store } from './db/open.ts';
import { resealEverything } from './db/resealing.ts';
import { isStorageFailure } from './db/storage-failure.ts';
import { examine } from './doctor.ts';
import { openSealer, replaceEncryptionKey } from './encryption-keys.ts';
import { AppError, OperatorError } from './errors.ts';
import { createLog } from './log.ts';
import { startPlatform, startService } from './main.ts';
import { createOrganization, findOrganization, listOrganizations } from './organizations/organizations.ts';
import { openStore } from './parts.ts';
import { systemRuntime } from './runtime.ts';
import { createOperatorTokens, type OperatorTokens, rotationAdvisedAfterDays } from './tokens/operator-tokens.ts';
import { listSigningKeys, removeSigningKey, rotateSigningKeys } from './tokens/signing-keys.ts';
import { version } from './version.ts';

const program = new Command('inlay')
  .description('Embedded data-integration set-up for your customers.')
  .version(version)
  .showHelpAfterError('(run with --help for what it takes)')
  .addHelpText(
    'after',
    '\nConfiguration comes from the environment; docs/reference/configuration.md lists the variables.\nStart here: inlay start',
  );

program
  .command('start')
  .description('run the service, and the bundled platform unless INLAY_PLATFORM_URL is set')
  .action(async () => {
    const { config, secrets } = readConfig(process.env);
    await startService(config, secrets);
  });

program
  .command('migrate')
  .description('bring the database to this version (start does it, too)')
  .action(() =>
    withOpenStore(async (store) => {
      const applied = await migrate(store);
      print(applied.length === 0 ? 'The database is up to date.' : `Applied: ${applied.join(', ')}`);
    }),
  );

const organization = program.command('organization').description('operators that share this deployment');
organization
  .command('create')
  .description('add an organization and print its first operator token')
  .requiredOption('--name <name>', 'what to call it')
  .option('--id <uuid>', 'its id; a new one if not given', uuid)
  .option('--platform-organization-id <id>', 'its id on the platform; the same if not given')
  .action((options: { name: string; id?: string; platformOrganizationId?: string }) =>
    withStore(async (store) => {
      if (options.id && (await findOrganization(store, options.id))) {
        throw new OperatorError(`There is an organization ${options.id} already.`);
      }
      const { id } = await createOrganization(store, systemRuntime, options);
      const { token } = await operatorTokens(store).create(id, { name: 'first' });
      print(`Organization   ${id}`, `Operator token ${token}`, '', 'The operator token is shown this once.');
    }),
  );
organization
  .command('list')
  .description('list the organizations')
  .action(() =>
    withStore(async (store) => {
      const rows = await listOrganizations(store);
      table(
        ['ID', 'NAME', 'PLATFORM ORGANIZATION', 'CREATED'],
        rows.map((row) => [row.id, row.name, row.platform_organization_id, day(row.created_at)]),
      );
    }),
  );

const organizationOption = () =>
  new Option('--organization <uuid>', 'the organization; needed when there are several').argParser(uuid);
const operatorToken = program.command('operator-token').description("credentials of an operator's backend");
operatorToken
  .command('create')
  .description('create an operator token and print it, this once')
  .requiredOption('--name <name>', 'what it is for')
  .addOption(
    new Option('--permission <permission>', 'read may call GET endpoints only')
      .choices(['full', 'read'])
      .default('full'),
  )
  .option('--expires-in-days <days>', 'when it stops working; never if not given', positive)
  .addOption(organizationOption())
  .action((options: { name: string; permission: 'full' | 'read'; expiresInDays?: number; organization?: string }) =>
    withStore(async (store) => {
      const { id, token } = await operatorTokens(store).create(await chosenOrganization(store, options), {
        name: options.name,
        permission: options.permission,
        expiresAt: inDays(options.expiresInDays),
      });
      print(`ID             ${id}`, `Operator token ${token}`, '', 'The token is shown this once.');
    }),
  );
operatorToken
  .command('list')
  .description('list operator tokens, without their secrets')
  .addOption(organizationOption())
  .action((options: { organization?: string }) =>
    withStore(async (store) => {
      const rows = await operatorTokens(store).list(await chosenOrganization(store, options));
      table(
        ['ID', 'NAME', 'PERMISSION', 'CREATED', 'LAST USED', 'STATE'],
        rows.map((row) => [row.id, row.name, row.permission, day(row.created_at), day(row.last_used_at), stateOf(row)]),
      );
      const old = rows.filter(
        (row) => stateOf(row) === 'active' && ageInDays(row.created_at) > rotationAdvisedAfterDays,
      );
      if (old.length > 0) {
        print(
          '',
          `Older than ${rotationAdvisedAfterDays} days, please rotate: ${old.map((row) => row.name).join(', ')}`,
        );
        print('  inlay operator-token rotate <id> --overlap-hours 24');
      }
    }),
  );
operatorToken
  .command('revoke')
  .description('revoke an operator token, for a running service within two seconds')
  .argument('<id>', 'the token, as operator-token list shows it', uuid)
  .addOption(organizationOption())
  .action((id: string, options: { organization?: string }) =>
    withStore(async (store) => {
      const { name } = await operatorTokens(store).revoke(await chosenOrganization(store, options), id);
      print(`Revoked ${name} (${id}).`);
    }),
  );
operatorToken
  .command('rotate')
  .description('create a token like this one, with its expiry, and revoke this one now or after an overlap')
  .argument('<id>', 'the token, as operator-token list shows it', uuid)
  .option('--overlap-hours <hours>', 'how long both work', positive, 0)
  .option('--expires-in-days <days>', "when the new token stops working; the old token's expiry if not given", positive)
  .addOption(organizationOption())
  .action((id: string, options: { overlapHours: number; expiresInDays?: number; organization?: string }) =>
    withStore(async (store) => {
      const { overlapHours, expiresInDays } = options;
      const organizationId = await chosenOrganization(store, options);
      const fresh = await operatorTokens(store).rotate(organizationId, id, {
        overlapSeconds: Math.round(overlapHours * 3600),
        expiresAt: inDays(expiresInDays),
      });
      print(`ID             ${fresh.id}`, `Operator token ${fresh.token}`, '', 'The token is shown this once.');
      if (fresh.expires_at !== null) print(`It stops working at ${fresh.expires_at}.`);
      print(overlapHours > 0 ? `The old one works for another ${overlapHours} h.` : 'The old one is revoked.');
    }),
  );

const keys = program.command('keys').description('the keys that sign scoped and widget tokens');
keys
  .command('list')
  .description('list the signing keys')
  .action(() =>
    withStore(async (store) => {
      const rows = await listSigningKeys(store);
      table(
        ['KEY', 'CREATED', 'STATE'],
        rows.map((row) => [
          row.kid,
          day(row.created_at),
          row.retired_at === null ? 'signs' : `retired ${day(row.retired_at)}`,
        ]),
      );
    }),
  );
keys
  .command('rotate')
  .description('make a new signing key; tokens of the old ones stay valid until they are removed')
  .action(() =>
    withStore(async (store) => {
      const { config, secrets } = readConfig(process.env);
      const kid = await rotateSigningKeys(store, openSealer(secrets, openDataDir(config.dataDir)));
      print(`New key ${kid}. It is published at once and signs in about ten seconds.`);
      print('Old tokens stay valid. To end them: inlay keys list, then inlay keys remove <key>');
    }),
  );
keys
  .command('remove')
  .description('remove a retired key: every token it signed stops working')
  .argument('<key>', 'the key, as keys list shows it')
  .action((kid: string) =>
    withStore(async (store) => {
      if (!(await removeSigningKey(store, kid))) {
        throw new OperatorError(`There is no retired key ${kid}. See: inlay keys list`);
      }
      print(`Removed ${kid}. Its tokens are refused within a few seconds.`);
    }),
  );

program
  .command('encryption-key')
  .description('the key that encrypts stored secrets')
  .command('rotate')
  .description('encrypt every stored secret again, with a new key or with the first key of INLAY_ENCRYPTION_KEY')
  .action(() =>
    withStore(async (store) => {
      const { config, secrets } = readConfig(process.env);
      const dataDir = openDataDir(config.dataDir);
      await replaceEncryptionKey(secrets, dataDir, async (sealer) => {
        const count = await resealEverything(store.db, sealer);
        if (config.platformUrl === undefined) await withPlatform((platform) => platform.reseal());
        print(`${count} secrets are encrypted with the new key.`);
      });
      if (secrets.encryptionKeys) print('INLAY_ENCRYPTION_KEY needs only its first key now.');
      else print('The data directory holds a new key. Restart the service, and make a new backup.');
    }),
  );

const connector = program.command('connector').description('connectors added to the bundled platform of this machine');
connector
  .command('add')
  .description('add a connector: a program that speaks the connector protocol, or a Docker image of one')
  .option('--source', 'it is a source')
  .option('--destination', 'it is a destination')
  .requiredOption('--name <name>', 'what to call it')
  .option('--image <image>', 'the image, as in repository:tag')
  .option('--directory <path>', 'the folder the command runs in; this one if not given')
  .argument('[command...]', 'the program and its arguments, after --; relative paths count from that folder')
  .action((command: string[], options: ConnectorOptions) =>
    withPlatform(async (platform) => {
      const registration = readRegistration(command, options);
      const { definitionId, name } = await registerDefinition(platform.definitions, registration);
      print(`Added ${name} (${definitionId}). It can be used at once.`);
    }),
  );
connector
  .command('list')
  .description('list the connectors that were added')
  .action(() =>
    withPlatform(async (platform) => {
      const definitions = await listRegisteredDefinitions(platform.definitions);
      table(
        ['ID', 'KIND', 'NAME', 'RUNS'],
        definitions.map(({ definitionId, kind, name, launch }) => [definitionId, kind, name, describeLaunch(launch)]),
      );
    }),
  );
connector
  .command('remove')
  .description('remove a connector that nothing uses any more')
  .argument('<id>', 'the connector, as connector list shows it', uuid)
  .action((id: string) =>
    withPlatform(async (platform) => {
      await removeDefinition(platform.definitions, id);
      print(`Removed ${id}.`);
    }),
  );

program
  .command('platform')
  .description('run the bundled platform alone, for several replicas to share')
  .action(async () => {
    const { config, secrets } = readConfig(process.env, { runs: 'platform' });
    await startPlatform(config, secrets);
  });

program
  .command('doctor')
  .description('check configuration, database, platform and clock, and say what to fix')
  .action(async () => {
    const findings = await examine(process.env);
    for (const { state, what, advice } of findings) {
      print(`${{ ok: '  ok   ', warn: '  WARN ', fail: '  FAIL ' }[state]} ${what}`);
      if (advice) print(`         ${advice}`);
    }
    const failed = findings.filter(({ state }) => state === 'fail').length;
    print('', failed === 0 ? 'Nothing to fix.' : `${failed} to fix.`);
    if (failed > 0) process.exitCode = 1;
  });

/** Opens the store and migrates it first. */
const withStore = (work: (store: Store) => Promise<void>) =>
  withOpenStore(async (store) => {
    await migrate(store);
    await work(store);
  });

/** Opens the store, and closes it whatever happens. */
async function withOpenStore(work: (store: Store) => Promise<void>): Promise<void> {
  const { config, secrets } = readConfig(process.env);
  const log = createLog('silent');
  const store = openStore(config, secrets, { runtime: systemRuntime, log, busyTimeoutMs: 10_000 });
  try {
    await work(store);
  } finally {
    await store.close();
  }
}

/** The bundled platform of this data directory, beside a service that may be running on it. It runs no jobs. */
async function withPlatform(work: (platform: OpenPlatform) => Promise<void>): Promise<void> {
  const { config, secrets } = readConfig(process.env);
  if (config.platformUrl !== undefined) {
    throw new OperatorError(
      'Connectors are added where the bundled platform runs. INLAY_PLATFORM_URL names another platform.',
    );
  }
  const dataDir = openDataDir(config.dataDir);
  const parts = { dataDir, sealer: openSealer(secrets, dataDir), log: createLog('silent'), isInternal: true };
  const { platform, close } = await openBundledPlatform(config, platformCredentials(secrets, dataDir), parts);
  try {
    await work(platform);
  } finally {
    await close();
  }
}

interface ConnectorOptions {
  source?: true;
  destination?: true;
  name: string;
  image?: string;
  directory?: string;
}

function readRegistration(
  [program, ...args]: string[],
  { source, destination, name, image, directory = '.' }: ConnectorOptions,
): Registration {
  if (source === destination) throw new OperatorError('Say which it is: --source or --destination.');
  if ((program === undefined) === (image === undefined)) {
    throw new OperatorError('Say what runs it: --image <image>, or a command after --.');
  }
  const kind = source ? 'source' : 'destination';
  if (image !== undefined) return { kind, name, launch: { type: 'image', image } };
  // An absolute path, because the service may run in another directory.
  return { kind, name, launch: { type: 'command', command: [program ?? '', ...args], folder: resolve(directory) } };
}

function describeLaunch(launch: Definition['launch']): string {
  if (launch?.type === 'image') return launch.image;
  return launch?.type === 'command' ? launch.command.join(' ') : '';
}

const operatorTokens = (store: Store): OperatorTokens => createOperatorTokens(store, systemRuntime);

async function chosenOrganization(store: Store, { organization: chosen }: { organization?: string }): Promise<string> {
  const all = await listOrganizations(store);
  const id = chosen ?? (all.length === 1 ? all[0]?.id : undefined);
  if (id !== undefined && all.some((row) => row.id === id)) return id;
  if (all.length === 0) throw new OperatorError('There is no organization yet. Start the service once: inlay start');
  const list = all.map((row) => `  ${row.id}  ${row.name}`).join('\n');
  throw new OperatorError(
    `${chosen ? `There is no organization ${chosen}.` : 'There are several organizations.'} Choose one with --organization:\n${list}`,
  );
}

function uuid(text: string): string {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) throw new InvalidArgumentError('It must be a UUID.');
  return text.toLowerCase();
}

function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 36_500)) throw new InvalidArgumentError('It must be a number above 0.');
  return value;
}

function inDays(days: number | undefined): number | undefined {
  return days === undefined ? undefined : systemRuntime.now() + days * 86_400_000;
}

function stateOf(token: { revoked_at: string | null; expires_at: string | null }): string {
  const now = systemRuntime.now();
  if (token.revoked_at !== null) return Date.parse(token.revoked_at) <= now ? 'revoked' : `ends ${token.revoked_at}`;
  return token.expires_at !== null && Date.parse(token.expires_at) <= now ? 'expired' : 'active';
}

function ageInDays(at: string): number {
  return (systemRuntime.now() - Date.parse(at)) / 86_400_000;
}

function day(at: string | number | null): string {
  return at === null ? '-' : new Date(at).toISOString().slice(0, 10);
}

function table(head: string[], rows: string[][]): void {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of [head, ...rows])
    print(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}

function print(...lines: string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** What to tell the person who typed the command: one plain paragraph, no stack unless it is a bug. */
function explain(error: unknown): string {
  if (error instanceof OperatorError) return error.message;
  if (error instanceof AppError && error.code === 'operator_token_not_found') {
    return 'There is no such operator token. See: inlay operator-token list';
  }
  if (error instanceof AppError && error.code === 'operator_token_ended') {
    return 'This operator token is revoked or has expired, so it cannot be rotated. Make another one: inlay operator-token create --name <what it is for>';
  }
  if (error instanceof RunFailure) {
    const { message, internalMessage } = error.failure;
    return `The connector cannot be used: ${message}${internalMessage ? `\n${internalMessage}` : ''}`;
  }
  if (error instanceof Problem) {
    return error.title === 'resource-not-found'
      ? 'There is no such connector. See: inlay connector list'
      : String(error.data?.message ?? error.message);
  }
  if ((error as { code?: unknown }).code === 'EADDRINUSE') {
    return `Port ${process.env.PORT ?? 8080} is in use. Stop what uses it, or set PORT to another one.`;
  }
  if (isStorageFailure(error)) {
    return `The database cannot be used: ${(error as Error).message}\nCheck INLAY_DATABASE_URL or INLAY_DATA_DIR, then run: inlay doctor`;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

try {
  await program.exitOverride().parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode;
  else {
    process.stderr.write(`${explain(error)}\n`);
    process.exitCode = 1;
  }
}
