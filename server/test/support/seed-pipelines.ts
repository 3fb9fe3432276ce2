/** Workspaces with a source, a connection and jobs each, written straight into the store: for lists that are long. */
import { randomUUID } from 'node:crypto';
import type { HealthState } from '@inlay/contract/pipelines/health';
import type { Store } from '../../src/kernel/db/open.ts';
import type { Tables } from '../../src/kernel/db/tables.ts';

export interface Seeded {
  organizationId: string;
  workspaceId: string;
  sourceId: string;
  connectionId: string;
}

export interface SeedOptions {
  organizationId: string;
  workspaces: number;
  jobsEach: number;
  healthOf?(index: number): HealthState;
  definitionId?: string;
}

const batch = 200;
const firstAt = Date.UTC(2026, 0, 1);

/** The workspace of index n, its source and its connection were created n seconds after the first; its jobs a minute apart. */
export async function seedPipelines(store: Store, options: SeedOptions) {
  const { organizationId, workspaces, jobsEach, healthOf = () => 'healthy', definitionId = randomUUID() } = options;
  const [sourceTemplateId, connectionTemplateId] = [randomUUID(), randomUUID()];
  const stamps = { organization_id: organizationId, created_at: firstAt, updated_at: firstAt, deleted_at: null };
  const template = { definition_id: definitionId, icon: null, version: 1, ...stamps };
  await store.db
    .insertInto('source_templates')
    .values({
      id: sourceTemplateId,
      name: 'Seeded',
      description: null,
      category: null,
      own_icon: null,
      sealed_defaults: '',
      customization: '{}',
      ...template,
    })
    .execute();
  await store.db
    .insertInto('connection_templates')
    .values({
      id: connectionTemplateId,
      destination_name: 'Warehouse',
      sealed_destination_config: '',
      cron_expression: null,
      non_breaking_changes_preference: 'ignore',
      sync_on_create: 0,
      namespace_format: null,
      prefix: null,
      ...template,
    })
    .execute();

  const seeded: Seeded[] = [];
  for (let from = 0; from < workspaces; from += batch) {
    const rows = Array.from({ length: Math.min(batch, workspaces - from) }, (_, offset) => from + offset).map(
      (index) => {
        const ids = { workspaceId: randomUUID(), sourceId: randomUUID(), connectionId: randomUUID() };
        seeded.push({ organizationId, ...ids });
        const createdAt = firstAt + index * 1_000;
        const health = healthOf(index);
        const remote = {
          organization_id: organizationId,
          workspace_id: ids.workspaceId,
          no_post_before: 0,
          failure: null,
          customer_failure: null,
          created_at: createdAt,
          deleted_at: null,
        };
        const destinationId = randomUUID();
        const made = { source_template_id: sourceTemplateId, definition_id: definitionId, health };
        const name = `customer ${index}`;
        return {
          workspaces: {
            id: ids.workspaceId,
            organization_id: organizationId,
            name,
            name_folded: name,
            desired_name: null,
            status: 'active',
            lifecycle: 'live',
            gen: 1,
            name_gen: 1,
            name_settled_at: 0,
            token_gen: 1,
            created_at: createdAt,
            updated_at: createdAt,
            deleted_at: null,
            health,
            unwell_since: health === 'failing' || health === 'needs_attention' ? createdAt : null,
            active_at: jobsEach === 0 ? 0 : createdAt + jobsEach * 60_000 - 30_000,
          },
          sources: {
            id: ids.sourceId,
            platform_id: ids.sourceId,
            ...remote,
            ...made,
            name: 'Shop',
            slug: 'shop',
            sealed_config: '',
            version: 1,
            applied_version: 1,
            lifecycle: 'live',
            due_at: null,
            lease_id: null,
            lease_until: 0,
            attempts: 0,
            last_error: null,
            updated_at: createdAt,
          },
          destinations: {
            id: destinationId,
            platform_id: destinationId,
            ...remote,
            connection_template_id: connectionTemplateId,
            name: 'Warehouse',
            lease_id: null,
            lease_until: 0,
          },
          connections: {
            id: ids.connectionId,
            platform_id: ids.connectionId,
            ...remote,
            ...made,
            connection_template_id: connectionTemplateId,
            source_id: ids.sourceId,
            destination_id: destinationId,
            cron_expression: null,
            schema_changes: 'ignore',
            namespace_format: '',
            prefix: '',
            first_sync_wanted: 0,
            is_set_up: 1,
            status: 'active',
            health_detail: '{}',
            platform_state: null,
            platform_reason: null,
            looked_at: createdAt,
            history_wanted: 0,
          },
          jobs: Array.from({ length: jobsEach }, (_, job) => ({
            organization_id: organizationId,
            workspace_id: ids.workspaceId,
            connection_id: ids.connectionId,
            source_id: ids.sourceId,
            source_template_id: sourceTemplateId,
            connection_template_id: connectionTemplateId,
            definition_id: definitionId,
            id: String(index * jobsEach + job + 1),
            platform_id: String(index * jobsEach + job + 1),
            type: 'sync',
            status: health === 'failing' ? 'failed' : 'succeeded',
            started_at: createdAt + job * 60_000,
            ended_at: createdAt + job * 60_000 + 30_000,
            attempts: 1,
            failed_attempts: health === 'failing' ? 1 : 0,
            failed_at: null,
            row_count: 10,
            byte_count: 100,
            failure_kind: health === 'failing' ? 'transient_error' : null,
            failure_origin: health === 'failing' ? 'source' : null,
            failure_whose: health === 'failing' ? 'customer' : null,
            customer_error: null,
            error: health === 'failing' ? 'The line was cut.' : null,
            attempt_list: null,
            streams: null,
            more_streams: 0,
            row_points: null,
            request_id: null,
            trace_id: null,
            seen_at: createdAt,
          })),
        };
      },
    );
    await store.transaction(async (tx) => {
      for (const table of ['workspaces', 'sources', 'destinations', 'connections', 'jobs'] as const) {
        const values = rows.flatMap((row) => row[table] as Tables[typeof table] | Tables[typeof table][]);
        // A statement takes a limited number of values.
        for (let from = 0; from < values.length; from += batch) {
          await tx
            .insertInto(table)
            .values(values.slice(from, from + batch) as never)
            .execute();
        }
      }
    });
  }
  return { seeded, sourceTemplateId, connectionTemplateId, definitionId };
}
