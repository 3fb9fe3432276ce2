/** The exit codes of all commands. Scripts rely on them: never give a number another meaning. */
import { OperatorError } from '../../kernel/errors.ts';

export const exitCodes = {
  success: [0, 'The command succeeded'],
  failure: [1, 'The command failed, and standard error says why'],
  usage: [2, 'The command or an option is invalid; nothing was done'],
  findings: [
    3,
    'The command found a problem: `doctor` and `upgrade --check` a failed check, `status --exit-code` a connection that is failing or needs attention, `audit verify` a broken trail, `webhooks test` an endpoint that did not accept the event, `connector check` a manifest without supported streams',
  ],
  unreachable: [4, 'The service at `INLAY_URL` did not respond'],
  refused: [5, 'The service at `INLAY_URL` rejected the operator token, or its permission does not allow the command'],
} as const satisfies Record<string, readonly [code: number, meaning: string]>;

export type Exit = keyof typeof exitCodes;

/** For a command that finishes its output first. */
export function exitWith(exit: Exit): void {
  process.exitCode = exitCodes[exit][0];
}

/** A failure with an exit code of its own. */
export class CommandError extends OperatorError {
  readonly exit: Exit;

  constructor(message: string, exit: Exit) {
    super(message);
    this.exit = exit;
  }
}

export const usageError = (message: string) => new CommandError(message, 'usage');

/** The table for `--help`. */
export function describeExitCodes(): string {
  const rows = Object.values(exitCodes).map(([code, meaning]) => `  ${code}  ${meaning.replaceAll('`', '')}`);
  return `Exit codes:\n${rows.join('\n')}`;
}
