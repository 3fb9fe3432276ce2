/** The exit codes of all commands. Scripts rely on them: never give a number another meaning. */
import { OperatorError } from '../../kernel/errors.ts';

export const exitCodes = {
  success: [0, 'The command succeeded'],
  failure: [1, 'The command failed, and standard error says why'],
  usage: [2, 'The command or an option is invalid; nothing was done'],
  findings: [
    3,
    'The command found a problem: a failed check, an unhealthy connection (`status --exit-code`), a changed audit trail, a webhook endpoint or manifest that does not work',
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
  const wrap = (text: string) => (text.match(/.{1,74}(?= |$)/g) ?? []).map((line) => line.trim()).join('\n     ');
  const rows = Object.values(exitCodes).map(([code, meaning]) => `  ${code}  ${wrap(meaning.replaceAll('`', ''))}`);
  return `Exit codes:\n${rows.join('\n')}`;
}
