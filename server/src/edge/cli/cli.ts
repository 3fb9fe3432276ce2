/**
 * The command line. Every command reads the same environment as the service. What a command needs is loaded when it runs,
 * so that help, and commands that need little, are there at once.
 */
import type { Job } from '@inlay/contract/pipelines/connections';
import type { HealthState } from '@inlay/contract/pipelines/health';
import type { ListAllWorkspacesQuery } from '@inlay/contract/pipelines/operating';
import { Argument, Command, CommanderError, Option } from 'commander';
import { describeVersion } from '../../kernel/version.ts';
import { count, label, positive, time, uuid } from './arguments.ts';
import type { ConnectorOptions } from './connectors.ts';
import { describeExitCodes, exitCodes, exitWith } from './exit-codes.ts';
import type { ImportOptions } from './manifests.ts';
import type { RunOptions } from './run-manifest.ts';
import type { EnrolOptions } from './workers.ts';

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

const configuration = () => import('../../kernel/config/config.ts');
const administration = () => import('./administration.ts');
const connectors = () => import('./connectors.ts');
const operating = () => import('./operating.ts');
const consoleCommands = () => import('./console.ts');
const auditCommands = () => import('./audit.ts');
const webhookCommands = () => import('./webhooks.ts');
const workerCommands = () => import('./workers.ts');

/** Commands that work on the API of a running service if INLAY_URL is set, see inlay.ts. */
export const overApi = new Set<Command>();
const remote = (command: Command): Command => {
  overApi.add(command);
  return command;
};

export const program = new Command('inlay')
  .exitOverride()
  .description('Let customers connect their data from inside your product.')
  .version(describeVersion())
  .showHelpAfterError('(add --help for usage)')
  .configureHelp({
    commandDescription: (command) => command.description().replace(/^[a-z]/, (letter) => letter.toUpperCase()),
  })
  .addHelpText(
    'after',
    `
Inlay is configured with environment variables; see docs/reference/configuration.md.
On another machine, set INLAY_URL and INLAY_OPERATOR_TOKEN to work on a running service; docs/reference/command-line.md lists these commands.

${describeExitCodes()}

Get started: inlay start`,
  );

program
  .command('start')
  .description('run the service, with the bundled platform unless INLAY_PLATFORM_URL is set')
  .action(async () => {
    const { config, secrets } = (await configuration()).readConfig(process.env);
    await (await import('../main.ts')).startService(config, secrets);
  });

program
  .command('upgrade')
  .alias('migrate')
  .description('upgrade the data to this version (inlay start does this too)')
  .option('--check', 'only show what would happen, and what blocks it (exit code 3)')
  .option('--json', 'with --check: print JSON')
  .action(async (options) => (await import('./upgrade.ts')).upgradeData(options));

const passphraseOption = () =>
  new Option(
    '--passphrase-file <file>',
    'file with the passphrase that encrypts the encryption keys (default: INLAY_BACKUP_PASSPHRASE)',
  );
const backup = program
  .command('backup')
  .description('back up the databases while the service runs')
  .option(
    '--to <place>',
    'folder or s3://bucket/prefix in which the backup gets a folder of its own (default: INLAY_BACKUP_TO)',
  )
  .addOption(passphraseOption())
  .option('--without-keys', 'leave out the encryption keys (keep a copy elsewhere)')
  .option('--files', 'include files that the local-files destination wrote')
  .option('--json', 'print JSON')
  .action(async (options) => (await import('./backup.ts')).backUp(options));
backup
  .command('verify')
  .description('verify that a backup is complete and unchanged')
  .argument('<place>', 'folder or s3:// URL of the backup')
  .action(async (place) => (await import('./backup.ts')).verifyBackup(place, backup.opts()));

program
  .command('restore')
  .description('restore a backup into an empty deployment')
  .requiredOption('--from <place>', 'folder or s3:// URL of the backup')
  .addOption(passphraseOption())
  .option('--replay-events <files...>', 'audit exports newer than the backup: delete and revoke again what they say')
  .option('--json', 'print JSON')
  .action(async (options) => (await import('./backup.ts')).restoreBackup(options));

const organization = program.command('organization').description('manage the organizations that share this deployment');
organization
  .command('create')
  .description('create an organization and print its first operator token')
  .requiredOption('--name <name>', 'name of the organization')
  .option('--id <uuid>', 'ID of the organization (default: generated)', uuid)
  .option('--platform-organization-id <id>', 'ID of the organization on the platform (default: the same ID)')
  .action(async (options) => (await administration()).addOrganization(options));
organization
  .command('list')
  .description('list organizations')
  .option('--json', 'print JSON')
  .action(async (options) => (await administration()).showOrganizations(options));

const organizationOption = () =>
  new Option('--organization <uuid>', 'organization (required if there are several)').argParser(uuid);
const operatorToken = program.command('operator-token').description('manage the API tokens of your backend');
remote(operatorToken.command('create'))
  .description('create an operator token and print it (shown only once)')
  .requiredOption('--name <name>', 'name that identifies what uses the token')
  .addOption(
    new Option('--permission <permission>', 'read: GET endpoints only; operator: everything except secrets')
      .choices(['full', 'operator', 'read'])
      .default('full'),
  )
  .option('--expires-in-days <days>', 'days until the token expires (default: never)', positive)
  .option('--json', 'print JSON')
  .addOption(organizationOption())
  .action(async (options) => (await administration()).createOperatorToken(options));
remote(operatorToken.command('list'))
  .description('list operator tokens (secrets are not shown)')
  .option('--json', 'print JSON')
  .addOption(organizationOption())
  .action(async (options) => (await administration()).showOperatorTokens(options));
remote(operatorToken.command('revoke'))
  .description('revoke an operator token (running services reject it within two seconds)')
  .argument('<id>', 'token ID, from operator-token list', uuid)
  .addOption(organizationOption())
  .action(async (id, options) => (await administration()).revokeOperatorToken(id, options));
remote(operatorToken.command('rotate'))
  .description('replace an operator token, revoking the old one immediately or after an overlap')
  .argument('<id>', 'token ID, from operator-token list', uuid)
  .option('--overlap-hours <hours>', 'hours during which both tokens work', positive, 0)
  .option(
    '--expires-in-days <days>',
    'days until the new token expires (default: same expiry as the old token)',
    positive,
  )
  .option('--json', 'print JSON')
  .addOption(organizationOption())
  .action(async (id, options) => (await administration()).rotateOperatorToken(id, options));

const consoleCommand = program.command('console').description('manage access to the web console');
consoleCommand
  .command('link')
  .description('print a one-time console sign-in link, valid for 15 minutes')
  .addOption(
    new Option('--permission <permission>', 'read: view only; operator: everything except secrets')
      .choices(['full', 'operator', 'read'])
      .default('full'),
  )
  .option('--name <name>', 'who the link is for (recorded in the audit trail)', 'one-time link')
  .option('--json', 'print JSON')
  .addOption(organizationOption())
  .action(async (options) => (await consoleCommands()).printLink(options));
remote(consoleCommand.command('sessions'))
  .description('list console sessions')
  .option('--json', 'print JSON')
  .addOption(organizationOption())
  .action(async (options) => (await consoleCommands()).showSessions(options));
remote(consoleCommand.command('end'))
  .description('end a console session (running services reject it within two seconds)')
  .argument('<id>', 'session ID, from console sessions', uuid)
  .addOption(organizationOption())
  .action(async (id, options) => (await consoleCommands()).endSession(id, options));

remote(program.command('status'))
  .description('show replicas, versions, the last backup and the health of all customers')
  .option('--exit-code', 'exit with code 3 if a connection is failing or needs attention')
  .option('--limit <number>', 'maximum number of customers to list', count, 10)
  .option('--json', 'print JSON')
  .addOption(organizationOption())
  .action(async (options) => (await operating()).showStatus(options));

remote(program.command('workspaces'))
  .description('list workspaces and their health, newest first')
  .option('--name <text>', 'only workspaces whose name contains this text')
  .addOption(new Option('--sort <order>', 'sort order').choices(workspaceOrders))
  .addOption(new Option('--health <health>', 'only workspaces with this health').choices(healthStates))
  .addOption(new Option('--status <status>', 'only workspaces with this status').choices(['active', 'inactive']))
  .option('--limit <number>', 'maximum number of results', count, 20)
  .option('--cursor <cursor>', 'continue from the end of an earlier list')
  .option('--json', 'print JSON')
  .addOption(organizationOption())
  .action(async (options) => (await operating()).showWorkspaces(options));

remote(program.command('jobs'))
  .description('list sync jobs across all workspaces, newest first')
  .option('--failing', 'only failed jobs, and running jobs with a failed attempt')
  .addOption(new Option('--status <status>', 'only jobs with this status').choices(jobStatuses))
  .option('--workspace <uuid>', 'only jobs of this workspace', uuid)
  .option('--limit <number>', 'maximum number of results', count, 20)
  .option('--cursor <cursor>', 'continue from the end of an earlier list')
  .option('--json', 'print JSON')
  .addOption(organizationOption())
  .action(async (options) => (await operating()).showJobs(options));

remote(program.command('logs'))
  .description('print the connector log of a job')
  .argument('<job>', 'job ID, from jobs')
  .option('--attempt <number>', 'attempt number, starting at 1 (default: the latest)', count)
  .option('--tail <number>', 'only the last lines', count)
  .option('--search <text>', 'only lines that contain this text')
  .option('--follow', 'keep printing new lines until the job ends')
  .option('--json', 'print one JSON object per line')
  .addOption(organizationOption())
  .action(async (job, options) => (await operating()).showLog(job, options));

const events = program.command('events').description('follow events across all workspaces');
const typesOption = () =>
  new Option('--types <types>', 'comma-separated event types, for example sync.*,source.created');
remote(events.command('tail'))
  .description('print recent events, then follow new ones')
  .addOption(typesOption())
  .option('--workspace <uuid>', 'only events of this workspace', uuid)
  .option('--lines <number>', 'number of recent events to print first', count, 10)
  .option('--no-follow', 'exit after the latest event')
  .option('--json', 'print one JSON object per line')
  .addOption(organizationOption())
  .action(async (options) => (await import('./events.ts')).tailEvents(options));
remote(events.command('listen'))
  .description('print new events and forward them to a local endpoint')
  .addOption(typesOption())
  .option('--workspace <uuid>', 'only events of this workspace', uuid)
  .option('--forward-to <url>', 'URL to send each event to, as a webhook would')
  .option('--secret <secret>', 'secret to sign forwarded events with, whsec_… (default: generated and printed)')
  .option('--json', 'print one JSON object per line')
  .addOption(organizationOption())
  .action(async (options) => (await import('./events.ts')).listenToEvents(options));

const webhooks = program.command('webhooks').description('manage webhook endpoints');
const endpointArgument = ['<id>', 'endpoint ID, from webhooks list', uuid] as const;
remote(webhooks.command('list'))
  .description('list webhook endpoints')
  .option('--json', 'print JSON')
  .addOption(organizationOption())
  .action(async (options) => (await webhookCommands()).showEndpoints(options));
remote(webhooks.command('create'))
  .description('create a webhook endpoint and print its signing secret (shown only once)')
  .argument('<url>', 'URL to send events to')
  .option('--types <types...>', "event types, for example sync.failed 'source.*' (default: all)")
  .option('--workspace <ids...>', 'only events of these workspaces')
  .option('--tag <tags...>', 'only events of templates with one of these tags')
  .option('--header <headers...>', 'extra request headers, for example "X-Key: abc"')
  .addOption(new Option('--signing <scheme>', 'signature scheme').choices(['hmac', 'ed25519', 'both']))
  .option('--rate <number>', 'maximum requests per second', count)
  .option('--ordered', 'deliver strictly in order, one at a time')
  .option('--description <text>', 'description of the endpoint')
  .option('--json', 'print JSON')
  .addOption(organizationOption())
  .action(async (url, options) => (await webhookCommands()).createEndpoint(url, options));
remote(webhooks.command('test'))
  .description('send a test event and show the response (exit code 3 if the endpoint does not accept it)')
  .argument(...endpointArgument)
  .option('--json', 'print JSON')
  .addOption(organizationOption())
  .action(async (id, options) => (await webhookCommands()).testEndpoint(id, options));
remote(webhooks.command('deliveries'))
  .description('list deliveries, newest first')
  .argument(...endpointArgument)
  .addOption(
    new Option('--status <status>', 'only deliveries with this status').choices(['pending', 'delivered', 'failed']),
  )
  .option('--limit <number>', 'maximum number of results', count, 20)
  .option('--cursor <cursor>', 'continue from the end of an earlier list')
  .option('--json', 'print JSON')
  .addOption(organizationOption())
  .action(async (id, options) => (await webhookCommands()).showDeliveries(id, options));
remote(webhooks.command('rotate-secret'))
  .description('create a new signing secret and print it (shown only once)')
  .argument(...endpointArgument)
  .option('--overlap-hours <hours>', 'hours during which the old secret also signs', positive, 24)
  .option('--json', 'print JSON')
  .addOption(organizationOption())
  .action(async (id, options) => (await webhookCommands()).rotateSecret(id, options));
for (const name of ['enable', 'disable'] as const) {
  remote(webhooks.command(name))
    .description(name === 'enable' ? 'resume sending events, starting with the next one' : 'stop sending events')
    .argument(...endpointArgument)
    .addOption(organizationOption())
    .action(async (id, options) => (await webhookCommands()).switchEndpoint(id, name === 'enable', options));
}
remote(webhooks.command('delete'))
  .description('delete a webhook endpoint and its pending deliveries')
  .argument(...endpointArgument)
  .addOption(organizationOption())
  .action(async (id, options) => (await webhookCommands()).deleteEndpoint(id, options));

const audit = program.command('audit').description('work with the tamper-evident audit trail');
audit
  .command('verify')
  .description('verify that no entry was changed, removed or reordered (exit code 3 if one was)')
  .argument('[file]', 'JSON Lines export to verify (default: the database)')
  .option('--checkpoint <files...>', 'files with checkpoints and keys that you saved earlier')
  .option('--json', 'print JSON')
  .addOption(organizationOption())
  .action(async (file, options) => (await auditCommands()).verifyTrail(file, options));
remote(audit.command('export'))
  .description('export the audit trail (the export is itself recorded)')
  .addOption(
    new Option('--format <format>', 'output format; only JSON Lines can be verified')
      .choices(['jsonl', 'csv'])
      .default('jsonl'),
  )
  .option('--output <file>', 'new file to write to (default: standard output)')
  .addOption(typesOption())
  .option('--workspace <uuid>', 'only entries of this workspace', uuid)
  .option('--since <time>', 'only entries at or after this time', time)
  .addOption(organizationOption())
  .action(async (options) => (await auditCommands()).exportToFile(options));
audit
  .command('checkpoint')
  .description('sign the current head of the trail and print the checkpoint, to store elsewhere')
  .addOption(organizationOption())
  .action(async (options) => (await auditCommands()).signCheckpointNow(options));
remote(audit.command('erase'))
  .description('erase IP addresses and user agents (the hash chain stays valid)')
  .option('--workspace <uuid>', 'entries of this workspace', uuid)
  .option('--actor <id>', 'entries of this token ID')
  .option('--address <address>', 'entries whose request came from this IP address')
  .option('--before <time>', 'only entries before this time', time)
  .option('--patches', 'also erase the recorded field changes')
  .addOption(organizationOption())
  .action(async (options) => (await auditCommands()).erasePersonalFields(options));
audit
  .command('rotate-key')
  .description('create a new key for signing checkpoints')
  .action(async () => (await auditCommands()).rotateKey());

const keys = program.command('keys').description('manage the keys that sign scoped and widget tokens');
keys
  .command('list')
  .description('list signing keys')
  .option('--json', 'print JSON')
  .action(async (options) => (await administration()).showKeys(options));
keys
  .command('rotate')
  .description('create a new signing key (tokens signed with old keys stay valid until you remove those keys)')
  .action(async () => (await administration()).rotateKeys());
keys
  .command('remove')
  .description('remove a retired key and invalidate every token it signed')
  .argument('<key>', 'key ID, from keys list')
  .action(async (kid) => (await administration()).removeKey(kid));

program
  .command('encryption-key')
  .description('manage the key that encrypts stored secrets')
  .command('rotate')
  .description('re-encrypt every stored secret with a new key, or with the first key in INLAY_ENCRYPTION_KEY')
  .action(async () => (await administration()).rotateEncryptionKey());

const connector = program.command('connector').description('manage the connectors that you added');
remote(connector.command('add'))
  .description(
    'add a connector: a declarative manifest, a program that speaks the connector protocol, or a Docker image',
  )
  .option('--source', 'add a source')
  .option('--destination', 'add a destination')
  .option('--name <name>', "name of the connector (default: the manifest's title)")
  .option('--manifest <file>', 'file or URL of a declarative manifest (YAML or JSON)')
  .option('--icon <address>', 'with --manifest: https URL of an icon')
  .option('--components <file>', 'with --manifest: JavaScript module with its custom classes')
  .option('--image <image>', 'Docker image, as repository:tag')
  .option('--directory <path>', 'working directory of the command (default: the current one)')
  .argument('[command...]', 'program and arguments, after --; relative paths resolve against --directory')
  .addOption(organizationOption())
  .action(async (command: string[], options: ConnectorOptions) => {
    const { manifest, ...rest } = options;
    if (manifest === undefined) return await (await connectors()).addProgram(command, rest);
    const given = { ...rest, manifest, isSource: options.source === true, command };
    await (await import('./manifests.ts')).addManifest(given);
  });
connector
  .command('check')
  .description('check which streams of a manifest, or of a folder of manifests, can run')
  .argument('<path>', 'manifest or folder')
  .option('--components <file>', "JavaScript module with the manifest's custom classes")
  .action(async (path: string, options: { components?: string }) =>
    (await import('./manifests.ts')).checkManifests(path, options),
  );
remote(connector.command('import'))
  .description('add manifests from a registry or a folder (you must accept their licenses)')
  .argument('<registry>', 'file or URL of a registry document, or a folder')
  .option('--only <names>', 'comma-separated connectors, for example stripe,sentry')
  .option('--accept-license', 'accept the licenses shown')
  .addOption(new Option('--accept-licence', 'earlier spelling').hideHelp())
  .addOption(organizationOption())
  .action(async (registry: string, options: ImportOptions) =>
    (await import('./manifests.ts')).importManifests(registry, options),
  );
remote(connector.command('list'))
  .description('list added connectors')
  .option('--json', 'print JSON')
  .action(async (options) => (await connectors()).showConnectors(options));
connector
  .command('run')
  .description('run a declarative manifest and print its connector protocol messages')
  .argument('<file>', 'manifest')
  .addArgument(new Argument('<command>', 'protocol command').choices(['spec', 'check', 'discover', 'read']))
  .option('--config <file>', 'configuration (JSON)')
  .option('--catalog <file>', 'configured catalog: the streams to read (JSON)')
  .option('--state <file>', 'state to resume from (JSON)')
  .option('--components <file>', "JavaScript module with the manifest's custom classes")
  .option('--now <time>', 'freeze the clock of templates and cursors at this time')
  .option('--waits <file>', 'skip all waits and append the seconds of retry waits to this file')
  .action(async (file: string, command: string, options: RunOptions) =>
    (await import('./run-manifest.ts')).runManifest(file, command, options),
  );
remote(connector.command('remove'))
  .description('remove a connector that is no longer in use')
  .argument('<id>', 'connector ID, from connector list', uuid)
  .action(async (id) => (await connectors()).removeConnector(id));

const platform = program
  .command('platform')
  .description('run only the bundled platform, shared by several replicas of the service')
  .action(async () => {
    const { config, secrets } = (await configuration()).readConfig(process.env, { runs: 'platform' });
    await (await import('../main.ts')).startPlatform(config, secrets);
  });
platform
  .command('migrate-store')
  .description('copy the data of the bundled platform from SQLite to PostgreSQL')
  .action(async () => (await import('./platform.ts')).movePlatformStore());

program
  .command('worker')
  .description('run a worker: syncs of the service or platform at INLAY_WORKER_URL, on this machine')
  .action(async () => {
    const { config, secrets } = (await configuration()).readConfig(process.env, { runs: 'worker' });
    await (await import('../worker.ts')).startWorkerProcess(config, secrets);
  });

const workers = program.command('workers').description('manage workers: other machines that run syncs');
workers
  .command('enrol')
  .description('enrol a worker and print the token that it joins with (shown only once)')
  .option('--name <name>', 'name of the worker (default: generated)')
  .option('--label <key=value...>', 'labels, for example region=eu', label)
  .option('--workspace <ids...>', 'run only syncs of these workspaces')
  .option('--trusted', 'with --workspace: let the worker have your own secrets, too')
  .option('--allow-private-networks', 'let connectors on this worker reach private addresses')
  .option('--reusable', 'let any number of machines join with the token, until you revoke it')
  .option('--json', 'print JSON')
  .action(async (options: EnrolOptions) => (await workerCommands()).enrol(options));
workers
  .command('list')
  .description('list workers')
  .option('--json', 'print JSON')
  .action(async (options) => (await workerCommands()).showWorkers(options));
const workerArgument = ['<id>', 'worker ID, from workers list', uuid] as const;
workers
  .command('drain')
  .description('stop giving a worker syncs, and continue those it runs elsewhere')
  .argument(...workerArgument)
  .option('--resume', 'give it syncs again')
  .action(async (id, options) => (await workerCommands()).drain(id, options));
workers
  .command('revoke')
  .description('remove a worker for good, and those that joined with its reusable token')
  .argument(...workerArgument)
  .action(async (id) => (await workerCommands()).revoke(id));

const oauth = program.command('oauth').description('test customer sign-in with an OAuth provider');
remote(oauth.command('test'))
  .description("sign in with a source template's provider and show what it returned (connects nothing)")
  .argument('<template>', 'source template ID', uuid)
  .option('--value <name=value...>', "values that the provider's URLs need, for example subdomain=acme")
  .option('--json', 'print one JSON object per line')
  .addOption(organizationOption())
  .action(async (template, options) => (await import('./oauth.ts')).testSignIn(template, options));

remote(program.command('doctor'))
  .description('check configuration, database, platform and clocks, and suggest fixes')
  .option('--json', 'print JSON')
  .action(async (options) => (await import('./doctor-report.ts')).showFindings(options));

/** Runs the command that these arguments name, and sets the exit code of this process. */
export async function runCommandLine(args: readonly string[]): Promise<void> {
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return exitWith(error.exitCode === exitCodes.success[0] ? 'success' : 'usage');
    const { exitOf, explain } = await import('./explain.ts');
    process.stderr.write(`${explain(error)}\n`);
    exitWith(exitOf(error));
  }
}
