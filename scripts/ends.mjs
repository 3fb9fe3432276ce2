/* For tests of work that must terminate: without a limit, testing an endless loop would hang the whole run. */
import vm from 'node:vm';

/** Far longer than the work takes on a slow machine. */
const patienceMs = 30_000;

/** Returns the work's result. Throws if the work does not end, including a match of a regular expression. */
export function ends(work) {
  return vm.runInNewContext('work()', { work }, { timeout: patienceMs });
}
