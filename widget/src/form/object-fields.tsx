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
  const contentOf = ({ key }: Field) => contents.get(key);
  const areCards = fieldPathId.path.length === 0 && (sections.length > 1 || sections[0]?.title !== undefined);
  return (
    <div class="inlay-sections">
      {sections.map((section, index) => (
        <SectionFrame key={index} title={section.title} isCard={areCards}>
          {section.visible.map(contentOf)}
          {section.folded.length > 0 && (
            <Fold section={section} value={formData}>
              {section.folded.map(contentOf)}
            </Fold>
          )}
        </SectionFrame>
      ))}
    </div>
  );
}

function SectionFrame(props: { title: string | undefined; isCard: boolean; children: ComponentChildren }) {
  const { title, isCard, children } = props;
  const look = `inlay-section${isCard ? ' inlay-section-card' : ''}`;
  if (title === undefined) return <div class={look}>{children}</div>;
  return (
    <fieldset class={look}>
      <legend class="inlay-section-title">{title}</legend>
      {children}
    </fieldset>
  );
}

/** Starts open where something inside was set before. Focusing a field inside opens it, too. */
function Fold({ section, value, children }: { section: Section; value: unknown; children: ComponentChildren }) {
  const { isExisting } = useForm();
  const isSet = (field: Field) => {
    const held = memberOf(value, field.key);
    return held !== undefined && !deepCompareStrict(held, initialValue(field));
  };
  const [startsOpen] = useState(isExisting && section.folded.some(isSet));
  return (
    <details class="inlay-fold" open={startsOpen}>
      <summary class="inlay-fold-summary">
        <ChevronIcon />
        {useWords().form.optionalSettings}
      </summary>
      <div class="inlay-fold-content">{children}</div>
    </details>
  );
}
