/**
 * The form of a source, which is tested before it is saved: the name, the connector's own fields, the progress, and
 * problems, shown beside their field where the field is known. A failure never loses what was entered.
 */
import type { EnteredSource } from '@inlay/contract/credentials/oauth-flows';
import type { CheckWarning } from '@inlay/contract/pipelines/sources';
import { Button } from '@inlay/ui/parts/button.tsx';
import { Notice } from '@inlay/ui/parts/notice.tsx';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { RequestFailure } from '../api/failure.ts';
import { FailureNotice } from '../parts/failure-notice.tsx';
import { NameField, nameFault } from '../parts/name-field.tsx';
import { type Step, Steps } from '../parts/steps.tsx';
import { useWidget } from '../widget.ts';
import { reasonInWords } from '../words/reasons.ts';
import { useWords } from '../words/words.ts';
import { awaitCheck, CheckFailed } from './check.ts';
import { Unconfirmed } from './create-source.ts';
import type { loadForm } from './lazy-form.ts';
import { readRequestFaults } from './request-faults.ts';
import { useAction } from './use-action.ts';

export interface SourceFormProps {
  id: string;
  /** The result of `loadForm`. */
  form: Awaited<ReturnType<typeof loadForm>>;
  specification: Record<string, unknown>;
  advancedAuth: Record<string, unknown> | undefined;
  name: string;
  config?: Record<string, unknown>;
  submitLabel: string;
  /** The words for the steps after the check. */
  saving: { step: string; active: string; next?: string };
  /** Returns the id of the check. `credentialId`: from the sign-in. */
  startCheck(config: Record<string, unknown>, signal: AbortSignal, credentialId?: string): Promise<string>;
  save(
    name: string,
    config: Record<string, unknown>,
    warnings: CheckWarning[],
    signal: AbortSignal,
    credentialId?: string,
  ): Promise<void>;
  /** Entries from before a reload. */
  entered?: EnteredSource | undefined;
  /** Shown between the name and the connector's fields. `entered` returns the current entries. */
  before?(isRunning: boolean, entered: () => EnteredSource): ComponentChildren;
  /** Whether the inputs of `before` are complete. */
  mayStart?(): boolean;
  /** Must change with the specification. */
  formKey?: string;
  onChanged(): void;
}

type Phase = 'checking' | 'saving';

export function SourceForm({ id, form, specification, config, submitLabel, saving, ...props }: SourceFormProps) {
  const { startCheck, save, onChanged } = props;
  const words = useWords();
  const { api, host, announce } = useWidget();
  const [name, setName] = useState(props.entered?.name ?? props.name);
  const [nameProblem, setNameProblem] = useState<string | undefined>(undefined);
  const [phase, setPhase] = useState<Phase>('checking');
  const nameInput = useRef<HTMLInputElement>(null);
  const progress = useRef<HTMLDivElement>(null);
  const submit = useRef<HTMLButtonElement>(null);
  const reader = useRef<(() => Record<string, unknown>) | undefined>(undefined);

  const test = useAction(async (signal, entered: Record<string, unknown>) => {
    setPhase('checking');
    announce(words.steps.checking);
    const warnings = await awaitCheck(api, await startCheck(entered, signal), signal);
    setPhase('saving');
    announce(saving.active);
    await save(name.trim(), entered, warnings, signal);
  });
  const problem = useMemo(() => problemOf(test.error, specification, form, words.form.reenterSecret), [test.error]);

  useEffect(() => {
    if (test.isRunning) progress.current?.focus();
  }, [test.isRunning]);
  useEffect(() => {
    if (problem.name) setNameProblem(problem.name);
    if (problem.name && problem.fields.length === 0) nameInput.current?.focus();
    if (test.error instanceof CheckFailed) {
      host.tell({
        type: 'error',
        error: { code: 'check_failed', message: test.error.message || words.check.noReason },
      });
    }
  }, [problem]);

  function onSubmit(entered: Record<string, unknown>): void {
    const fault = nameFault(name, words.name);
    setNameProblem(fault);
    if (fault) nameInput.current?.focus();
    else if (props.mayStart?.() !== false) test.run(entered);
  }

  function cancel(): void {
    test.cancel();
    announce(words.check.cancelled);
    // The button reappears with the next render.
    requestAnimationFrame(() => submit.current?.focus());
  }

  const steps: Step[] = [
    {
      title: phase === 'checking' ? words.steps.checking : words.steps.checked,
      state: phase === 'checking' ? 'active' : 'done',
      detail: phase === 'checking' && words.steps.patience,
    },
    phase === 'saving' ? { title: saving.active, state: 'active' } : { title: saving.step, state: 'waiting' },
    ...(saving.next ? [{ title: saving.next, state: 'waiting' } as const] : []),
  ];

  const { ConnectorForm } = form;
  return (
    <div class="inlay-source-form" onInput={onChanged} onChange={onChanged}>
      <NameField
        formId={id}
        value={name}
        fault={nameProblem}
        isDisabled={test.isRunning}
        inputRef={nameInput}
        onInput={(value) => {
          setName(value);
          setNameProblem(undefined);
        }}
      />
      {props.before?.(test.isRunning, () => ({ name, source_config: reader.current?.() ?? {} }))}
      <ConnectorForm
        key={props.formKey}
        id={id}
        specification={specification}
        advancedAuth={props.advancedAuth}
        {...(config ? { value: config } : {})}
        entered={props.entered?.source_config}
        reader={reader}
        faults={problem.fields}
        disabled={test.isRunning}
        onSubmit={onSubmit}
      >
        {test.isRunning ? (
          <section class="inlay-progress" ref={progress} tabIndex={-1} aria-label={words.steps.label}>
            <Steps steps={steps} />
            {/* After the check the source is being saved, and saving cannot be cancelled. */}
            {phase === 'checking' && <Button onClick={cancel}>{words.cancel}</Button>}
          </section>
        ) : (
          <>
            {test.error !== undefined && <Problem error={test.error} problem={problem} />}
            <div class="inlay-actions">
              <Button kind="primary" type="submit" buttonRef={submit}>
                {submitLabel}
              </Button>
            </div>
          </>
        )}
      </ConnectorForm>
    </div>
  );
}

/** A problem without a field. Faults with a field are shown only there. */
function Problem({ error, problem }: { error: unknown; problem: FormProblem }) {
  const words = useWords();
  const { formatting } = useWidget();
  const isAtField = problem.fields.length > 0 || problem.name !== undefined;
  if (isAtField && problem.others.length === 0) return null;
  if (error instanceof CheckFailed) {
    const text = reasonInWords(error.reason, error.message, words, formatting);
    return (
      <Notice kind="danger" title={words.check.failed} takesFocus>
        <p class="inlay-quoted">{text || words.check.noReason}</p>
        {text === error.message && <p>{words.check.next}</p>}
      </Notice>
    );
  }
  if (error instanceof Unconfirmed) {
    return (
      <Notice kind="danger" title={words.check.unconfirmed} takesFocus>
        <p>{words.check.unconfirmedText}</p>
      </Notice>
    );
  }
  if (problem.others.length > 0) {
    return (
      <Notice kind="danger" title={words.failures.invalid.title} takesFocus={!isAtField}>
        {problem.others.map((message) => (
          <p key={message}>{message}</p>
        ))}
      </Notice>
    );
  }
  return <FailureNotice error={error} takesFocus />;
}

type FormProblem = ReturnType<typeof readRequestFaults>;

/** Maps an error to fields. */
function problemOf(
  error: unknown,
  specification: Record<string, unknown>,
  form: SourceFormProps['form'],
  reenterSecret: string,
): FormProblem {
  if (error instanceof CheckFailed) {
    const named = form.faultNamedBy(error.message, specification);
    return { name: undefined, fields: named ? [named] : [], others: [] };
  }
  return readRequestFaults(error instanceof RequestFailure ? error.faults : [], reenterSecret);
}
