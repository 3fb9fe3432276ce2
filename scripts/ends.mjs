/* For tests of work that must come to an end: without a limit, a test of an endless loop would hold up its whole run. */
import vm from 'node:vm';

/** Far longer than the work takes on a slow machine. */
const patienceMs = 30_000;

/** Gives what the work gives. Throws when the work does not end, a match of a regular expression included. */
export function ends(work) {
  return vm.runInNewContext('work()', { work }, { timeout: patienceMs });
}
