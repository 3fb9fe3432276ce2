/*
 * The history of the platform's tables. Append only: a migration that has run on someone's machine is never edited,
 * and the keys sort in the order they were written. All pending ones run in a single transaction.
 */
import { type Kysely, type Migration, sql } from 'kysely';

export const migrations: Record<string, Migration> = {
  '0001-organizations-workspaces-connectors-connections': {
    async up(db) {
      await run(
        db,
        `create table organizations (
          seq integer primary key autoincrement,
          organization_id text not null unique,
          created_at integer not null
        )`,
        `create table workspaces (
          seq integer primary key autoincrement,
          workspace_id text not null unique,
          organization_id text not null references organizations (organization_id),
          name text not null,
          name_nfc text not null,
          data_residency text not null check (data_residency in ('us', 'eu')),
          notifications text not null check (json_valid(notifications)),
          created_at integer not null,
          deleted_at integer
        )`,
        // With the organization behind the name: looking a name up within one organization must not walk through all of it.
        `create index workspaces_by_name on workspaces (name_nfc, organization_id, seq)`,
        `create index workspaces_by_organization on workspaces (organization_id, seq)`,
        `create table connectors (
          seq integer primary key autoincrement,
          connector_id text not null unique,
          kind text not null check (kind in ('source', 'destination')),
          workspace_id text not null references workspaces (workspace_id),
          definition_id text not null,
          name text not null,
          configuration text not null check (json_valid(configuration)),
          resource_allocation text check (json_valid(resource_allocation)),
          created_at integer not null,
          deleted_at integer
        )`,
        `create index connectors_by_workspace on connectors (workspace_id, kind, seq)`,
        `create table connections (
          seq integer primary key autoincrement,
          connection_id text not null unique,
          workspace_id text not null references workspaces (workspace_id),
          source_id text not null references connectors (connector_id),
          destination_id text not null references connectors (connector_id),
          name text not null,
          status text not null check (status in ('active', 'inactive', 'deprecated')),
          cron_expression text,
          configurations text not null check (json_valid(configurations)),
          namespace_definition text not null,
          namespace_format text,
          prefix text not null,
          schema_updates_behavior text not null,
          tags text not null check (json_valid(tags)),
          created_at integer not null,
          deleted_at integer,
          check ((status = 'deprecated') = (deleted_at is not null))
        )`,
        `create index connections_by_workspace on connections (workspace_id, seq)`,
        `create index connections_by_source on connections (source_id)`,
        `create index connections_by_destination on connections (destination_id)`,
      );
    },
  },
};

async function run(db: Kysely<unknown>, ...statements: string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
