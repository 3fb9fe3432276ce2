/** Workers of the platform on this machine: machines that run its syncs. */
import { drainWorker, enrolWorker, listWorkers, revokeWorker } from '@inlay/platform/workers/workers';
import { withPlatform } from './connectors.ts';
import { print, printError, printJson, span, table } from './output.ts';

export interface EnrolOptions {
  name?: string;
  label?: Record<string, string>;
  workspace?: string[];
  trusted?: true;
  allowPrivateNetworks?: true;
  reusable?: true;
  json?: true;
}

/** Only the token goes to standard output: scripts pass it on. */
export async function enrol(options: EnrolOptions): Promise<void> {
  const { name, label: labels, workspace: workspaceIds, trusted, allowPrivateNetworks, reusable } = options;
  await withPlatform(
    async ({ workers }) => {
      const enrolled = await enrolWorker(workers, {
        ...(name !== undefined && { name }),
        ...(labels && { labels }),
        ...(workspaceIds && { workspaceIds }),
        ...{ trusted: trusted === true, allowPrivateNetworks: allowPrivateNetworks === true },
        reusable: reusable === true,
      });
      if (options.json) return printJson(enrolled);
      const { worker, token, expiresAt } = enrolled;
      const validity = expiresAt === null ? 'until you revoke it' : 'once, within one hour';
      printError(`Enrolled ${worker.name} (${worker.workerId}). The token works ${validity}.`);
      print(token);
    },
    { creates: true },
  );
}

export async function showWorkers({ json }: { json?: true }): Promise<void> {
  await withPlatform(async ({ workers, runtime }) => {
    const data = await listWorkers(workers);
    if (json) return printJson({ data });
    if (data.length === 0) return print('No workers. To enrol one, see: inlay workers enrol --help');
    const seen = (at: string | null) => (at === null ? '-' : `${span(runtime.now() - Date.parse(at))} ago`);
    const words = (labels: Record<string, string>) =>
      Object.entries(labels)
        .map((pair) => pair.join('='))
        .join(' ') || '-';
    table(
      ['ID', { title: 'NAME', isCut: true }, 'STATE', 'SLOTS', 'VERSION', 'SEEN', { title: 'LABELS', isCut: true }],
      data.map((worker) => [
        ...[worker.workerId, worker.name, worker.reusable ? 'reusable' : worker.state],
        ...[`${worker.slots - worker.freeSlots}/${worker.slots}`, worker.version ?? '-', seen(worker.lastSeenAt)],
        words(worker.labels),
      ]),
    );
  });
}

export async function drain(id: string, { resume }: { resume?: true }): Promise<void> {
  await withPlatform(async ({ workers }) => {
    const { name } = await drainWorker(workers, id, resume !== true);
    print(resume ? `${name} takes syncs again.` : `${name} takes no more syncs and hands back those it runs.`);
  });
}

export async function revoke(id: string): Promise<void> {
  await withPlatform(async ({ workers }) => {
    await revokeWorker(workers, id);
    print(`Revoked ${id}. What it runs continues elsewhere.`);
  });
}
