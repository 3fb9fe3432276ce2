/**
 * Machines of their own, as far as the network can tell: each a network namespace with one cable to this machine, which can be
 * pulled. Needs root on Linux.
 */
import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { findSystemProgram } from '../../../scripts/programs.mjs';

export interface Machine {
  readonly name: string;
  /** What to start instead of a program, so that it runs on the machine. */
  command(program: string, args: readonly string[]): [program: string, args: string[]];
  /** Nothing arrives any more, in either direction, and nobody is told. */
  pull(): void;
  plug(): void;
}

export interface Network {
  /** Where every machine reaches this one. */
  readonly address: string;
  readonly machines: readonly Machine[];
  remove(): void;
}

export async function makeNetwork(count: number): Promise<Network> {
  const ip = await findSystemProgram('ip', 'iproute2');
  const run = (...args: string[]) => execFileSync(ip, args, { stdio: 'pipe' });
  // Runs side by side have networks of their own.
  const block = randomInt(64, 256);
  const address = `10.${block}.255.254`;
  const names: string[] = [];
  run('address', 'add', `${address}/32`, 'dev', 'lo');

  function makeMachine(index: number): Machine {
    const name = `inlay-${block}-${index}`;
    const [here, there] = [`in${block}h${index}`, `in${block}m${index}`];
    const [near, far] = [1, 2].map((last) => `10.${block}.${index}.${last}`) as [string, string];
    run('netns', 'add', name);
    names.push(name);
    run('link', 'add', here, 'type', 'veth', 'peer', 'name', there);
    run('link', 'set', there, 'netns', name);
    run('address', 'add', `${near}/30`, 'dev', here);
    run('link', 'set', here, 'up');
    run('-n', name, 'address', 'add', `${far}/30`, 'dev', there);
    run('-n', name, 'link', 'set', 'lo', 'up');
    const connect = () => {
      run('-n', name, 'link', 'set', there, 'up');
      // The system forgets the route with the link.
      run('-n', name, 'route', 'replace', 'default', 'via', near);
    };
    connect();
    return {
      name,
      command: (program, args) => [ip, ['netns', 'exec', name, program, ...args]],
      pull: () => void run('-n', name, 'link', 'set', there, 'down'),
      plug: connect,
    };
  }

  const remove = () => {
    for (const name of names.splice(0)) run('netns', 'delete', name);
    run('address', 'delete', `${address}/32`, 'dev', 'lo');
  };
  try {
    return { address, machines: Array.from({ length: count }, (_, index) => makeMachine(index)), remove };
  } catch (error) {
    remove();
    throw error;
  }
}
