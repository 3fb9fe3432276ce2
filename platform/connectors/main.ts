/*
 * The bundled connectors as one program: `main.js <name> <command> …`. Each connector is loaded only when it is the one
 * asked for, so that starting one does not pay for the others.
 */
import type { Connector } from './kit/connector.ts';
import { runProgram } from './kit/program.ts';

const connectors: Record<string, () => Promise<{ connector: Connector }>> = {
  'destination-postgres': () => import('./destination-postgres/destination-postgres.ts'),
  file: () => import('./file/file.ts'),
  'http-api': () => import('./http-api/http-api.ts'),
  'local-files': () => import('./local-files/connector.ts'),
  s3: () => import('./s3/connector.ts'),
  'sample-data': () => import('./sample-data/connector.ts'),
  'source-postgres': () => import('./source-postgres/source-postgres.ts'),
};

const [name = '', ...args] = process.argv.slice(2);
const load = connectors[name];
if (load) {
  process.exitCode = await runProgram((await load()).connector, args);
} else {
  console.error(`There is no connector ${name}. There are: ${Object.keys(connectors).join(', ')}`);
  process.exitCode = 2;
}
