/** A template made from a connector. Beside the editor is what the connector can be given. */
import type { SourceDefinition } from '@inlay/contract/definitions';
import { Button } from '@inlay/ui/parts/button.tsx';
import { useState } from 'preact/hooks';
import { ApiError, type ApiRequest } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { CurlButton } from '../../parts/copy-button.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { JsonEditor } from '../../parts/json-editor.tsx';
import { readJson } from '../../parts/json-places.ts';
import { Bones, Page, Panel } from '../../parts/page.tsx';
import { useAction } from '../../parts/use-action.ts';
import { Link } from '../../router/link.tsx';
import { navigate, pathTo } from '../../router/router.ts';
import { type Kind, kinds } from './kinds.ts';
import { templatesWords } from './words.ts';

export function NewTemplate({ kind, definitionId }: { kind: Kind; definitionId: string }) {
  const words = templatesWords.get();
  const { data, error, reload } = useAnswer<Pick<SourceDefinition, 'definition'>>({
    method: 'GET',
    path: `${kinds[kind].definitionsPath}/${encodeURIComponent(definitionId)}`,
  });
  return (
    <Page
      title={words.newTitle(data?.definition.name ?? '…')}
      trail={<Link to={pathTo('templates')}>{words.title}</Link>}
    >
      {error && <ErrorNotice error={error} onTryAgain={reload} />}
      {!data && !error && <Bones />}
      {data && (
        <div class="c-two">
          <Editor kind={kind} definitionId={definitionId} name={data.definition.name} />
          <CodeBlock
            title={words.specification}
            text={JSON.stringify(data.definition.spec.connectionSpecification, null, 2)}
            copyLabel={words.copySpecification}
          />
        </div>
      )}
    </Page>
  );
}

function startOf(kind: Kind, name: string): string {
  const start =
    kind === 'source'
      ? { name, partial_default_config: {}, tags: [] }
      : { destination_name: name, destination_config: {}, cron_expression: '0 0 * * * ?', tags: [] };
  return JSON.stringify(start, null, 2);
}

function Editor({ kind, definitionId, name }: { kind: Kind; definitionId: string; name: string }) {
  const words = templatesWords.get();
  const { announce } = useConsole();
  const action = useAction();
  const [text, setText] = useState(() => startOf(kind, name));
  const read = readJson(text);
  const entered = 'value' in read ? read.value : undefined;
  const isObject = typeof entered === 'object' && entered !== null && !Array.isArray(entered);
  const idField = kind === 'source' ? 'actor_definition_id' : 'destination_definition_id';
  const request: ApiRequest = {
    method: 'POST',
    path: kinds[kind].path,
    body: { [idField]: definitionId, ...(isObject ? entered : {}) },
  };
  const faults = action.error instanceof ApiError ? action.error.faults : [];
  return (
    <Panel title={words.json}>
      <div class="c-panel-body">
        <JsonEditor label={words.json} value={text} onInput={setText} faults={faults} words={words} />
        {'value' in read && !isObject && <p class="c-fault">{words.notObject}</p>}
        {action.error !== undefined && <ErrorNotice error={action.error} takesFocus />}
        <div class="c-tools">
          <Button
            kind="primary"
            isBusy={action.isBusy}
            onClick={() => {
              if (!isObject) return;
              action.run<{ id: string }>(request, ({ id }) => {
                announce(words.created);
                navigate(pathTo('templates', id, { kind }));
              });
            }}
          >
            {words.create}
          </Button>
          <CurlButton request={request} what={words.create} />
        </div>
      </div>
    </Panel>
  );
}
