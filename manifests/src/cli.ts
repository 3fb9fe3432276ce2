/*
 * The command of the package: `inlay-manifests spec|check|discover|read MANIFEST …`, the commands of the connector protocol
 * for authors of manifests. It reaches any address unless INLAY_ALLOW_PRIVATE_NETWORKS says otherwise.
 */
import { importModule } from './import-module.ts';
import { run } from './program.ts';

const usage = `Usage: inlay-manifests COMMAND MANIFEST [options]

Runs a declarative manifest. Prints connector protocol messages to standard output, one JSON object per line.

Commands:
  spec MANIFEST                                             print the specification of the configuration
  check MANIFEST --config FILE                              check the connection to the source
  discover MANIFEST --config FILE                           print the streams of the source
  read MANIFEST --config FILE --catalog FILE [--state FILE] read streams

Options:
  --components FILE  module with custom components, by class name
  --now TIME         freeze the clock of templates and cursors
`;

const [command = '', manifest, ...rest] = process.argv.slice(2);
process.env.INLAY_ALLOW_PRIVATE_NETWORKS ??= 'true';
if (!['spec', 'check', 'discover', 'read'].includes(command) || manifest === undefined) {
  (command === '' || /^(-h|--help|help)$/.test(command) ? process.stdout : process.stderr).write(usage);
  process.exitCode = command === '' || /^(-h|--help|help)$/.test(command) ? 0 : 2;
} else {
  try {
    process.exitCode = await run(['--manifest', manifest, '--author', command, ...rest], importModule);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
}
