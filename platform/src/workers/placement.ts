/**
 * Where a job may run. Pure, but for what it is given.
 *
 * Invariants: a worker that was enrolled for some workspaces stands in a customer's network unless the operator trusts it, and
 * never gets a secret of the operator. A refresh token goes to no worker. A connector that works on the files of one machine
 * runs only in the process that everybody can rely on to be on that machine.
 */
import type { ActorCredential } from '../actors/requests.ts';
import type { ActorRow, WorkerRow, WorkspaceRow } from '../db/tables.ts';
import type { Definition } from '../definitions/definitions.ts';
import type { Labels } from '../fields.ts';

export interface Candidate {
  workspace: Pick<WorkspaceRow, 'workspace_id' | 'worker_labels'>;
  source: PlacedActor;
  destination: PlacedActor;
}

export type PlacedActor = Pick<ActorRow, 'kind' | 'definition_id' | 'credential' | 'is_customers_own'>;

/** A definition by its id; undefined for the manifest of a workspace. */
export type FindDefinition = (definitionId: string) => Definition | undefined;

/** What these connectors read and write is on one machine. */
const ofOneMachine = new Set(['file', 'local-files']);

/** A sentence that says why a worker can't run something with these connectors; undefined if it can. */
export function whyNotOnWorker(
  worker: Pick<WorkerRow, 'name' | 'labels' | 'workspace_ids' | 'is_trusted' | 'connectors'>,
  { workspace, actors }: { workspace: Candidate['workspace']; actors: readonly PlacedActor[] },
  find: FindDefinition,
): string | undefined {
  const only: string[] | null = worker.workspace_ids === null ? null : JSON.parse(worker.workspace_ids);
  if (only && !only.includes(workspace.workspace_id)) return 'No worker that serves this workspace is connected.';
  const missing = missingLabels(workspace, JSON.parse(worker.labels));
  if (missing !== undefined) return missing;
  const connectors: string[] = JSON.parse(worker.connectors);
  for (const actor of actors) {
    const reason = whyNotConnector(actor, find, connectors);
    if (reason !== undefined) return reason;
  }
  const credentials = actors.flatMap(({ credential }) => (credential === null ? [] : [JSON.parse(credential)]));
  if (credentials.some(({ hand_over }: ActorCredential) => hand_over === 'refresh_token')) {
    return 'The source refreshes its sign-in itself, and workers never get a refresh token.';
  }
  if (only && worker.is_trusted !== 1) {
    const operators = actors.find(({ is_customers_own }) => is_customers_own !== 1);
    if (operators) {
      return `The ${operators.kind} has credentials of the operator, and worker ${worker.name} is not trusted with them.`;
    }
  }
  return undefined;
}

/** The same for the process of a coordinator. */
export function whyNotHere(
  { workspace, source, destination }: Candidate,
  find: FindDefinition,
  isAlone: boolean,
): string | undefined {
  const labels = labelsOf(workspace);
  if (labels) return noWorker(labels);
  const definitions = [source, destination].flatMap(({ definition_id }) => find(definition_id) ?? []);
  const bound = definitions.find(isOfOneMachine);
  return isAlone || !bound ? undefined : onlyOneMachine(bound);
}

function whyNotConnector(actor: PlacedActor, find: FindDefinition, connectors: string[]): string | undefined {
  const definition = find(actor.definition_id);
  // Every worker can run a manifest of a workspace.
  if (!definition) return undefined;
  if (isOfOneMachine(definition)) return onlyOneMachine(definition);
  const { name, launch } = definition;
  const needed = connectorNeeded(definition);
  if (needed === undefined || connectors.includes(needed)) return undefined;
  if (launch?.type === 'image' && !/@sha256:[0-9a-f]{64}$/.test(launch.image)) {
    return `${name} runs an image by its tag, and workers run images only by digest.`;
  }
  return `No worker with the connector ${name} (${needed}) is connected.`;
}

const isOfOneMachine = ({ slug, launch, manifest }: Definition) => ofOneMachine.has(slug) && !launch && !manifest;

const onlyOneMachine = ({ name }: Definition) =>
  `${name} works on the files of one machine, so it runs only where a single process coordinates, and not on workers.`;

/** As a worker reports what it has; undefined for a manifest, which every worker can run. */
export function connectorNeeded({ launch, manifest, kind, slug, version, name }: Definition): string | undefined {
  if (manifest) return undefined;
  if (launch?.type === 'command') return `command:${name}`;
  return launch?.type === 'image' ? `image:${launch.image}` : `${kind}:${slug}@${version}`;
}

function labelsOf({ worker_labels: labels }: Candidate['workspace']): Labels | undefined {
  return labels === null ? undefined : JSON.parse(labels);
}

function missingLabels(workspace: Candidate['workspace'], labels: Labels): string | undefined {
  const wanted = labelsOf(workspace);
  const isMet = Object.entries(wanted ?? {}).every(
    ([key, value]) => Object.hasOwn(labels, key) && labels[key] === value,
  );
  return wanted && !isMet ? noWorker(wanted) : undefined;
}

const noWorker = (labels: Labels) => {
  const words = Object.entries(labels).map((pair) => pair.join('='));
  return `No worker with the labels ${words.join(', ') || '(none)'} is connected.`;
};
