/** The program `inlay`: runs the command that its arguments name. */
import { runCommandLine } from './cli.ts';

// Not awaited here: the service is built as CommonJS, which cannot wait at its top.
void runCommandLine(process.argv.slice(2));
