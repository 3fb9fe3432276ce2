/**
 * A form for a connector's configuration, made from the connector's specification. Says what is wrong when it is
 * submitted, and from then on while it is mended; hands out only what is right as far as can be told here.
 *
 * Specification and value are read when the form appears: for another source, give it another key.
 */
// Past the front door of the package, which leads to a validator for its own tests.
import Form from '@rjsf/core/lib/components/Form.js';
import type { ComponentChildren, JSX } from 'preact';
import { createContext } from 'preact';
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useWords } from '../words/words.ts';
import { ChoiceField } from './choice-field.tsx';
import { initialValue, memberOf, openedValue, submittedValue, type Value } from './configuration.ts';
import { DateControl } from './date-control.tsx';
import { FaultSummary, type SummaryEntry } from './fault-summary.tsx';
import { FieldTemplate } from './field-frame.tsx';
import { readSpecification } from './fields.ts';
import { FormContext, fieldId, firstOnPage, focusField } from './form-context.ts';
import { libraryForm, libraryValidator } from './library-schema.ts';
import { ListControl } from './list-control.tsx';
import { ObjectFieldTemplate } from './object-fields.tsx';
import { ArrayField, ArrayFieldItemTemplate, ArrayFieldTemplate } from './object-list.tsx';
import { CheckboxesControl, SelectControl, SwitchControl } from './option-controls.tsx';
import { SecretControl } from './secret-control.tsx';
import { JsonControl, LongTextControl, TextControl } from './text-controls.tsx';
import { type FieldFault, faultsOf, type Path, shownPart, titleAt } from './validation.ts';
import './form.css';
import './controls.css';

export { faultNamedBy } from './named-fault.ts';
export type { FieldFault } from './validation.ts';

export interface ConnectorFormProps {
  /** of the <form> element; unique on the page */
  id: string;
  specification: Record<string, unknown>;
  /** Configuration of an existing source, secrets masked as asterisks. */
  value?: Record<string, unknown> | undefined;
  /** Found by the service; shown beside their fields, and the first gets the focus. Another list is another answer. */
  faults?: readonly FieldFault[] | undefined;
  /** While a check runs: nothing can be changed, nothing is lost. */
  disabled?: boolean | undefined;
  /** Below the fields, inside the form. */
  children?: ComponentChildren;
  /** Only with what is valid here. */
  onSubmit(configuration: Record<string, unknown>): void;
}

/** A fault on the page. One that the service found stays until its field holds something else. */
interface ShownFault extends FieldFault {
  held?: unknown;
}

const parts = {
  fields: { ArrayField, ChoiceField },
  templates: { ArrayFieldItemTemplate, ArrayFieldTemplate, FieldTemplate, ObjectFieldTemplate },
  widgets: {
    text: TextControl,
    'long-text': LongTextControl,
    secret: SecretControl,
    number: TextControl,
    switch: SwitchControl,
    select: SelectControl,
    checkboxes: CheckboxesControl,
    list: ListControl,
    date: DateControl,
    'date-time': DateControl,
    json: JsonControl,
  },
};

export function ConnectorForm(props: ConnectorFormProps): JSX.Element {
  const { id, disabled = false, children, onSubmit } = props;
  const words = useWords().form;
  const [{ root, form, before, opened }] = useState(() => open(props));
  const [shown, setShown] = useState<readonly ShownFault[]>([]);
  const held = useRef(opened);
  const isFocusDue = useRef(false);

  const configuration = () => submittedValue(root, held.current, before) as Value;
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
    const first = firstOnPage([...faults.keys()]);
    if (first !== undefined) focusField(first);
  }, [faults]);

  const change = (next: unknown) => {
    held.current = next;
    if (shown.length === 0) return;
    const current = configuration();
    const found = faultsOf(root, current, words.faults, before);
    setShown(shown.flatMap((fault) => stillWrong(fault, found, current)));
  };

  const submit = () => {
    if (disabled) return;
    const current = configuration();
    const found = faultsOf(root, current, words.faults, before);
    show(found);
    if (found.length === 0) onSubmit(current);
  };

  const state = useMemo(() => ({ formId: id, isExisting: before !== undefined, faults }), [id, before, faults]);
  const summary = [...new Map(shown.map(({ path }) => [fieldId(id, path), path]))].map(
    ([field, path]): SummaryEntry => {
      const isPlaced = shownPart(root, held.current, path)?.length === path.length;
      const title = titleAt(root, held.current, path, words);
      return { title, message: faults.get(field) ?? '', id: isPlaced ? field : undefined };
    },
  );
  return (
    <FormContext.Provider value={state}>
      <BelowContext.Provider
        value={
          <>
            <FaultSummary entries={summary} />
            {children}
          </>
        }
      >
        <Form
          {...parts}
          {...form}
          id={id}
          className="inlay-form"
          idPrefix={id}
          initialFormData={opened}
          disabled={disabled}
          validator={libraryValidator}
          noValidate
          noHtml5Validate
          showErrorList={false}
          experimental_defaultFormStateBehavior={noDefaults}
          onChange={({ formData }) => change(formData)}
          onSubmit={submit}
        >
          {below}
        </Form>
      </BelowContext.Provider>
    </FormContext.Provider>
  );
}

function open({ specification, value }: ConnectorFormProps) {
  const root = readSpecification(specification);
  return {
    root,
    form: libraryForm(root),
    before: value,
    opened: value === undefined ? initialValue(root) : openedValue(root, value),
  };
}

/** Values are opened by configuration.ts, and nothing is to be added to them. */
const noDefaults = { emptyObjectFields: 'skipDefaults', arrayMinItems: { populate: 'never' } } as const;

/** The library compares its children in depth whenever it is rendered: it always gets the same one, which changes inside. */
const BelowContext = createContext<ComponentChildren>(undefined);
const Below = () => <>{useContext(BelowContext)}</>;
const below = <Below />;

function stillWrong(fault: ShownFault, found: readonly FieldFault[], current: Value): ShownFault[] {
  const same = found.find(({ path }) => isSame(path, fault.path));
  if (same) return [same];
  return 'held' in fault && isSame([valueAt(current, fault.path)], [fault.held]) ? [fault] : [];
}

const isSame = (a: readonly unknown[], b: readonly unknown[]) => JSON.stringify(a) === JSON.stringify(b);

function valueAt(configuration: Value, path: Path): unknown {
  return path.reduce<unknown>(memberOf, configuration);
}
