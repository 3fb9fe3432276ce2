/**
 * The command line. Every command reads the same environment as the service. What a command needs is loaded when it runs,
 * so that help, and commands that need little, are there at once.
 */
import type { Job } from '@inlay/contract/pipelines/connections';
import type { HealthState } from '@inlay/contract/pipelines/health';
import type { ListAllWorkspacesQuery } from '@inlay/contract/pipelines/operating';
import { Argument, Command, CommanderError, Option } from 'commander';
import { readConfig } from '../../kernel/config/config.ts';
import { describeVersion } from '../../kernel/version.ts';
import { count, positive, uuid } from './arguments.ts';
import type { ConnectorOptions } from './connectors.ts';
import type { ImportOptions } from './manifests.ts';
import type { RunOptions } from './run-manifest.ts';

const healthStates = [
  'healthy',
  'running',
  'failing',
  'needs_attention',
  'paused',
  'never_synced',
] satisfies HealthState[];
const workspaceOrders = [
  'created_at',
  '-created_at',
  'name',
  '-name',
  'last_activity_at',
  '-last_activity_at',
  'unwell_since',
] satisfies ListAllWorkspacesQuery['sort'][];
const jobStatuses = ['pending', 'running', 'incomplete', 'failed', 'succeeded', 'cancelled'] satisfies Job['status'][];

const administration = () => import('./administration.ts');
const connectors = () => import('./connectors.ts');
const operating = () => import('./operating.ts');
const consoleCommands = () => import('./console.ts');
const auditCommands = () => import('./audit.ts');
const webhookCommands = () => import('./webhooks.ts');

const program = new Command('inlay')
  .exitOverride()
  .description('Embedded data-integration set-up for your customers.')
  .version(describeVersion())
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
    await (await import('../main.ts')).startService(config, secrets);
  });

program
  .command('migrate')
  .description('bring the database to this version (start does it, too)')
  .action(async () => (await administration()).migrateDatabase());

const organization = program.command('organization').description('operators that share this deployment');
organization
  .command('create')
  .description('add an organization and print its first operator token')
  .requiredOption('--name <name>', 'what to call it')
  .option('--id <uuid>', 'its id; a new one if not given', uuid)
  .option('--platform-organization-id <id>', 'its id on the platform; the same if not given')
  .action(async (options) => (await administration()).addOrganization(options));
organization
  .command('list')
  .description('list the organizations')
  .action(async () => (await administration()).showOrganizations());

const organizationOption = () =>
  new Option('--organization <uuid>', 'the organization; needed when there are several').argParser(uuid);
const operatorToken = program.command('operator-token').description("credentials of an operator's backend");
operatorToken
  .command('create')
  .description('create an operator token and print it, this once')
  .requiredOption('--name <name>', 'what it is for')
  .addOption(
    new Option('--permission <permission>', 'read may call GET endpoints only, operator everything but secrets')
      .choices(['full', 'operator', 'read'])
      .default('full'),
  )
  .option('--expires-in-days <days>', 'when it stops working; never if not given', positive)
  .addOption(organizationOption())
  .action(async (options) => (await administration()).createOperatorToken(options));
operatorToken
  .command('list')
  .description('list operator tokens, without their secrets')
  .addOption(organizationOption())
  .action(async (options) => (await administration()).showOperatorTokens(options));
operatorToken
  .command('revoke')
  .description('revoke an operator token, for a running service within two seconds')
  .argument('<id>', 'the token, as operator-token list shows it', uuid)
  .addOption(organizationOption())
  .action(async (id, options) => (await administration()).revokeOperatorToken(id, options));
operatorToken
  .command('rotate')
  .description('create a token like this one, with its expiry, and revoke this one now or after an overlap')
  .argument('<id>', 'the token, as operator-token list shows it', uuid)
  .option('--overlap-hours <hours>', 'how long both work', positive, 0)
  .option('--expires-in-days <days>', "when the new token stops working; the old token's expiry if not given", positive)
  .addOption(organizationOption())
  .action(async (id, options) => (await administration()).rotateOperatorToken(id, options));

const consoleCommand = program.command('console').description('people who use the console in a browser');
consoleCommand
  .command('link')
  .description('print a link that lets one person into the console, once, within 15 minutes')
  .addOption(
    new Option('--permission <permission>', 'read may only look, operator everything but secrets')
      .choices(['full', 'operator', 'read'])
      .default('full'),
  )
  .option('--name <name>', 'whom it is for; the audit trail says it', 'one-time link')
  .option('--json', 'the same for programs')
  .addOption(organizationOption())
  .action(async (options) => (await consoleCommands()).printLink(options));
consoleCommand
  .command('sessions')
  .description('list who is signed in')
  .option('--json', 'the same for programs')
  .addOption(organizationOption())
  .action(async (options) => (await consoleCommands()).showSessions(options));
consoleCommand
  .command('end')
  .description('end a session, for a running service within two seconds')
  .argument('<id>', 'the session, as console sessions shows it', uuid)
  .addOption(organizationOption())
  .action(async (id, options) => (await consoleCommands()).endSession(id, options));

program
  .command('status')
  .description('how all customers do: connections by health, who fails, what waits')
  .option('--exit-code', 'end with 2 when a connection fails or needs attention')
  .option('--limit <number>', 'how many customers to name', count, 10)
  .option('--json', 'the same for programs')
  .addOption(organizationOption())
  .action(async (options) => (await operating()).showStatus(options));

program
  .command('workspaces')
  .description('list workspaces with their health, newest first')
  .option('--name <text>', 'only those whose name contains this')
  .addOption(new Option('--sort <order>', 'in this order').choices(workspaceOrders))
  .addOption(new Option('--health <health>', 'only those with this health').choices(healthStates))
  .addOption(new Option('--status <status>', 'only those with this status').choices(['active', 'inactive']))
  .option('--limit <number>', 'how many', count, 20)
  .option('--cursor <cursor>', 'go on where the last list ended')
  .option('--json', 'the same for programs')
  .addOption(organizationOption())
  .action(async (options) => (await operating()).showWorkspaces(options));

program
  .command('jobs')
  .description('list jobs of all workspaces, newest first')
  .option('--failing', 'only those that failed, and those that go on although an attempt of them has failed')
  .addOption(new Option('--status <status>', 'only those with this status').choices(jobStatuses))
  .option('--workspace <uuid>', 'only those of this workspace', uuid)
  .option('--limit <number>', 'how many', count, 20)
  .option('--cursor <cursor>', 'go on where the last list ended')
  .option('--json', 'the same for programs')
  .addOption(organizationOption())
  .action(async (options) => (await operating()).showJobs(options));

program
  .command('logs')
  .description('print what the connectors of a job have said')
  .argument('<job>', 'the job, as jobs shows it')
  .option('--attempt <number>', 'which attempt, from 1; the last one if not given', count)
  .option('--tail <number>', 'only the last so many lines', count)
  .option('--search <text>', 'only lines that hold this text')
  .option('--follow', 'go on until the job ends')
  .option('--json', 'one object a line, for programs')
  .addOption(organizationOption())
  .action(async (job, options) => (await operating()).showLog(job, options));

const events = program.command('events').description('what happens in all workspaces, as it happens');
const typesOption = () => new Option('--types <types>', 'only these, separated by commas, as in sync.*,source.created');
events
  .command('tail')
  .description('print the last events, and go on with what happens')
  .addOption(typesOption())
  .option('--workspace <uuid>', 'only events about this workspace', uuid)
  .option('--lines <number>', 'how far back to begin', count, 10)
  .option('--no-follow', 'end after the last event')
  .option('--json', 'one object a line, for programs')
  .addOption(organizationOption())
  .action(async (options) => (await import('./events.ts')).tailEvents(options));
events
  .command('listen')
  .description('print events as they happen, and forward each to a program on your machine')
  .addOption(typesOption())
  .option('--workspace <uuid>', 'only events about this workspace', uuid)
  .option('--forward-to <url>', 'send each event there, as a webhook would')
  .option('--secret <secret>', 'sign with this secret (whsec_…) what is forwarded; a new one is shown if not given')
  .option('--json', 'one object a line, for programs')
  .addOption(organizationOption())
  .action(async (options) => (await import('./events.ts')).listenToEvents(options));

const webhooks = program.command('webhooks').description('endpoints that events are sent to');
const endpointArgument = ['<id>', 'the endpoint, as webhooks list shows it', uuid] as const;
webhooks
  .command('list')
  .description('list the webhook endpoints')
  .option('--json', 'the same for programs')
  .addOption(organizationOption())
  .action(async (options) => (await webhookCommands()).showEndpoints(options));
webhooks
  .command('create')
  .description('have events sent to an address from now on, and print the secret, this once')
  .argument('<url>', 'where to send them')
  .option('--types <types...>', "types of events, as in sync.failed 'source.*'; all if not given")
  .option('--workspace <ids...>', 'only events of these workspaces')
  .option('--tag <tags...>', 'only events about templates with one of these tags')
  .option('--header <headers...>', 'send this header along, as in "X-Key: abc"')
  .addOption(new Option('--signing <way>', 'how to sign').choices(['hmac', 'ed25519', 'both']))
  .option('--rate <number>', 'at most so many requests a second', count)
  .option('--ordered', 'strictly in order, one at a time')
  .option('--description <text>', 'what it is for')
  .option('--json', 'the same for programs')
  .addOption(organizationOption())
  .action(async (url, options) => (await webhookCommands()).createEndpoint(url, options));
webhooks
  .command('test')
  .description('send an event that nobody needs, and show the answer; ends with 2 if it is not accepted')
  .argument(...endpointArgument)
  .option('--json', 'the same for programs')
  .addOption(organizationOption())
  .action(async (id, options) => (await webhookCommands()).testEndpoint(id, options));
webhooks
  .command('deliveries')
  .description('what became of the events, newest first')
  .argument(...endpointArgument)
  .addOption(new Option('--status <status>', 'only those').choices(['pending', 'delivered', 'failed']))
  .option('--limit <number>', 'how many', count, 20)
  .option('--json', 'the same for programs')
  .addOption(organizationOption())
  .action(async (id, options) => (await webhookCommands()).showDeliveries(id, options));
webhooks
  .command('rotate-secret')
  .description('make a new secret, or key, and print it, this once')
  .argument(...endpointArgument)
  .option('--overlap-hours <hours>', 'how long the old one signs, too', positive, 24)
  .option('--json', 'the same for programs')
  .addOption(organizationOption())
  .action(async (id, options) => (await webhookCommands()).rotateSecret(id, options));
for (const name of ['enable', 'disable'] as const) {
  webhooks
    .command(name)
    .description(name === 'enable' ? 'send events again, from now on' : 'send no more events')
    .argument(...endpointArgument)
    .addOption(organizationOption())
    .action(async (id, options) => (await webhookCommands()).switchEndpoint(id, name === 'enable', options));
}
webhooks
  .command('delete')
  .description('delete a webhook endpoint, with what waits for it')
  .argument(...endpointArgument)
  .addOption(organizationOption())
  .action(async (id, options) => (await webhookCommands()).deleteEndpoint(id, options));

const audit = program.command('audit').description('who did what: a trail that nobody can rewrite unnoticed');
audit
  .command('verify')
  .description('check that nothing was changed, dropped, moved or cut off; ends with 2 if something was')
  .argument('[file]', 'an export as JSON Lines; the database if not given')
  .option('--checkpoint <files...>', 'checkpoints that you have kept, and the keys with them')
  .option('--json', 'the same for programs')
  .addOption(organizationOption())
  .action(async (file, options) => (await auditCommands()).verifyTrail(file, options));
audit
  .command('export')
  .description('write the trail to a file, or print it; this is an entry of the trail itself')
  .addOption(new Option('--format <format>', 'JSON Lines can be verified').choices(['jsonl', 'csv']).default('jsonl'))
  .option('--output <file>', 'where to; it must not exist yet')
  .addOption(typesOption())
  .option('--workspace <uuid>', 'only entries about this workspace', uuid)
  .option('--since <time>', 'only what happened at this time or later')
  .addOption(organizationOption())
  .action(async (options) => (await auditCommands()).exportToFile(options));
audit
  .command('checkpoint')
  .description('sign the trail as it is now, and print the checkpoint; keep it elsewhere')
  .addOption(organizationOption())
  .action(async (options) => (await auditCommands()).signCheckpointNow(options));
audit
  .command('erase')
  .description('erase addresses and user agents; the chain of hashes stays valid')
  .option('--workspace <uuid>', 'of entries about this workspace', uuid)
  .option('--actor <id>', 'of entries by this token')
  .option('--address <address>', 'of entries whose request came from this address')
  .option('--before <time>', 'only of entries that happened before')
  .option('--patches', 'erase what was before and after, too')
  .addOption(organizationOption())
  .action(async (options) => (await auditCommands()).erasePersonalFields(options));
audit
  .command('rotate-key')
  .description('let another key sign checkpoints from now on')
  .action(async () => (await auditCommands()).rotateKey());

const keys = program.command('keys').description('the keys that sign scoped and widget tokens');
keys
  .command('list')
  .description('list the signing keys')
  .action(async () => (await administration()).showKeys());
keys
  .command('rotate')
  .description('make a new signing key; tokens of the old ones stay valid until they are removed')
  .action(async () => (await administration()).rotateKeys());
keys
  .command('remove')
  .description('remove a retired key: every token it signed stops working')
  .argument('<key>', 'the key, as keys list shows it')
  .action(async (kid) => (await administration()).removeKey(kid));

program
  .command('encryption-key')
  .description('the key that encrypts stored secrets')
  .command('rotate')
  .description('encrypt every stored secret again, with a new key or with the first key of INLAY_ENCRYPTION_KEY')
  .action(async () => (await administration()).rotateEncryptionKey());

const connector = program.command('connector').description('connectors added to the bundled platform of this machine');
connector
  .command('add')
  .description(
    'add a connector: a declarative manifest, a program that speaks the connector protocol, or a Docker image',
  )
  .option('--source', 'it is a source')
  .option('--destination', 'it is a destination')
  .option('--name <name>', "what to call it; the manifest's title if not given")
  .option('--manifest <file>', 'a declarative manifest, in YAML or JSON: a file or an address')
  .option('--icon <address>', 'with a manifest: an https address of its icon')
  .option('--components <file>', 'with a manifest: a module of JavaScript with the classes that the manifest names')
  .option('--image <image>', 'the image, as in repository:tag')
  .option('--directory <path>', 'the folder the command runs in; this one if not given')
  .argument('[command...]', 'the program and its arguments, after --; relative paths count from that folder')
  .addOption(organizationOption())
  .action(async (command: string[], options: ConnectorOptions) => {
    const { manifest, ...rest } = options;
    if (manifest === undefined) return await (await connectors()).addProgram(command, rest);
    const given = { ...rest, manifest, isSource: options.source === true, command };
    await (await import('./manifests.ts')).addManifest(given);
  });
connector
  .command('check')
  .description('read a manifest, or a folder of manifests, and tell which streams run and what is missing')
  .argument('<path>', 'the manifest, or a folder')
  .option('--components <file>', 'a module of JavaScript with the classes that the manifest names')
  .action(async (path: string, options: { components?: string }) =>
    (await import('./manifests.ts')).checkManifests(path, options),
  );
connector
  .command('import')
  .description('add the manifests that a registry lists, or that are in a folder; their licences must be accepted')
  .argument('<registry>', 'a registry document, by its file or address, or a folder')
  .option('--only <names>', 'only these, separated by commas, as in stripe,sentry')
  .option('--accept-licence', 'you have read the licences that are shown, and accept them')
  .addOption(organizationOption())
  .action(async (registry: string, options: ImportOptions) =>
    (await import('./manifests.ts')).importManifests(registry, options),
  );
connector
  .command('list')
  .description('list the connectors that were added')
  .action(async () => (await connectors()).showConnectors());
connector
  .command('run')
  .description('run a declarative manifest here: print the messages of the connector protocol')
  .argument('<file>', 'the manifest')
  .addArgument(new Argument('<command>', 'what to do').choices(['spec', 'check', 'discover', 'read']))
  .option('--config <file>', 'the configuration, in JSON')
  .option('--catalog <file>', 'the streams to read, in JSON')
  .option('--state <file>', 'the state to go on from, in JSON')
  .option('--components <file>', 'a module of JavaScript with the classes that the manifest names')
  .option('--now <time>', 'let the clock of templates and cursors stand still at this time')
  .option('--waits <file>', 'skip every wait, and add the seconds of those before retries to this file')
  .action(async (file: string, command: string, options: RunOptions) =>
    (await import('./run-manifest.ts')).runManifest(file, command, options),
  );
connector
  .command('remove')
  .description('remove a connector that nothing uses any more')
  .argument('<id>', 'the connector, as connector list shows it', uuid)
  .action(async (id) => (await connectors()).removeConnector(id));

program
  .command('platform')
  .description('run the bundled platform alone, for several replicas to share')
  .action(async () => {
    const { config, secrets } = readConfig(process.env, { runs: 'platform' });
    await (await import('../main.ts')).startPlatform(config, secrets);
  });

program
  .command('oauth')
  .description('sign-in of customers with a provider')
  .command('test')
  .description('sign in as a customer of a source template would, and say what came back; nothing is connected')
  .argument('<template>', 'the source template', uuid)
  .option('--value <name=value...>', "what the provider's addresses need, as in subdomain=acme")
  .option('--json', 'the same for programs')
  .addOption(organizationOption())
  .action(async (template, options) => (await import('./oauth.ts')).testSignIn(template, options));

program
  .command('doctor')
  .description('check configuration, database, platform and clock, and say what to fix')
  .action(async () => (await import('./doctor-report.ts')).showFindings());

/** Runs the command that these arguments name, and sets the exit code of this process. */
export async function runCommandLine(args: readonly string[]): Promise<void> {
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode;
    else {
      const { explain } = await import('./explain.ts');
      process.stderr.write(`${explain(error)}\n`);
      process.exitCode = 1;
    }
  }
}
