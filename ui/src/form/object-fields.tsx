/** The fields of an object in their sections. Optional fields are closed until the customer opens them. */
import { deepCompareStrict } from '@cfworker/json-schema';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { initialValue, memberOf } from './configuration.ts';
import type { Field, ObjectField, Section } from './fields.ts';
import { type OuterFieldProps, useForm } from './form-context.ts';
import { useWords } from './form-words.ts';
import { ChevronIcon } from './icons.tsx';

export function ObjectFields({ field: { sections }, path, value, Inner }: OuterFieldProps<ObjectField>) {
  const areCards = path.length === 0 && (sections.length > 1 || sections[0]?.title !== undefined);
  return (
    <div class="inlay-sections">
      {sections.map((section, index) => (
        <SectionContent
          key={index}
          section={section}
          value={value}
          isCard={areCards}
          draw={(field) => (
            <Inner key={field.key} field={field} path={[...path, field.key]} value={memberOf(value, field.key)} />
          )}
        />
      ))}
    </div>
  );
}

interface SectionProps {
  section: Section;
  value: unknown;
  isCard: boolean;
  draw(field: Field): ComponentChildren;
}

function SectionContent({ section, value, isCard, draw }: SectionProps) {
  const words = useWords().form;
  const { title, visible, folded } = section;
  const look = isCard ? 'inlay-section inlay-section-card' : 'inlay-section';
  if (visible.length === 0 && title !== undefined) {
    return (
      <Fold fields={folded} value={value} look="inlay-section-card" title={title} mark={words.optional}>
        {folded.map(draw)}
      </Fold>
    );
  }
  const content = (
    <>
      {visible.map(draw)}
      {folded.length > 0 && (
        <Fold fields={folded} value={value} title={words.optionalSettings}>
          {folded.map(draw)}
        </Fold>
      )}
    </>
  );
  if (title === undefined) return <div class={look}>{content}</div>;
  return (
    <fieldset class={look}>
      <legend class="inlay-section-title">{title}</legend>
      {content}
    </fieldset>
  );
}

interface FoldProps {
  fields: readonly Field[];
  value: unknown;
  title: string;
  mark?: string;
  look?: string;
  children: ComponentChildren;
}

/** Starts open where something inside was set before. Focusing a field inside opens it, too. */
function Fold({ fields, value, title, mark, look = '', children }: FoldProps) {
  const { isExisting } = useForm();
  const isSet = (field: Field) => {
    const held = memberOf(value, field.key);
    return held !== undefined && !deepCompareStrict(held, initialValue(field));
  };
  const [startsOpen] = useState(isExisting && fields.some(isSet));
  return (
    <details class={`inlay-fold ${look}`} open={startsOpen}>
      <summary class="inlay-fold-summary">
        <ChevronIcon />
        <span class="inlay-fold-title">{title}</span>
        {mark && <span class="inlay-field-mark">{mark}</span>}
      </summary>
      <div class="inlay-fold-content">{children}</div>
    </details>
  );
}
