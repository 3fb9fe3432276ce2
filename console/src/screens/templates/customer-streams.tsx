/**
 * Copies the streams of a customer's source of the same connector. The service knows them from the last time it read the
 * source, so the customer's system is not contacted, and no configuration values are shown.
 */
import type { OperatorConnection } from '@inlay/contract/pipelines/operating';
import { useState } from 'preact/hooks';
import { callApi, requestTo } from '../../api/client.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { InfoDialog } from '../../parts/dialogs/info-dialog.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { TextField } from '../../parts/fields.tsx';
import { Bones } from '../../parts/page.tsx';
import { RequestButton } from '../../parts/request-button.tsx';
import { type Column, Table } from '../../parts/tables/table.tsx';
import { useSettled } from '../../parts/use-settled.ts';
import { words as common } from '../../words/words.ts';
import { words as templatesWords } from './words.ts';

const words = templatesWords.editor;

interface CustomerStreamsProps {
  definitionId: string;
  onClose(): void;
  onFound(names: string[]): void;
}

/** Enough to scan. Searching by name finds the others. */
const shownAtMost = 50;
const customersAtMost = 10;

export function CustomerStreams({ definitionId, onClose, onFound }: CustomerStreamsProps) {
  const [name, setName] = useState('');
  const settled = useSettled(name.trim());
  const { data, error, reload } = useLoaded(JSON.stringify([definitionId, settled]), (signal) =>
    listSources(definitionId, settled, signal),
  );
  const columns: Column<OperatorConnection>[] = [
    { title: common.column.customer, isName: true, cell: ({ workspace_name }) => workspace_name },
    { title: common.column.connection, isName: true, cell: (connection) => connection.name },
    {
      title: common.column.actions,
      cell: ({ id, workspace_name }) => (
        <RequestButton
          label={words.takeStreams}
          about={workspace_name}
          request={requestTo('GET /integrations/connections/{connection_id}/streams', { ids: [id] })}
          onDone={(streams) => onFound([...new Set(streams.data.map((stream) => stream.name))])}
        />
      ),
    },
  ];
  return (
    <InfoDialog title={words.customerStreams} onClose={onClose} isWide>
      <p class="c-muted">{words.customerStreamsText}</p>
      <TextField label={common.customers.search} value={name} onInput={setName} />
      {error && <ErrorNotice error={error} onTryAgain={reload} />}
      {!data && !error && <Bones rows={3} />}
      {data?.length === 0 && <p class="c-muted">{words.noCustomerSource}</p>}
      {data && data.length > 0 && (
        <Table label={words.customerStreams} rows={data} columns={columns} idOf={({ id }) => id} />
      )}
    </InfoDialog>
  );
}

/** One connection per source, because all connections of a source have the same streams. */
async function listSources(definitionId: string, name: string, signal: AbortSignal): Promise<OperatorConnection[]> {
  const connections = async (query: Record<string, string>) =>
    (
      await callApi(
        requestTo('GET /integrations/connections', {
          query: { definition_id: definitionId, sort: '-created_at', limit: shownAtMost, ...query },
        }),
        signal,
      )
    ).data;
  const found = name === '' ? [await connections({})] : await ofCustomers(name, connections, signal);
  const bySource = new Map<string, OperatorConnection>();
  for (const connection of found.flat()) {
    // Until a connection is set up, its source has not been read.
    const isSetUp = connection.status === 'active' || connection.status === 'inactive';
    if (isSetUp && !bySource.has(connection.source_id)) bySource.set(connection.source_id, connection);
  }
  return [...bySource.values()].slice(0, shownAtMost);
}

async function ofCustomers(
  name: string,
  connections: (query: Record<string, string>) => Promise<OperatorConnection[]>,
  signal: AbortSignal,
): Promise<OperatorConnection[][]> {
  const { data } = await callApi(
    requestTo('GET /integrations/workspaces', { query: { name_contains: name, sort: 'name', limit: customersAtMost } }),
    signal,
  );
  return await Promise.all(data.map(({ id }) => connections({ workspace_id: id })));
}
