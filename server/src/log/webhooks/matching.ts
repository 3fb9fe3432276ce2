/** Which events an endpoint wants. */

export interface EndpointFilter {
  types: readonly string[];
  workspaceIds: readonly string[] | null;
  tags: readonly string[] | null;
  /** The endpoint of a customer: only its own workspace, and only what customers may read. */
  ownWorkspaceId: string | null;
}

export interface MatchedEvent {
  type: string;
  workspaceId: string | null;
  data: unknown;
}

export interface Surroundings {
  isForCustomers(type: string): boolean;
  /** The tags of a template, by its id. */
  tagsOf(templateId: string): readonly string[];
}

export function matches(filter: EndpointFilter, event: MatchedEvent, around: Surroundings): boolean {
  if (!filter.types.some((pattern) => matchesType(pattern, event.type))) return false;
  if (filter.ownWorkspaceId !== null) {
    return event.workspaceId === filter.ownWorkspaceId && around.isForCustomers(event.type);
  }
  if (filter.workspaceIds && !(event.workspaceId !== null && filter.workspaceIds.includes(event.workspaceId))) {
    return false;
  }
  const { tags } = filter;
  return tags === null || templateIdsOf(event.data).some((id) => around.tagsOf(id).some((tag) => tags.includes(tag)));
}

/** Checkpoints of the audit trail come every hour, for endpoints that keep them. Others have no use for them. */
const onlyIfNamed = 'audit.';

function matchesType(pattern: string, type: string): boolean {
  if (pattern === '*' && type.startsWith(onlyIfNamed)) return false;
  return pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : pattern === type;
}

/** The templates that an event is about, or from which its source or connection was made. */
function templateIdsOf(data: unknown): string[] {
  const { source, connection, template } = data as {
    source?: { source_template_id?: unknown };
    connection?: { connection_template_id?: unknown; source_template_id?: unknown };
    template?: { id?: unknown };
  };
  return [
    source?.source_template_id,
    connection?.source_template_id,
    connection?.connection_template_id,
    template?.id,
  ].filter((id): id is string => typeof id === 'string');
}
