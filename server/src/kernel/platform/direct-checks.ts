/** Checks of a platform that has them, which is the bundled one: started, and asked for until there is an outcome. */
import type { Runtime } from '../runtime.ts';
import { type Call, readable } from './calls.ts';
import { type Item, readFailure, readStreamNames, readWarnings } from './pipelines-answers.ts';
import type { ConnectorKind, PipelinesPort, Verdict } from './pipelines-port.ts';
import { PlatformError } from './platform-port.ts';

const pollMs = 250;
const patienceMs = 300_000;

export const checksPath = (kind: ConnectorKind) => `/${kind}s/check_connection`;

/** Throws when the signal says that nobody waits any more. Undefined where the platform does not take the check: it has none, or refuses this one. */
export async function checkDirectly(
  call: Call,
  runtime: Runtime,
  kind: ConnectorKind,
  connector: object,
  ending: AbortSignal,
): Promise<Verdict | undefined> {
  const path = checksPath(kind);
  const operation = `check_${kind}`;
  const started = await call(operation, 'probe', { method: 'POST', path, body: connector });
  if (started.status === 429 || started.status >= 500) throw unavailable(started);
  if (started.status >= 300) return undefined;
  const { checkId } = readable(started) as { checkId?: unknown };
  const deadline = runtime.elapsed() + patienceMs;
  while (runtime.elapsed() < deadline) {
    const answer = await call(operation, 'read', { method: 'GET', path: `${path}/${checkId}` });
    const { status, message, fields, origin = kind, warnings, streams } = readable(answer) as Item;
    if (status === 'succeeded') return { status, warnings: readWarnings(warnings), streams: readStreamNames(streams) };
    if (status === 'failed') return { status, failure: readFailure({ message, fields, origin }) };
    await runtime.sleep(pollMs, ending);
    if (ending.aborted) throw new PlatformError('unavailable', 'the service is stopping');
  }
  return { status: 'failed', failure: { message: 'The check timed out. Try again.', origin: kind } };
}

/** No check has this id. */
const noCheck = '00000000-0000-0000-0000-000000000000';

export function createDirectChecks(
  call: Call,
  runtime: Runtime,
  ending: AbortSignal,
): Pick<PipelinesPort, 'checksDestinations' | 'checkDestination' | 'discoverStreams'> {
  return {
    async checksDestinations() {
      const path = `${checksPath('destination')}/${noCheck}`;
      const answer = await call('check_destination', 'probe', { method: 'GET', path });
      if (answer.status === 429 || answer.status >= 500) throw unavailable(answer);
      // A platform that knows the path says that it has no such check.
      return answer.status === 404 && /"resourceType"\s*:\s*"check"/.test(answer.text);
    },
    async checkDestination(destination) {
      const outcome = await checkDirectly(call, runtime, 'destination', destination, ending);
      if (!outcome) throw new PlatformError('rejected', 'the platform rejected the check');
      return outcome;
    },
    async discoverStreams(source) {
      const outcome = await checkDirectly(call, runtime, 'source', { ...source, listStreams: true }, ending);
      if (!outcome) throw new PlatformError('rejected', 'the platform rejected the check');
      return outcome;
    },
  };
}

/** Error for a response that says nothing about the configuration. */
export function unavailable({ status }: { status: number }): PlatformError {
  return new PlatformError('unavailable', `the platform responded with status ${status}`);
}
