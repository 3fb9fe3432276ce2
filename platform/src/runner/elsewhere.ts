/** A runner that lets other machines answer the questions for connectors that don't run on this one. */
import type { Runner } from './runner.ts';

export const orElsewhere = (runner: Runner): Runner => ({
  ...runner,
  check: (connector, options) => connector.elsewhere?.check(options?.signal) ?? runner.check(connector, options),
  discover: (source, options) => source.elsewhere?.discover(options?.signal) ?? runner.discover(source, options),
});
