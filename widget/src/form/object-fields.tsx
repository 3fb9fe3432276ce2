/** The fields of an object in their sections. What is optional is folded away until somebody looks for it. */
import { deepCompareStrict } from '@cfworker/json-schema';
import type { ObjectFieldTemplateProps } from '@rjsf/utils';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useWords } from '../words/words.ts';
import { initialValue, memberOf } from './configuration.ts';
import type { Field, ObjectField, Section } from './fields.ts';
import { useForm } from './form-context.ts';
import { ChevronIcon } from './icons.tsx';
import { fieldOf } from './library-schema.ts';

export function ObjectFieldTemplate({ properties, uiSchema, formData, fieldPathId }: ObjectFieldTemplateProps) {
  const { sections } = fieldOf<ObjectField>(uiSchema);
  const contents = new Map(properties.map(({ name, content }) => [name, content]));
  const areCards = fieldPathId.path.length === 0 && (sections.length > 1 || sections[0]?.title !== undefined);
  return (
    <div class="inlay-sections">
      {sections.map((section, index) => (
        <SectionContent key={index} section={section} contents={contents} value={formData} isCard={areCards} />
      ))}
    </div>
  );
}

interface SectionProps {
  section: Section;
  /** By key. */
  contents: ReadonlyMap<string, ComponentChildren>;
  value: unknown;
  isCard: boolean;
}

function SectionContent({ section, contents, value, isCard }: SectionProps) {
  const words = useWords().form;
  const { title, visible, folded } = section;
  const contentOf = ({ key }: Field) => contents.get(key);
  const look = isCard ? 'inlay-section inlay-section-card' : 'inlay-section';
  if (visible.length === 0 && title !== undefined) {
    return (
      <Fold fields={folded} value={value} look="inlay-section-card" title={title} mark={words.optional}>
        {folded.map(contentOf)}
      </Fold>
    );
  }
  const content = (
    <>
      {visible.map(contentOf)}
      {folded.length > 0 && (
        <Fold fields={folded} value={value} title={words.optionalSettings}>
          {folded.map(contentOf)}
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
