/** The streams and the schedule of a connection, where the template lets customers choose them. */
import type { ChooseForConnectionRequest, Connection, ConnectionStream } from '@inlay/contract/pipelines/connections';
import { Button } from '@inlay/ui/parts/button.tsx';
import { Glyph } from '@inlay/ui/parts/glyph.tsx';
import { Notice } from '@inlay/ui/parts/notice.tsx';
import { useRef, useState } from 'preact/hooks';
import { FailureNotice } from '../parts/failure-notice.tsx';
import { choicesOf } from '../sources/schedules.ts';
import { useAction } from '../sources/use-action.ts';
import { useLoaded } from '../sources/use-loaded.ts';
import { useWidget } from '../widget.ts';
import { useWords } from '../words/words.ts';

export function ConnectionChoice({ connection }: { connection: Connection }) {
  const words = useWords();
  const [isOpen, setOpen] = useState(false);
  const [timesSaved, setTimesSaved] = useState(0);
  const { streams, schedule } = connection.customer_may_change;
  if (!streams && !schedule) return null;
  const close = () => setOpen(false);
  return (
    <>
      {timesSaved > 0 && !isOpen && (
        <Notice kind="success" key={timesSaved} title={words.source.saved} takesFocus>
          <p>{words.choice.soon}</p>
        </Notice>
      )}
      {isOpen ? (
        <Choice
          connection={connection}
          onCancel={close}
          onSaved={() => {
            setTimesSaved((times) => times + 1);
            close();
          }}
        />
      ) : (
        <div class="inlay-actions">
          <Button onClick={() => setOpen(true)}>{words.choice.open}</Button>
        </div>
      )}
    </>
  );
}

interface Props {
  connection: Connection;
  onCancel(): void;
  onSaved(): void;
}

const keyOf = ({ name, namespace = '' }: Pick<ConnectionStream, 'name' | 'namespace'>) => `${namespace}.${name}`;

function Choice({ connection, onCancel, onSaved }: Props) {
  const words = useWords();
  const { api, change, look } = useWidget();
  const { id, cron_expression: present, customer_may_change: may } = connection;
  const formId = `inlay-choice-${id}`;
  const [cron, setCron] = useState(present);
  const [chosen, setChosen] = useState<ReadonlySet<string> | undefined>(undefined);
  const [isEmpty, setEmpty] = useState(false);
  const list = useRef<HTMLFieldSetElement>(null);
  const loaded = useLoaded(id, async (signal) => (may.streams ? await api.listStreams(id, signal) : []));
  const streams = loaded.value ?? [];
  const isChosen = (stream: ConnectionStream) => chosen?.has(keyOf(stream)) ?? stream.selected;

  const save = useAction(async (signal) => {
    const wanted = streams.filter(isChosen);
    const isOther = streams.some((stream) => isChosen(stream) !== stream.selected);
    const request: ChooseForConnectionRequest = {
      ...(cron !== present && { cron_expression: cron }),
      ...(isOther && { streams: wanted.map(({ name, namespace }) => ({ name, ...(namespace && { namespace }) })) }),
    };
    const saved = await api.chooseForConnection(id, request, signal);
    change((now) => ({ ...now, connections: now.connections?.map((known) => (known.id === id ? saved : known)) }));
    look();
    onSaved();
  });

  if (loaded.error !== undefined) {
    return <FailureNotice error={loaded.error} actions={<Button onClick={loaded.reload}>{words.tryAgain}</Button>} />;
  }
  if (!loaded.value) return <p class="inlay-text">{words.loading}</p>;
  const faultId = `${formId}-fault`;
  return (
    <form
      class="inlay-form inlay-choice"
      id={formId}
      aria-label={words.choice.open}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        const isNothing = may.streams && !streams.some(isChosen);
        setEmpty(isNothing);
        if (isNothing) list.current?.querySelector('input')?.focus();
        else save.run();
      }}
    >
      {may.schedule && (
        <div class="inlay-field">
          <label class="inlay-field-label" for={`${formId}-often`}>
            <span class="inlay-field-title">{words.choice.often}</span>
          </label>
          <select
            class="inlay-control inlay-select"
            id={`${formId}-often`}
            disabled={save.isRunning}
            value={cron ?? ''}
            onChange={({ currentTarget }) => setCron(currentTarget.value || null)}
          >
            {choicesOf(may.schedule.shortest_minutes, present).map(({ expression, minutes }) => (
              <option key={expression} value={expression ?? ''}>
                {expression === null
                  ? words.choice.byHand
                  : minutes === undefined
                    ? words.choice.asNow
                    : words.choice.every(minutes)}
              </option>
            ))}
          </select>
        </div>
      )}
      {may.streams && (
        <fieldset class="inlay-field" ref={list} disabled={save.isRunning}>
          <legend class="inlay-field-title">{words.choice.streams}</legend>
          <div class="inlay-checkboxes inlay-choice-streams">
            {streams.map((stream, index) => (
              <div class="inlay-checkbox-row" key={keyOf(stream)}>
                <input
                  class="inlay-checkbox"
                  type="checkbox"
                  id={`${formId}-${index}`}
                  checked={isChosen(stream)}
                  aria-describedby={isEmpty ? faultId : undefined}
                  onChange={({ currentTarget }) => {
                    const now = new Set(streams.filter(isChosen).map(keyOf));
                    if (currentTarget.checked) now.add(keyOf(stream));
                    else now.delete(keyOf(stream));
                    setChosen(now);
                    setEmpty(false);
                  }}
                />
                <label for={`${formId}-${index}`}>
                  {stream.namespace ? `${stream.namespace}.${stream.name}` : stream.name}
                </label>
              </div>
            ))}
          </div>
          {isEmpty && (
            <p class="inlay-field-fault" id={faultId}>
              <Glyph name="alert" />
              <span>{words.form.faults.choose}</span>
            </p>
          )}
        </fieldset>
      )}
      {save.error !== undefined && <FailureNotice error={save.error} takesFocus />}
      <div class="inlay-actions">
        <Button kind="primary" type="submit" isBusy={save.isRunning}>
          {words.choice.save}
        </Button>
        <Button onClick={onCancel}>{words.cancel}</Button>
      </div>
    </form>
  );
}
