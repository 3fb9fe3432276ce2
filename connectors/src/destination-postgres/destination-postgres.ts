/*
 * The destination `postgres`: a typed table for each stream, in the schema named by the stream's namespace. Requires
 * its own session, so not a pooler in transaction mode.
 */

import {
  type Configuration,
  ConnectorError,
  type DestinationConnector,
  type Emitter,
  type Surroundings,
} from '@inlay/protocol/connector';
import { type ConfiguredCatalog, type StreamHolding, streamKey } from '@inlay/protocol/protocol';
import pg from 'pg';
import { attemptOf } from '../kit/attempts.ts';
import { inTransaction, withConnection } from '../postgres/connection.ts';
import { readServer } from '../postgres/server.ts';
import { Fence } from './fence.ts';
import { LostTable } from './holdings.ts';
import { claimTable } from './owners.ts';
import { specification } from './specification.ts';
import { addressOf, ensureSchema, prepareTable } from './table.ts';
import { TableWriter } from './table-writer.ts';
import { isRefusal, type Refusals, Writing } from './writing.ts';

const checkTimeoutMs = 60_000;

export const connector: DestinationConnector = {
  kind: 'destination',
  specification,

  async check(config, surroundings) {
    const server = readServer(config);
    await withConnection(server, surroundings, (client) =>
      inTransaction(client, { statementTimeoutMs: checkTimeoutMs, end: 'rollback' }, () =>
        tryToCreate(client, schemaOf(config), server.username, server.database),
      ),
    );
  },

  async write(config, catalog, input, emit, surroundings) {
    await withConnection(readServer(config), surroundings, async (client) => {
      const defaultSchema = schemaOf(config);
      const addresses = addressesOf(catalog, defaultSchema);
      const schemas = addresses.map(({ schema }) => schema);
      const fence = await Fence.raise(client, attemptOf(catalog), schemas);
      const { writers, refused, lost } = await prepare(client, fence, catalog, defaultSchema, surroundings, emit);
      // Before anything is stored: the platform forgets the states first, and comes again.
      for (const holding of lost) await emit.holding?.(holding);
      if (lost.length > 0) return;
      const writing = new Writing(client, fence, writers, refused, emit);
      try {
        for await (const messages of input) await writing.take(messages);
        await writing.finish();
      } finally {
        await writing.settled();
      }
    });
  },
};

function schemaOf(config: Configuration): string {
  return String(config.schema || 'public');
}

/** What a sync does, in small. */
async function tryToCreate(client: pg.Client, schema: string, username: string, database: string): Promise<void> {
  const user = pg.escapeIdentifier(username);
  const inSchema = pg.escapeIdentifier(schema);
  const inDatabase = pg.escapeIdentifier(database);
  await orMissingPermission(
    ensureSchema(client, schema),
    `The schema ${schema} does not exist, and the user ${username} cannot create it. ` +
      `Run: create schema ${inSchema} authorization ${user}`,
    'schema',
  );
  await orMissingPermission(
    client.query(`create table ${inSchema}._inlay_check ()`),
    `The user ${username} cannot create tables in the schema ${schema}. ` +
      `Run: grant usage, create on schema ${inSchema} to ${user}`,
    'schema',
  );
  await orMissingPermission(
    client.query('create temporary table _inlay_check ()'),
    `The user ${username} cannot create temporary tables. ` +
      `Run: grant temporary on database ${inDatabase} to ${user}`,
    'username',
  );
}

async function orMissingPermission(attempt: Promise<unknown>, message: string, field: string): Promise<void> {
  try {
    await attempt;
  } catch (cause) {
    if (!(cause instanceof pg.DatabaseError) || cause.code !== '42501') throw cause;
    throw new ConnectorError(message, { cause, fields: [field] });
  }
}

function addressesOf({ streams }: ConfiguredCatalog, defaultSchema: string) {
  const addresses = streams.map((stream) => addressOf(stream, defaultSchema));
  const names = new Set(addresses.map(({ schema, table }) => JSON.stringify([schema, table])));
  if (names.size < streams.length) {
    throw new ConnectorError(
      'Two streams would be written to the same table. Give one of them a different name or namespace.',
    );
  }
  return addresses;
}

async function prepare(
  client: pg.Client,
  fence: Fence,
  { streams }: ConfiguredCatalog,
  defaultSchema: string,
  { workspaceId }: Surroundings,
  emit: Emitter,
) {
  const writers = new Map<string, TableWriter>();
  const refused: Refusals = new Map();
  const lost: StreamHolding[] = [];
  for (const [index, configured] of streams.entries()) {
    const key = streamKey(configured.stream);
    try {
      // A transaction each: a stream that cannot be written stops no other.
      await fence.inTransaction(async () => {
        await claimTable(client, addressOf(configured, defaultSchema), workspaceId);
        const table = await prepareTable(client, configured, defaultSchema);
        const writer = new TableWriter(client, table, configured, `_inlay_staging_${index}`);
        await writer.createStaging();
        writers.set(key, writer);
        if (table.removed > 0) {
          emit.log('WARN', `${table.name}: removed ${table.removed} rows with duplicate keys.`);
        }
        if (table.isEmptiedByHand) {
          await emit.holding?.({ stream_descriptor: configured.stream, is_emptied: true });
        }
      });
    } catch (reason) {
      if (reason instanceof LostTable) lost.push({ stream_descriptor: configured.stream, lost: reason.how });
      else if (isRefusal(reason)) refused.set(key, reason);
      else throw reason;
    }
  }
  return { writers, refused, lost };
}
