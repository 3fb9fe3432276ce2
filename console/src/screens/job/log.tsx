/**
 * The log of an attempt, piece by piece: however long it is, the browser holds what was looked at and draws what is
 * visible. Lines are text of connectors, shown as they are and never as markup.
 */
import type { JobLog } from '@inlay/contract/pipelines/operating';
import { Button } from '@inlay/ui/parts/button.tsx';
import { Glyph } from '@inlay/ui/parts/glyph.tsx';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, callApi, requestTo } from '../../api/client.ts';
import { useConsole } from '../../console.ts';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { Bones, Empty, Panel } from '../../parts/page.tsx';
import { formatting } from '../../words/formatting.ts';
import { words } from '../../words/words.ts';
import { LogLines } from './log-lines.tsx';
import { rowsOf } from './log-rows.ts';

const pieceBytes = 100_000;
const tailLines = 500;

/** The page holds no more than this, however long the log is. */
const maxLines = 20_000;
const enoughFound = 50;

interface Shown extends JobLog {
  /** How many rows above the first one were dropped. */
  dropped: number;
  /** Byte of the line to go to. */
  goTo?: number | undefined;
  search?: string;
}

export function Log({ jobId, attempts }: { jobId: string; attempts: readonly number[] }) {
  const { onSignedOut, epoch } = useConsole();
  const [attempt, setAttempt] = useState<number | undefined>(undefined);
  const [shown, setShown] = useState<Shown | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const [isBusy, setBusy] = useState(false);
  const [hasNoError, setHasNoError] = useState(false);
  const [searched, setSearched] = useState<number | undefined>(undefined);
  const isStopped = useRef(false);
  const input = useRef<HTMLInputElement>(null);

  const readLog = (query: { offset?: number; tail?: number; search?: string; bytes?: number; first_error?: 'true' }) =>
    callApi(
      requestTo('GET /integrations/jobs/{job_id}/log', {
        ids: [jobId],
        query: { attempt, bytes: pieceBytes, ...query },
      }),
    );
  /** One request at a time. Requests made meanwhile are ignored. */
  const busyWith = async (work: () => Promise<void>) => {
    if (isBusy) return;
    setBusy(true);
    setError(undefined);
    setHasNoError(false);
    isStopped.current = false;
    try {
      await work();
    } catch (problem) {
      if (problem instanceof ApiError && problem.isSignedOut) onSignedOut();
      setError(problem);
    } finally {
      setBusy(false);
      setSearched(undefined);
    }
  };
  const open = (query: Parameters<typeof readLog>[0] = {}, goTo?: number) =>
    busyWith(async () => setShown({ ...(await readLog(query)), goTo, dropped: 0 }));
  /** Each request searches a part of the log. Repeats until there are enough matches. */
  const find = (search: string) =>
    busyWith(async () => {
      let found = { ...(await readLog({ search })), search, dropped: 0 };
      setShown(found);
      while (found.lines.length < enoughFound && found.next_offset !== null && !isStopped.current) {
        setSearched(found.next_offset);
        const piece = await readLog({ search, offset: found.next_offset });
        found = { ...found, ...piece, lines: [...found.lines, ...piece.lines] };
        setShown(found);
      }
    });
  const firstError = () =>
    busyWith(async () => {
      const { first_error_offset: offset } = await readLog({ first_error: 'true', bytes: 1 });
      if (offset === null || offset === undefined) return setHasNoError(true);
      setShown({ ...(await readLog({ offset: Math.max(0, offset - 4_000) })), goTo: offset, dropped: 0 });
    });
  const later = () => {
    const from = shown?.next_offset;
    if (!shown || from === null || from === undefined) return;
    void busyWith(async () => {
      const piece = await readLog({ offset: from, ...(shown.search ? { search: shown.search } : {}) });
      const lines = [...shown.lines, ...piece.lines];
      const tooMany = Math.max(0, lines.length - maxLines);
      const dropped = shown.dropped + rowsOf(lines.slice(0, tooMany)).length;
      setShown({ ...shown, ...piece, lines: lines.slice(tooMany), goTo: undefined, dropped });
    });
  };
  const earlier = () => {
    const before = shown?.lines[0]?.offset ?? 0;
    if (!shown || before === 0) return;
    void busyWith(async () => {
      const offset = Math.max(0, before - pieceBytes);
      const piece = await readLog({ offset, bytes: before - offset });
      const lines = [...piece.lines.filter((line) => line.offset < before), ...shown.lines];
      // Dropped lines are read again from here.
      const next_offset = lines[maxLines]?.offset ?? shown.next_offset;
      setShown({ ...shown, lines: lines.slice(0, maxLines), next_offset, goTo: before });
    });
  };
  useEffect(() => void open(), [jobId, attempt, epoch]);

  const isSearch = shown?.search !== undefined;
  return (
    <Panel
      title={words.job.log}
      beside={shown && <span class="c-muted">{words.job.size(formatting.bytes(shown.total_bytes))}</span>}
    >
      <div class="c-log-tools">
        <form
          class="c-search"
          onSubmit={(event) => {
            event.preventDefault();
            const text = input.current?.value.trim();
            void (text ? find(text) : open());
          }}
        >
          <Glyph name="search" />
          <input
            class="c-control"
            type="search"
            data-search
            ref={input}
            aria-label={words.job.logSearch}
            placeholder={words.job.logSearch}
          />
        </form>
        {attempts.length > 1 && (
          <label class="c-choice">
            <span class="inlay-unseen">{words.column.attempt}</span>
            <select
              class="c-control"
              value={String(attempt ?? attempts.at(-1))}
              onChange={({ currentTarget }) => setAttempt(Number(currentTarget.value))}
            >
              {attempts.map((number) => (
                <option value={String(number)} key={number}>
                  {words.job.attempt(number)}
                </option>
              ))}
            </select>
          </label>
        )}
        <Button glyph="alert" onClick={() => void firstError()}>
          {words.job.firstError}
        </Button>
        <Button onClick={() => void open()}>{isSearch ? words.job.clearSearch : words.job.start}</Button>
        <Button onClick={() => void open({ tail: tailLines }, Number.MAX_SAFE_INTEGER)}>{words.job.end}</Button>
      </div>
      {error !== undefined && <ErrorNotice error={error} onTryAgain={() => void open()} />}
      {searched !== undefined && shown && (
        <p class="c-panel-foot c-muted" role="status">
          {words.job.searched(formatting.bytes(searched), formatting.bytes(shown.total_bytes))}{' '}
          <Button
            onClick={() => {
              isStopped.current = true;
            }}
          >
            {words.job.stopSearch}
          </Button>
        </p>
      )}
      {hasNoError && (
        <p class="c-panel-foot c-muted" role="status">
          {words.job.noError}
        </p>
      )}
      {!shown && error === undefined && <Bones />}
      {shown?.lines.length === 0 && searched === undefined && !(isBusy && isSearch) && (
        <Empty title={isSearch ? words.job.noMatch(shown.search ?? '') : words.job.emptyLog} />
      )}
      {shown && shown.lines.length > 0 && (
        <>
          <LogLines
            lines={shown.lines}
            goTo={shown.goTo}
            dropped={shown.dropped}
            hasEarlier={!isSearch && (shown.lines[0]?.offset ?? 0) > 0}
            onStart={earlier}
            onEnd={later}
            {...(isSearch
              ? { onOpen: (offset: number) => void open({ offset: Math.max(0, offset - 4_000) }, offset) }
              : {})}
          />
          <p class="c-panel-foot c-muted">
            {words.job.matches(isSearch ? shown.lines.length : rowsOf(shown.lines).length)}
          </p>
        </>
      )}
    </Panel>
  );
}
