/*
 * The source `postgres`. A sync reads all its streams in one snapshot, in one transaction, by COPY, which the server
 * continues as its lines are consumed: memory does not grow with the tables. An incremental stream sends the rows that
 * the snapshot of the last sync did not see; see changes.ts.
 */

import { type Configuration, ConnectorError, type SourceConnector } from '@inlay/protocol/connector';
import pg from 'pg';
import { inTransaction, withConnection } from '../postgres/connection.ts';
import { readServer } from '../postgres/server.ts';
import { currentMoment } from './moment.ts';
import { descriptorOf, readingOf, readStream } from './reading.ts';
import { specification } from './specification.ts';
import { catalogOf, listTables } from './tables.ts';

const metadataTimeoutMs = 60_000;
/** A table is read by one statement, however large it is and however slowly a destination takes it. */
const readTimeoutMs = 7 * 86_400_000;

export const connector: SourceConnector = {
  kind: 'source',
  specification,
  subject: ['database', 'host'],

  async check(config, surroundings) {
    const server = readServer(config);
    await withConnection(server, surroundings, (client) =>
      inTransaction(client, { view: 'snapshot', statementTimeoutMs: metadataTimeoutMs }, async () => {
        for (const schema of schemasOf(config)) await checkSchema(client, schema, server.username);
      }),
    );
    return undefined;
  },

  async discover(config, surroundings) {
    const tables = await withConnection(readServer(config), surroundings, (client) =>
      inTransaction(client, { view: 'snapshot', statementTimeoutMs: metadataTimeoutMs }, () =>
        listTables(client, schemasOf(config)),
      ),
    );
    return catalogOf(tables);
  },

  async read(config, catalog, state, emit, surroundings) {
    await withConnection(readServer(config), surroundings, (client) =>
      inTransaction(client, { view: 'snapshot', statementTimeoutMs: readTimeoutMs }, async () => {
        const tables = await listTables(client, schemasOf(config));
        const now = await currentMoment(client);
        // All streams first: a mistake in the last one is known before hours were spent on the others.
        const readings = catalog.streams.map((configured) => readingOf(configured, tables, state));
        for (const reading of readings) if (reading) await readStream(client, reading, now, emit);
        const missing = catalog.streams.filter((_, index) => readings[index] === undefined);
        for (const { stream } of missing) await emit.status(descriptorOf(stream), 'INCOMPLETE');
        if (missing.length > 0) throw missingTables(missing.map(({ stream }) => stream.name));
      }),
    );
  },
};

/** The platform has just listed the tables. If it lists them again, the result is known. */
function missingTables(names: readonly string[]): ConnectorError {
  const which = names.length === 1 ? `The table ${names[0]} is` : `The tables ${names.join(', ')} are`;
  return new ConnectorError(
    `${which} no longer available. Check the user's permissions, then refresh the list of streams.`,
    {
      failureType: 'transient_error',
    },
  );
}

function schemasOf(config: Configuration): string[] {
  const { schemas } = config;
  return Array.isArray(schemas) && schemas.length > 0 ? schemas.map(String) : ['public'];
}

async function checkSchema(client: pg.Client, schema: string, username: string): Promise<void> {
  const { rows } = await client.query<{ isUsable: boolean }>(
    `select has_schema_privilege(oid, 'usage') as "isUsable" from pg_catalog.pg_namespace where nspname = $1`,
    [schema],
  );
  if (!rows[0])
    throw new ConnectorError(`The schema ${schema} does not exist in the database. Check its spelling.`).about(
      'schemas',
    );
  const name = pg.escapeIdentifier(schema);
  const user = pg.escapeIdentifier(username);
  if (!rows[0].isUsable) {
    throw new ConnectorError(
      `The user ${username} cannot use the schema ${schema}. Run: grant usage on schema ${name} to ${user}`,
      { fields: ['schemas', 'username'] },
    );
  }
  if ((await listTables(client, [schema])).length === 0) {
    throw new ConnectorError(
      `The schema ${schema} has no table that the user ${username} can read. ` +
        `If it has tables, run: grant select on all tables in schema ${name} to ${user}`,
      { fields: ['schemas', 'username'] },
    );
  }
}
