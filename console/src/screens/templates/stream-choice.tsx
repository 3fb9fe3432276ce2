/** Which streams are synced: those suggested by the connector, all, or a selection. */
import type { ConnectorSpecification } from '@inlay/contract/catalog/definitions';
import { Button } from '@inlay/ui/parts/button.tsx';
import { useState } from 'preact/hooks';
import { requestTo } from '../../api/client.ts';
import { useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { CheckField, ChoiceField } from '../../parts/fields.tsx';
import { CustomerStreams } from './customer-streams.tsx';
import { DiscoverDialog } from './discover-dialog.tsx';
import { changed, type Draft, valueAt } from './draft.ts';
import { routesOf } from './kinds.ts';
import { NameList, namesIn } from './tags-field.tsx';
import { words as templatesWords } from './words.ts';

const words = templatesWords.editor;

interface StreamChoiceProps {
  definitionId: string;
  specification: ConnectorSpecification;
  templateId?: string;
  draft: Draft;
  change(next: (draft: Draft) => Draft): void;
}

const list = ['customization', 'stream_whitelist'];

export function StreamChoice({ draft, change, definitionId, specification, templateId }: StreamChoiceProps) {
  const { mayWrite } = useConsole();
  const [asked, setAsked] = useState<'source' | 'customer' | undefined>(undefined);
  const [discovered, setDiscovered] = useState<readonly string[]>([]);
  const known = useKnownStreams(definitionId);
  const given = valueAt(draft, ['customization', 'stream_selection_mode']);
  const mode = typeof given === 'string' && Object.hasOwn(words.streamModes, given) ? given : 'suggested';
  const picked = namesIn(valueAt(draft, list));
  const offered = [...new Set([...known, ...discovered])].sort();
  const pick = (names: readonly string[]) => change((before) => changed(before, list, names));
  const tick = (name: string, isPicked: boolean) =>
    pick(isPicked ? [...picked, name] : picked.filter((one) => one !== name));
  const close = () => setAsked(undefined);
  const found = (names: string[]) => {
    setDiscovered(names);
    close();
  };
  return (
    <>
      <ChoiceField
        label={words.streamMode}
        value={mode}
        options={words.streamModes}
        onInput={(next) => change((before) => changed(before, ['customization', 'stream_selection_mode'], next))}
      />
      {mode === 'whitelist' && (
        <>
          {offered.length > 0 && (
            <fieldset class="t-group">
              <legend>{words.offeredStreams}</legend>
              <div class="t-streams">
                {offered.map((name) => (
                  <CheckField
                    label={name}
                    isChecked={picked.includes(name)}
                    onChange={(isPicked) => tick(name, isPicked)}
                    key={name}
                  />
                ))}
              </div>
              <div class="c-tools">
                <Button kind="quiet" onClick={() => pick([...new Set([...picked, ...offered])])}>
                  {words.pickAll}
                </Button>
                <Button kind="quiet" onClick={() => pick(picked.filter((name) => !offered.includes(name)))}>
                  {words.pickNone}
                </Button>
              </div>
            </fieldset>
          )}
          <NameList
            label={words.pickedStreams}
            hint={words.pickedStreamsHint}
            names={picked}
            proposals={offered}
            onChange={pick}
          />
          {mayWrite && (
            <div class="c-tools">
              <Button onClick={() => setAsked('customer')}>{words.customerStreams}</Button>
              <Button onClick={() => setAsked('source')}>{words.discover}</Button>
            </div>
          )}
        </>
      )}
      {asked === 'source' && (
        <DiscoverDialog {...{ draft, definitionId, specification, templateId }} onClose={close} onFound={found} />
      )}
      {asked === 'customer' && <CustomerStreams definitionId={definitionId} onClose={close} onFound={found} />}
    </>
  );
}

/** A custom manifest lists its streams, so they need no discovery. */
function useKnownStreams(definitionId: string): string[] {
  const { data } = useAnswer(requestTo(`GET ${routesOf.source.definition}`, { ids: [definitionId] }));
  const streams = data?.manifest?.streams ?? [];
  return streams.filter(({ is_dynamic, is_left_out }) => !is_dynamic && !is_left_out).map(({ name }) => name);
}
