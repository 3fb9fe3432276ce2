/*
 * The command of the package: `inlay-manifests spec|check|discover|read MANIFEST …`, the commands of the connector protocol
 * for authors of manifests. It reaches any address unless INLAY_ALLOW_PRIVATE_NETWORKS says otherwise.
 */
import { importModule } from './import-module.ts';
import { run } from './program.ts';

const usage = `Usage: inlay-manifests COMMAND MANIFEST [options]

Runs a declarative manifest. Messages of the connector protocol go to standard output, one JSON object a line.

Commands:
  spec MANIFEST                                             print what a configuration looks like
  check MANIFEST --config FILE                              try to reach the source
  discover MANIFEST --config FILE                           print the streams of the source
  read MANIFEST --config FILE --catalog FILE [--state FILE] read streams

Options:
  --components FILE  a module with components of your own, by class name
  --now TIME         let the clock of templates and cursors stand still
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
