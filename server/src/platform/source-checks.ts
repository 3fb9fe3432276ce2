/**
 * Whether a configuration would work as a source, before the source is made. A platform with a check is asked. On other
 * platforms a temporary source is made, tried and deleted again.
 */
import type { Runtime } from '../runtime.ts';
import { type Call, readable } from './calls.ts';
import { readFailure, reasonIn } from './pipelines-answers.ts';
import type { CheckOutcome, NewPlatformConnector, PipelinesPort } from './pipelines-port.ts';
import { PlatformError } from './platform-port.ts';
import type { PlatformAnswer } from './transport.ts';

const checkPollMs = 250;
const checkPatienceMs = 300_000;

/** The name of a source that exists for a check only. */
export const checkNameOf = (checkId: string) => `inlay check ${checkId}`;

type Connectors = Pick<PipelinesPort, 'createConnector' | 'deleteConnector'>;
type Unnamed = Omit<NewPlatformConnector, 'name'>;

export function createSourceChecks(
  call: Call,
  runtime: Runtime,
  { createConnector, deleteConnector }: Connectors,
): PipelinesPort['checkSource'] {
  /** The bundled platform checks without making anything. Undefined on a platform without such a check. */
  async function checkDirectly(connector: Unnamed): Promise<CheckOutcome | undefined> {
    const path = '/sources/check_connection';
    const started = await call('check_source', 'probe', { method: 'POST', path, body: connector });
    if (started.status === 429 || started.status >= 500) throw unavailable(started);
    if (started.status >= 300) return undefined;
    const { checkId } = readable(started) as { checkId?: unknown };
    const deadline = runtime.elapsed() + checkPatienceMs;
    while (runtime.elapsed() < deadline) {
      const answer = await call('check_source', 'read', { method: 'GET', path: `${path}/${checkId}` });
      const { status, message, fields } = readable(answer) as Record<'status' | 'message' | 'fields', unknown>;
      if (status === 'succeeded') return { status, leftSource: false };
      if (status === 'failed') {
        return { status, failure: readFailure({ message, fields, origin: 'source' }), leftSource: false };
      }
      await runtime.sleep(checkPollMs);
    }
    const failure = readFailure({ message: 'The check took too long and was given up.', origin: 'source' });
    return { status: 'failed', failure, leftSource: false };
  }

  /**
   * A hosted platform has no check in its public API, but it runs the connector to list a source's streams. So a source
   * is made for this purpose and deleted again.
   */
  async function checkByListing(checkId: string, connector: Unnamed): Promise<CheckOutcome> {
    const sourceId = await createConnector('source', { ...connector, name: checkNameOf(checkId) });
    let answer: PlatformAnswer;
    let leftSource = true;
    try {
      const path = `/streams?${new URLSearchParams({ sourceId, ignoreCache: 'true' })}`;
      answer = await call('check_source', 'slow_probe', { method: 'GET', path });
    } finally {
      leftSource = !(await isDeleted(sourceId));
    }
    if (answer.status < 300) return { status: 'succeeded', leftSource };
    // An answer of a proxy before the platform says nothing about the configuration.
    const failure = reasonIn(answer);
    if (failure === undefined) throw unavailable(answer);
    return { status: 'failed', failure, leftSource };
  }

  /** If the source cannot be deleted now, the result of the check still holds; the caller deletes the source later. */
  async function isDeleted(sourceId: string): Promise<boolean> {
    try {
      await deleteConnector('source', sourceId);
      return true;
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      return false;
    }
  }

  return async (checkId, connector) => (await checkDirectly(connector)) ?? (await checkByListing(checkId, connector));
}

function unavailable({ status }: { status: number }): PlatformError {
  return new PlatformError('unavailable', `the platform answered ${status}`);
}
