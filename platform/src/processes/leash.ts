/**
 * Ties a connector to this process and enforces its limits: if this process ends, in whatever way, the connector ends
 * too. A connector is started through a small shell that leaves a watcher in the connector's process group and then
 * becomes the connector. The watcher reads a pipe whose other end only this process holds. When that end closes, the
 * watcher kills the connector and everything it has started, and removes its files.
 *
 * The limits are those of the operating system for one process: of memory that a program asks for to write to (not of
 * addresses, of which runtimes such as Node.js reserve far more than they use), and of open files. Where the service itself
 * may use less, that counts.
 *
 * Needs only a POSIX shell. A parent-death signal would miss processes that the connector has started, and exists only
 * on Linux.
 *
 * Descendants that have left the process group are found in the control group of the run, or by the variable `INLAY_RUN`,
 * which marks the connector and all its descendants, where there is /proc; see run-watch.ts.
 */
import type { ConnectorLimits } from './limits.ts';
import { markVariable } from './marked-processes.ts';

export interface Leash {
  /** The value of the mark: of this run of this connector alone. */
  mark: string;
  /** The folder with the connector's files, which goes with the connector. */
  folder: string | undefined;
  /** A program and its arguments that remove what outlives the connector's process: a container. */
  removal: readonly string[] | undefined;
  /**
   * The control group that the connector joins. The watcher stays outside, so that it survives the end of the group.
   */
  cgroup: string | undefined;
  limits: ConnectorLimits;
}

/** The descriptor at which the watcher waits, for the list `stdio` of a new process. */
export const leashDescriptor = 3;

const shell = '/bin/sh';

const script = `
mark=$1 folder=$2 removal=$3 kilobytes=$4 files=$5 cgroup=$6
shift 6
(
  trap '' HUP INT TERM
  exec <&${leashDescriptor} ${leashDescriptor}<&- >/dev/null 2>&1
  read -r _
  kill -9 $$
  [ ! -w "$cgroup/cgroup.kill" ] || echo 1 >"$cgroup/cgroup.kill"
  eval "$removal"
  [ -z "$folder" ] || rm -rf "$folder"
  if [ -r /proc/self/environ ]; then
    read -r self _ </proc/self/stat
    for file in $(grep -ls "${markVariable}=$mark" /proc/[0-9]*/environ); do
      pid=\${file#/proc/}
      pid=\${pid%/environ}
      [ "$pid" = "$self" ] || kill -9 "$pid"
    done
  fi
  tries=0
  until [ -z "$cgroup" ] || rmdir "$cgroup" || [ $tries -ge 5 ]; do
    tries=$((tries + 1))
    sleep 1
  done
  kill -9 0
) &
exec ${leashDescriptor}<&-
[ -z "$cgroup" ] || echo $$ >"$cgroup/cgroup.procs"
ulimit -d "$kilobytes" 2>/dev/null
ulimit -n "$files" 2>/dev/null
exec "$@"
`;

/** What to start instead of the program: it becomes the program, with the same process id. */
export function leashed(program: string, args: readonly string[], { mark, folder, removal, limits, cgroup }: Leash) {
  const removalText = (removal ?? []).map(quoted).join(' ');
  const numbers = [Math.ceil(limits.memoryBytes / 1024), limits.openFiles].map(String);
  const given = ['inlay-connector', mark, folder ?? '', removalText, ...numbers, cgroup ?? ''];
  return { program: shell, args: ['-c', script, ...given, program, ...args] };
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
