/**
 * Which workspaces of an organization the platform has, and which of them have a given name. The platform's public
 * listing has no reliable filter for organization or name. So this file finds out what the platform can do, and uses
 * the cheapest way that is exact. What always holds: only workspaces of the requested organization are returned; and
 * when the platform shows workspaces without saying whose they are, none are returned.
 */
import type { Runtime } from '../runtime.ts';
import { type Call, readable } from './calls.ts';
import { NameScan } from './name-scan.ts';
import { pageSize, readPages } from './paging.ts';
import { PlatformError, type PlatformTraits, type PlatformWorkspace, sameName } from './platform-port.ts';
import type { PlatformAnswer } from './transport.ts';

interface WorkspaceItem {
  workspaceId?: unknown;
  name?: unknown;
  organizationId?: string;
  createdAt?: number;
  deleted?: unknown;
  tombstone?: unknown;
}

const internalListing = '/workspaces/list_by_organization_id';
/** Answers that say nothing about whether the platform knows a request. */
const passingStatuses = new Set([401, 408, 429, 502, 503, 504]);
/** A shorter part is in too many names: then it is cheaper to read all names, once for many callers. */
const shortestPart = 3;
/** Memberships change, but seldom. */
const organizationsKnownForMs = 300_000;

export class WorkspaceListing {
  #nameFilterIgnored = false;
  #hasInternalListing: boolean | undefined;
  #probing: Promise<void> | undefined;
  #listingOrganizations: Promise<string[]> | undefined;
  #organizations: { ids: string[]; until: number } | undefined;
  readonly #nameScan = new NameScan((organizationId) => this.all('scan_workspaces', organizationId));

  constructor(
    private readonly call: Call,
    private readonly runtime: Runtime,
  ) {}

  /** Page by page, each id once. */
  async *all(operation: string, organizationId: string, query: { name?: string } = {}) {
    const seen = new Set<string>();
    for await (const items of readPages((offset) => this.#publicPage(operation, organizationId, offset, query))) {
      if (items.some(namesNoOrganization) && (await this.#visibleOrganizations()).length > 1) {
        if (!(await this.#usesInternalListing(organizationId))) throw new PlatformError('rejected', indistinguishable);
        yield* this.#internalPages(operation, organizationId);
        return;
      }
      const ours = oursAmong(items, organizationId, seen);
      if (ours.length > 0) yield ours;
    }
  }

  async find(organizationId: string, name: string): Promise<PlatformWorkspace[]> {
    if (!this.#nameFilterIgnored) {
      const found = await this.#findFiltered(organizationId, name);
      if (found) return found;
    }
    const part = unchangingPart(name);
    if (part.length >= shortestPart && (await this.#usesInternalListing(organizationId))) {
      const found: PlatformWorkspace[] = [];
      for await (const page of this.#internalPages('find_workspaces', organizationId, part)) {
        found.push(...page.filter((workspace) => sameName(workspace.name, name)));
      }
      return found;
    }
    return await this.#nameScan.find(organizationId, name);
  }

  async organizations(): Promise<string[]> {
    const answer = await this.call('list_organizations', 'read', { method: 'GET', path: '/organizations' });
    const { data } = readable(answer) as { data?: { organizationId?: unknown }[] };
    return this.#remember((data ?? []).map((item) => String(item.organizationId).toLowerCase()));
  }

  async traits(organizationId: string): Promise<PlatformTraits> {
    const organizations = await this.#visibleOrganizations();
    const items = await this.#publicPage('list_workspaces', organizationId, 0, {});
    const tellsApart =
      organizations.length <= 1 ||
      !items.some(namesNoOrganization) ||
      (await this.#usesInternalListing(organizationId));
    return { organizations, tellsApart, findsNamesBy: await this.#waysToFindNames(organizationId, items.length > 0) };
  }

  async #waysToFindNames(organizationId: string, hasWorkspaces: boolean): Promise<PlatformTraits['findsNamesBy']> {
    if (!hasWorkspaces) return 'not known yet';
    // No workspace has this name, so if any come back, the platform does not filter.
    const name = this.runtime.newId();
    const filtered = await this.#publicPage('find_workspaces', organizationId, 0, { name });
    if (filtered.length === 0) return 'name filter';
    return (await this.#usesInternalListing(organizationId)) ? 'internal listing' : 'reading all';
  }

  /** Undefined when the platform ignores the filter: the first workspace with another name shows that. */
  async #findFiltered(organizationId: string, name: string): Promise<PlatformWorkspace[] | undefined> {
    const found: PlatformWorkspace[] = [];
    for await (const page of this.all('find_workspaces', organizationId, { name })) {
      for (const workspace of page) {
        if (!sameName(workspace.name, name)) {
          this.#nameFilterIgnored = true;
          return undefined;
        }
        found.push(workspace);
      }
    }
    return found;
  }

  async #publicPage(operation: string, organizationId: string, offset: number, query: { name?: string }) {
    const window = { limit: String(pageSize), offset: String(offset) };
    const path = `/workspaces?${new URLSearchParams({ organizationId, ...query, ...window })}`;
    return listIn(readable(await this.call(operation, 'read', { method: 'GET', path })), 'data');
  }

  async *#internalPages(operation: string, organizationId: string, nameContains?: string) {
    const seen = new Set<string>();
    const fetchPage = async (rowOffset: number) => {
      const request = internalRequest(organizationId, { pageSize, rowOffset }, nameContains);
      try {
        return listIn(readable(await this.call(operation, 'read', request)), 'workspaces');
      } catch (error) {
        if (!(error instanceof PlatformError) || error.failure === 'unavailable' || error.failure === 'throttled')
          throw error;
        // The platform no longer offers this listing. A retry uses another way.
        this.#hasInternalListing = false;
        throw new PlatformError('unavailable', error.message, { cause: error });
      }
    };
    // We do not trust an unsupported listing to filter: a workspace counts as ours only if it names our organization.
    for await (const items of readPages(fetchPage)) {
      yield oursAmong(
        items.filter((item) => !namesNoOrganization(item)),
        organizationId,
        seen,
      );
    }
  }

  /**
   * Whether the platform's unsupported listing by organization may be used: it is asked once, and only for an
   * organization that the credentials can see, for it may answer with an empty list for any other.
   */
  async #usesInternalListing(organizationId: string): Promise<boolean> {
    if (this.#hasInternalListing === false) return false;
    if (!(await this.#visibleOrganizations()).includes(organizationId.toLowerCase())) return false;
    if (this.#hasInternalListing === undefined) {
      this.#probing ??= this.#probeInternalListing(organizationId).finally(() => {
        this.#probing = undefined;
      });
      await this.#probing;
    }
    return this.#hasInternalListing ?? false;
  }

  async #probeInternalListing(organizationId: string): Promise<void> {
    try {
      const request = internalRequest(organizationId, { pageSize: 1, rowOffset: 0 });
      const answer = await this.call('probe_listing', 'probe', request);
      if (passingStatuses.has(answer.status)) return;
      this.#hasInternalListing = answer.status === 200 && isInternalListing(answer);
    } catch (error) {
      // Without an answer we know nothing. The next request asks again.
      if (!(error instanceof PlatformError)) throw error;
    }
  }

  async #visibleOrganizations(): Promise<string[]> {
    if (this.#organizations && this.runtime.elapsed() < this.#organizations.until) return this.#organizations.ids;
    this.#listingOrganizations ??= this.organizations()
      .catch((error) => {
        // A platform without that listing is so old that it has only one organization.
        if (error instanceof PlatformError && error.failure === 'not_found') return this.#remember([]);
        throw error;
      })
      .finally(() => {
        this.#listingOrganizations = undefined;
      });
    return await this.#listingOrganizations;
  }

  #remember(organizations: string[]): string[] {
    this.#organizations = { ids: organizations, until: this.runtime.elapsed() + organizationsKnownForMs };
    return organizations;
  }
}

const indistinguishable =
  'the credentials can access several organizations, and the platform does not report which one a workspace belongs to';

function internalRequest(
  organizationId: string,
  pagination: { pageSize: number; rowOffset: number },
  nameContains?: string,
) {
  const body = { organizationId, ...(nameContains === undefined ? {} : { nameContains }), pagination };
  return { method: 'POST', api: 'internal', path: internalListing, body } as const;
}

function listIn(answer: object, key: 'data' | 'workspaces'): WorkspaceItem[] {
  const list = (answer as Record<string, unknown>)[key];
  if (!Array.isArray(list)) throw new PlatformError('unavailable', 'the platform returned no list');
  return list;
}

function isInternalListing(answer: PlatformAnswer): boolean {
  try {
    return !listIn(readable(answer), 'workspaces').some(namesNoOrganization);
  } catch {
    return false; // A page for people, or another API altogether.
  }
}

function namesNoOrganization(item: WorkspaceItem): boolean {
  return typeof item?.organizationId !== 'string';
}

function oursAmong(items: WorkspaceItem[], organizationId: string, seen: Set<string>): PlatformWorkspace[] {
  const ours: PlatformWorkspace[] = [];
  for (const item of items) {
    if (typeof item?.workspaceId !== 'string' || typeof item.name !== 'string') continue;
    if (item.deleted === true || item.tombstone === true) continue;
    // A listing may ignore the filter for the organization. A workspace that names another organization is never ours.
    if (!namesNoOrganization(item) && item.organizationId?.toLowerCase() !== organizationId.toLowerCase()) continue;
    const id = item.workspaceId.toLowerCase();
    if (seen.has(id)) continue;
    seen.add(id);
    ours.push({ id, name: item.name, ...(item.createdAt === undefined ? {} : { createdAt: item.createdAt }) });
  }
  return ours;
}

/**
 * The longest part of a name that every name with the same NFC form contains, so that a platform that compares bytes
 * finds it. The part is ASCII, and no character in it stands before one that may combine with it. It has no `K`, no `;`
 * and no grave accent, because other characters (the Kelvin sign, the Greek question mark, varia) become these in NFC;
 * and no backslash, because that is the escape of SQL patterns.
 */
function unchangingPart(name: string): string {
  const parts = name.normalize('NFC').match(/(?:[ -:<-JL-[\]-_a-~](?![^ -~]))+/g) ?? [];
  return parts
    .map((part) => part.trim())
    .reduce((longest, part) => (part.length > longest.length ? part : longest), '');
}
