/**
 * The warden of a worker: a process of its own that ends every connector of the worker when it has not been told in time that the
 * leases were renewed, or when the worker is gone. It needs neither the worker nor the network for that, so it does its work
 * while the worker is stopped (SIGSTOP), hangs or is cut off.
 *
 *   node warden.cjs <mark> [<control group>]
 *
 * Each line of its input is a deadline, in nanoseconds of the machine's monotonic clock.
 */
import { createInterface } from 'node:readline';
import { killCgroup, listRunCgroups } from '../processes/cgroups.ts';
import { endMarkedProcesses } from '../processes/marked-processes.ts';
import { systemRuntime } from '../runtime.ts';

const lookEveryMs = 250;

export async function guardConnectors(
  input: NodeJS.ReadableStream,
  { mark, cgroup }: { mark: string; cgroup: string | undefined },
): Promise<void> {
  let deadline: bigint | undefined;
  let isOver = false;
  const lines = createInterface({ input });
  lines.on('line', (line) => {
    deadline = BigInt(line);
  });
  lines.on('close', () => {
    isOver = true;
  });
  while (!isOver) {
    await systemRuntime.sleep(lookEveryMs);
    // What is started after the deadline ends as well, until there is a new one.
    if (deadline !== undefined && process.hrtime.bigint() > deadline) await endAll(mark, cgroup);
  }
  await endAll(mark, cgroup);
}

async function endAll(mark: string, cgroup: string | undefined): Promise<void> {
  if (cgroup !== undefined) for (const group of listRunCgroups(cgroup, mark)) killCgroup(group);
  await endMarkedProcesses(mark, systemRuntime);
}

const [mark, cgroup] = process.argv.slice(2);
if (mark !== undefined && process.argv[1]?.endsWith('warden.cjs'))
  void guardConnectors(process.stdin, { mark, cgroup });
