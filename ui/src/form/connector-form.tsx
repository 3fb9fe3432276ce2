/**
 * A form for a connector's configuration, made from the connector's specification. It shows faults when it is
 * submitted, and from then on while the customer corrects them. It submits only a configuration in which it finds no
 * fault.
 *
 * Specification and value are read when the form appears: for another source, give it another key.
 */
import type { ComponentChildren, JSX } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import {
  initialValue,
  memberOf,
  openedValue,
  type Path,
  submittedValue,
  type Value,
  withValueAt,
} from './configuration.ts';
import { FaultSummary } from './fault-summary.tsx';
import { FieldTree } from './field-tree.tsx';
import { readSpecification } from './fields.ts';
import { FormContext, fieldId, showFields } from './form-context.ts';
import { useWords } from './form-words.ts';
import { ObjectFields } from './object-fields.tsx';
import { translated } from './translation.ts';
import { type FieldFault, faultsOf, shownPart, titleAt } from './validation.ts';
import './form.css';
import './controls.css';

export { faultNamedBy } from './named-fault.ts';
export type { FieldFault } from './validation.ts';

export interface ConnectorFormProps {
  /** of the <form> element; unique on the page */
  id: string;
  specification: Record<string, unknown>;
  /** `advanced_auth` of the connector: the fields that it names are never folded away. */
  advancedAuth?: Record<string, unknown> | undefined;
  /** Configuration of an existing source, secrets masked as asterisks. */
  value?: Record<string, unknown> | undefined;
  /** Entries from before a reload, shown instead of `value` or defaults. */
  entered?: Record<string, unknown> | undefined;
  /** Receives a function that returns the current configuration, faults included. */
  reader?: { current: (() => Record<string, unknown>) | undefined } | undefined;
  /**
   * Faults that the service found; shown beside their fields, and the first gets the focus. A new list is a new answer.
   */
  faults?: readonly FieldFault[] | undefined;
  /** While a check runs: nothing can be changed, nothing is lost. */
  disabled?: boolean | undefined;
  /** Shown below the fields, inside the form. */
  children?: ComponentChildren;
  /** Called only with a configuration without local faults. */
  onSubmit(configuration: Record<string, unknown>): void;
}

/** A fault on the page. Faults found by the service remain until their field's value changes. */
interface ShownFault extends FieldFault {
  held?: unknown;
}

export function ConnectorForm(props: ConnectorFormProps): JSX.Element {
  const { id, disabled: isDisabled = false, children, onSubmit } = props;
  const { form: words, language } = useWords();
  const [{ root, before, opened }] = useState(() => open(props, language));
  const [value, setValue] = useState(opened);
  const [shown, setShown] = useState<readonly ShownFault[]>([]);
  // The value that counts; the state above follows with the next render.
  const held = useRef(opened);
  const isFocusDue = useRef(false);

  const configuration = () => submittedValue(root, held.current, before) as Value;
  if (props.reader) props.reader.current = configuration;
  const show = (faults: readonly ShownFault[]) => {
    isFocusDue.current = true;
    setShown(faults);
  };

  useEffect(() => {
    if (!props.faults?.length) return;
    const current = configuration();
    show(
      props.faults.map((fault) => {
        const path = shownPart(root, current, fault.path) ?? fault.path;
        return { path, message: fault.message, held: valueAt(current, path) };
      }),
    );
  }, [props.faults]);

  const faults = useMemo(() => {
    const messages = new Map<string, string>();
    for (const { path, message } of shown) {
      const field = fieldId(id, path);
      const first = messages.get(field);
      messages.set(field, first === undefined ? message : `${first} ${message}`);
    }
    return messages;
  }, [id, shown]);
  useEffect(() => {
    if (!isFocusDue.current) return;
    isFocusDue.current = false;
    showFields([...faults.keys()]);
  }, [faults]);

  const change = useCallback(
    (path: Path, next: unknown) => {
      held.current = withValueAt(held.current, path, next);
      setValue(held.current);
      setShown((faults) => {
        if (faults.length === 0) return faults;
        const current = configuration();
        const found = faultsOf(root, current, words.faults, before);
        return faults.flatMap((fault) => stillWrong(fault, found, current));
      });
    },
    [words],
  );

  const submit = () => {
    if (isDisabled) return;
    const current = configuration();
    const found = faultsOf(root, current, words.faults, before);
    show(found);
    if (found.length === 0) onSubmit(current);
  };

  const state = useMemo(
    () => ({ formId: id, isExisting: before !== undefined, isDisabled, faults, change }),
    [id, before, isDisabled, faults, change],
  );
  const isPlaced = ({ path }: FieldFault) => shownPart(root, value, path)?.length === path.length;
  const placed = new Set(shown.filter(isPlaced).map(({ path }) => fieldId(id, path)));
  const unplaced = shown
    .filter(({ path }) => !placed.has(fieldId(id, path)))
    .map(({ path, message }) => ({ title: titleAt(root, value, path, words), message }));
  return (
    <FormContext.Provider value={state}>
      <form
        id={id}
        class="inlay-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <ObjectFields field={root} path={[]} value={value} Inner={FieldTree} />
        <FaultSummary count={placed.size} unplaced={unplaced} />
        {children}
      </form>
    </FormContext.Provider>
  );
}

function open({ specification, advancedAuth, value, entered = value }: ConnectorFormProps, language: string) {
  const root = readSpecification(translated(specification, language), advancedAuth);
  return {
    root,
    before: value,
    opened: entered === undefined ? initialValue(root) : openedValue(root, entered),
  };
}

function stillWrong(fault: ShownFault, found: readonly FieldFault[], current: Value): ShownFault[] {
  const same = found.find(({ path }) => isSame(path, fault.path));
  if (same) return [same];
  return 'held' in fault && isSame([valueAt(current, fault.path)], [fault.held]) ? [fault] : [];
}

const isSame = (a: readonly unknown[], b: readonly unknown[]) => JSON.stringify(a) === JSON.stringify(b);

function valueAt(configuration: Value, path: Path): unknown {
  return path.reduce<unknown>(memberOf, configuration);
}
