/**
 * A control group for each connector run, if the service may create some below its own (Linux, cgroup v2). A process
 * cannot leave it by creating a session, losing its parent or clearing its environment. Without control groups,
 * run-watch.ts follows the process tree.
 *
 * The group only shows which processes belong to a run, and ends all of them at once. Controllers are not used: a group
 * with its own processes, such as the service's, cannot enable any for its children.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { kill } from './marked-processes.ts';

const prefix = 'inlay-';

/** The service's own group, if child groups can be created in it and processes moved into them; otherwise undefined. */
export function findUsableCgroup(mark: string): string | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const own = ownCgroup();
    const tried = own && makeRunCgroup(own, `${mark}.0`);
    if (tried === undefined) return undefined;
    try {
      execFileSync('/bin/sh', ['-c', 'echo $$ >"$0/cgroup.procs"', tried], { stdio: 'ignore' });
      return own;
    } finally {
      rmdirSync(tried);
    }
  } catch {
    // Nobody there may be moved.
    return undefined;
  }
}

/** Undefined where it cannot be made. This is usual in containers, where groups are read-only. */
export function makeRunCgroup(parent: string, connectorMark: string): string | undefined {
  try {
    const made = join(parent, `${prefix}${connectorMark.replace(/\.$/, '')}`);
    mkdirSync(made);
    return made;
  } catch {
    return undefined;
  }
}

/** The groups of all connectors that a run of the service has started. */
export function listRunCgroups(parent: string, serviceMark: string): string[] {
  if (!existsSync(parent)) return [];
  const names = readdirSync(parent).filter((name) => name.startsWith(`${prefix}${serviceMark}.`));
  return names.map((name) => join(parent, name));
}

/** Ends every process in it, and in the groups below. */
export function killCgroup(path: string): void {
  if (existsSync(join(path, 'cgroup.kill'))) writeFileSync(join(path, 'cgroup.kill'), '1');
  // Kernels before 5.14 cannot do it at once. Someone who makes processes all the time is caught by a repetition.
  else for (const pid of allProcessesIn(path)) kill(pid);
}

/** Including child groups; without exited processes that wait for their parent. */
export function allProcessesIn(path: string): number[] {
  return [path, ...groupsIn(path)].flatMap(processesIn);
}

/** Fails where a process is left. */
export function removeCgroup(path: string): void {
  for (const group of [...groupsIn(path).reverse(), path]) if (existsSync(group)) rmdirSync(group);
}

function processesIn(path: string): number[] {
  try {
    return readFileSync(join(path, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number);
  } catch {
    // The group is gone.
    return [];
  }
}

/** Outer ones first. */
function groupsIn(path: string): string[] {
  if (!existsSync(path)) return [];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => [join(path, name), ...groupsIn(join(path, name))]);
}

function ownCgroup(): string | undefined {
  const [, path] = /^0::(\/.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8')) ?? [];
  // Before the dash: the root of the mount within the hierarchy, and where it is mounted.
  const mounted = /^\S+ \S+ \S+ (\S+) (\S+) .*? - cgroup2 /m.exec(readFileSync('/proc/self/mountinfo', 'utf8'));
  if (path === undefined || !mounted) return undefined;
  const [, root = '/', mountPoint = ''] = mounted;
  const below = relative(root, path);
  return below.startsWith('..') ? undefined : join(mountPoint, below);
}
