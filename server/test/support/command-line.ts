/**
 * Commands of the command line in the test's own process: starting a process for each takes ten times the CPU time. What
 * only a process shows (that it ends, what it loads, signals) is tested with `runCli`; the long run uses that for all.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isLongRun } from '../../../scripts/long-run.ts';
import { runCommandLine } from '../../src/edge/cli/cli.ts';
import { runCli } from './service.ts';

type Outcome = Awaited<ReturnType<typeof runCli>>;

let last: Promise<unknown> = Promise.resolve();

/** Runs one command to its end, after earlier ones: they share the process's environment. */
export function runCommand(
  args: readonly string[],
  { env = {} }: { env?: Readonly<Record<string, string | undefined>> } = {},
): Promise<Outcome> {
  if (isLongRun) return runCli(args, { env });
  const run = last.then(() => runHere(args, env));
  last = run.catch(() => {});
  return run;
}

async function runHere(args: readonly string[], env: Readonly<Record<string, string | undefined>>): Promise<Outcome> {
  const before = { env: process.env, directory: process.cwd(), exitCode: process.exitCode };
  const { stdout, stderr } = process;
  const write = { stdout: stdout.write, stderr: stderr.write };
  const outcome: Outcome = { code: 0, stdout: '', stderr: '' };
  const directory = mkdtempSync(join(tmpdir(), 'inlay-cli-'));
  try {
    process.env = { PATH: before.env.PATH, HOME: before.env.HOME, ...env };
    process.exitCode = 0;
    process.chdir(directory);
    stdout.write = (text) => {
      outcome.stdout += text;
      return true;
    };
    stderr.write = (text) => {
      outcome.stderr += text;
      return true;
    };
    await runCommandLine(args);
    return { ...outcome, code: Number(process.exitCode) };
  } finally {
    Object.assign(stdout, { write: write.stdout });
    Object.assign(stderr, { write: write.stderr });
    process.chdir(before.directory);
    process.exitCode = before.exitCode;
    process.env = before.env;
    rmSync(directory, { recursive: true, force: true });
  }
}
