/** The program `inlay`: runs the command that its arguments name. */
import { runCommandLine } from './edge/cli/cli.ts';
import { endWithoutOutput } from './kernel/output.ts';

export { runCommandLine };

endWithoutOutput();
// Not awaited here: the service is built as CommonJS, which cannot wait at its top.
void runCommandLine(process.argv.slice(2));
