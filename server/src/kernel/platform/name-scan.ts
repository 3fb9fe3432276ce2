/**
 * Finds a name on a platform that has no name filter, by reading all pages. Each organization has one scan at a time.
 * All callers that ask while a scan runs share the next scan, not the running one: the running scan may already have
 * passed the place where the name was added.
 */
import { type PlatformWorkspace, sameName } from './platform-port.ts';

interface Scans {
  running: Promise<PlatformWorkspace[]>;
  next: Promise<PlatformWorkspace[]> | undefined;
}

export class NameScan {
  readonly #scans = new Map<string, Scans>();

  constructor(private readonly pages: (organizationId: string) => AsyncIterable<PlatformWorkspace[]>) {}

  async find(organizationId: string, name: string): Promise<PlatformWorkspace[]> {
    const all = await this.#share(organizationId);
    return all.filter((workspace) => sameName(workspace.name, name));
  }

  #share(organizationId: string): Promise<PlatformWorkspace[]> {
    const scans = this.#scans.get(organizationId);
    if (!scans) return this.#start(organizationId);
    const begin = () => this.#start(organizationId);
    scans.next ??= scans.running.then(begin, begin);
    return scans.next;
  }

  #start(organizationId: string): Promise<PlatformWorkspace[]> {
    const scans: Scans = { running: this.#readAll(organizationId), next: undefined };
    this.#scans.set(organizationId, scans);
    const finish = () => {
      if (this.#scans.get(organizationId) === scans && !scans.next) this.#scans.delete(organizationId);
    };
    scans.running.then(finish, finish);
    return scans.running;
  }

  async #readAll(organizationId: string): Promise<PlatformWorkspace[]> {
    const all: PlatformWorkspace[] = [];
    for await (const page of this.pages(organizationId)) all.push(...page);
    return all;
  }
}
