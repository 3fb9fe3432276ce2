/*
 * The bundled connectors as one program: `main.js <name> <command> …`. A connector is loaded only when requested, so
 * that starting one does not pay for the others. The build creates a CommonJS file for each: Node.js starts those in
 * two thirds of the time (scripts/build.mjs).
 */
import type { ImportModule } from '@inlay/manifests/import-module';
import type { Connector } from '@inlay/protocol/connector';
import type { runProgram } from '@inlay/protocol/program';

type ConnectorFile =
  | { connector: Connector; runProgram: typeof runProgram }
  /** A connector that reads what it is from its arguments. */
  | { run: (args: readonly string[], importModule: ImportModule) => Promise<number> };

const importModule: ImportModule = async (url) => (await import('./import-module.ts')).importModule(url);

const connectors: Record<string, () => Promise<ConnectorFile>> = {
  declarative: () => import('./declarative/program.ts'),
  'describe-manifests': () => import('./describe-manifests.ts'),
  'destination-postgres': () => import('./destination-postgres/program.ts'),
  file: () => import('./file/program.ts'),
  'http-api': () => import('./http-api/program.ts'),
  'local-files': () => import('./local-files/program.ts'),
  s3: () => import('./s3/program.ts'),
  'sample-data': () => import('./sample-data/program.ts'),
  'source-postgres': () => import('./source-postgres/program.ts'),
};

const [name = '', ...args] = process.argv.slice(2);
const load = connectors[name];
if (load) {
  void load()
    .then((file) => ('run' in file ? file.run(args, importModule) : file.runProgram(file.connector, args)))
    .then((code) => {
      process.exitCode = code;
    });
} else {
  console.error(`Unknown connector ${name}. Available connectors: ${Object.keys(connectors).join(', ')}`);
  process.exitCode = 2;
}
