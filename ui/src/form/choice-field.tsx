/**
 * A choice between several forms of an object: cards for a few forms, a select for many, and below it the fields of the
 * chosen form. Looking at another form loses nothing; only the values of the chosen form are submitted.
 */
import { isObject } from '@inlay/contract/catalog/connector-configuration';
import { useRef } from 'preact/hooks';
import { chosenBranch, switchBranch, type Value } from './configuration.ts';
import { Description } from './description.tsx';
import type { ChoiceField, ObjectField } from './fields.ts';
import { helpId, type OuterFieldProps, useField, useForm } from './form-context.ts';
import { useWords } from './form-words.ts';
import { ObjectFields } from './object-fields.tsx';

export function ChoiceBranches({ field: choice, path, value, Inner }: OuterFieldProps<ChoiceField>) {
  const { change, isDisabled } = useForm();
  const left = useRef(new Map<ObjectField, Value>());
  const chosen = chosenBranch(choice, value);

  const choose = (next: ObjectField | undefined) => {
    if (!next || next === chosen) return;
    if (chosen && isObject(value)) left.current.set(chosen, value);
    change(path, switchBranch(chosen, next, value, left.current.get(next)));
  };
  const selector = { choice, chosen, choose, disabled: isDisabled };
  const hasFields = chosen?.fields.some(({ isShown }) => isShown);
  return (
    <>
      {choice.branches.length > 1 && (choice.display === 'radio' ? <Cards {...selector} /> : <Select {...selector} />)}
      {chosen && hasFields && (
        <div class="inlay-branch">
          <ObjectFields field={chosen} path={path} value={value} Inner={Inner} key={choice.branches.indexOf(chosen)} />
        </div>
      )}
    </>
  );
}

interface SelectorProps {
  choice: ChoiceField;
  chosen: ObjectField | undefined;
  choose: (branch: ObjectField | undefined) => void;
  disabled: boolean;
}

function Cards({ choice, chosen, choose, disabled }: SelectorProps) {
  const { id } = useField();
  return (
    <div class="inlay-options">
      {choice.branches.map((branch, index) => {
        const optionId = `${id}:option-${index}`;
        return (
          <div class="inlay-option" key={optionId}>
            <input
              class="inlay-radio"
              type="radio"
              id={optionId}
              name={id}
              disabled={disabled}
              checked={branch === chosen}
              aria-describedby={branch.description && helpId(optionId)}
              onChange={() => choose(branch)}
            />
            <label class="inlay-option-title" for={optionId}>
              {branch.title}
            </label>
            {branch.description && <Description html={branch.description} id={helpId(optionId)} />}
          </div>
        );
      })}
    </div>
  );
}

function Select({ choice, chosen, choose, disabled }: SelectorProps) {
  const words = useWords().form;
  const { id, fault, describedBy } = useField();
  const selectId = `${id}:options`;
  const help = chosen?.description && helpId(selectId);
  return (
    <>
      <select
        id={selectId}
        class="inlay-control inlay-select"
        disabled={disabled}
        aria-label={choice.title}
        aria-invalid={fault !== undefined}
        aria-describedby={[describedBy, help].filter(Boolean).join(' ') || undefined}
        value={String(chosen ? choice.branches.indexOf(chosen) : -1)}
        onChange={({ currentTarget }) => choose(choice.branches[Number(currentTarget.value)])}
      >
        {!chosen && (
          <option value="-1" disabled>
            {choice.required ? words.choose : words.notSet}
          </option>
        )}
        {choice.branches.map(({ title }, index) => (
          <option key={index} value={String(index)}>
            {title}
          </option>
        ))}
      </select>
      {chosen?.description && <Description html={chosen.description} id={helpId(selectId)} />}
    </>
  );
}
