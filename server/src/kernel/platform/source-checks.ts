/**
 * Whether a configuration would work as a source, before the source is made. A platform with a check is asked. On other
 * platforms a temporary source is made, tried and deleted again.
 */
import type { Runtime } from '../runtime.ts';
import type { Call } from './calls.ts';
import { bodyOf } from './connector-body.ts';
import { checkDirectly, unavailable } from './direct-checks.ts';
import { reasonIn } from './pipelines-answers.ts';
import type { CheckedConnector, CheckOutcome, NewPlatformConnector, PipelinesPort } from './pipelines-port.ts';
import { PlatformError } from './platform-port.ts';
import type { PlatformAnswer } from './transport.ts';

/** The name of a source that exists for a check only. */
export const checkNameOf = (checkId: string) => `inlay check ${checkId}`;

type Connectors = Pick<
  PipelinesPort,
  'createConnector' | 'deleteConnector' | 'createManifest' | 'deleteManifest' | 'resolvesCredentials'
>;

/** A temporary source would get the tokens first, and might spend them: a refresh token often works once. */
const checkedLater: CheckOutcome = {
  status: 'succeeded',
  warnings: [{ code: 'checked_later', message: 'The sign-in is tested after the source is created.' }],
  leftSource: false,
};

export function createSourceChecks(
  call: Call,
  runtime: Runtime,
  ending: AbortSignal,
  { createConnector, deleteConnector, createManifest, deleteManifest, resolvesCredentials }: Connectors,
): PipelinesPort['checkSource'] {
  /**
   * A hosted platform has no check in its public API, but it runs the connector to list a source's streams. So a source
   * is made for this purpose and deleted again; for a manifest, a definition as well.
   */
  async function checkByListing(checkId: string, connector: CheckedConnector): Promise<CheckOutcome> {
    if ('definitionId' in connector) return await checkKnown(checkId, connector);
    const { manifest, ...configured } = connector;
    const { workspaceId } = connector;
    const definitionId = await createManifest({ workspaceId, name: checkNameOf(checkId), manifest });
    let outcome: CheckOutcome | undefined;
    let isTidy = false;
    try {
      outcome = await checkKnown(checkId, { ...configured, definitionId });
    } finally {
      // A source that could not be deleted still needs it.
      isTidy = outcome?.leftSource !== true && (await isDone(() => deleteManifest(workspaceId, definitionId)));
    }
    return { ...outcome, leftSource: !isTidy };
  }

  async function checkKnown(checkId: string, connector: Omit<NewPlatformConnector, 'name'>): Promise<CheckOutcome> {
    const sourceId = await createConnector('source', { ...connector, name: checkNameOf(checkId) });
    let answer: PlatformAnswer;
    let leftSource = true;
    try {
      const path = `/streams?${new URLSearchParams({ sourceId, ignoreCache: 'true' })}`;
      answer = await call('check_source', 'slow_probe', { method: 'GET', path });
    } finally {
      leftSource = !(await isDone(() => deleteConnector('source', sourceId)));
    }
    if (answer.status < 300) return { status: 'succeeded', leftSource };
    // An answer of a proxy before the platform says nothing about the configuration.
    const failure = reasonIn(answer);
    if (failure === undefined) throw unavailable(answer);
    return { status: 'failed', failure, leftSource };
  }

  /** If the source cannot be deleted now, the result of the check still holds; the caller deletes the source later. */
  async function isDone(remove: () => Promise<void>): Promise<boolean> {
    try {
      await remove();
      return true;
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      return false;
    }
  }

  return async (checkId, connector) => {
    if (connector.credential && !(await resolvesCredentials())) return checkedLater;
    const outcome = await checkDirectly(call, runtime, 'source', bodyOf(connector), ending);
    return outcome ? { ...outcome, leftSource: false } : await checkByListing(checkId, connector);
  };
}
