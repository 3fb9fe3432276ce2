import { FormWordsContext } from '@inlay/ui/form/form-words.ts';
import english from '@inlay/ui/form/words/en.ts';
import { Button } from '@inlay/ui/parts/button.tsx';
import { Notice } from '@inlay/ui/parts/notice.tsx';
import { Tabs } from '@inlay/ui/parts/tabs.tsx';
import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { JsonEditor } from '../../parts/json-editor.tsx';
import { Panel } from '../../parts/page.tsx';
import { useMedia } from '../../parts/use-media.ts';
import { TemplateForm, type TemplateFormProps } from './template-form.tsx';
import { TemplatePreview } from './template-preview.tsx';
import { words } from './words.ts';
import './templates.css';

export interface EditorProps extends Omit<TemplateFormProps, 'isDisabled'> {
  isReadOnly?: boolean;
}

const formWords = { language: 'en', form: english };

/** On narrower screens, two columns would be unreadable. */
const wide = '(min-width: 62rem)';

export function TemplateEditor(props: EditorProps) {
  const { kind, state, faults, isReadOnly = false } = props;
  const id = useId();
  const isWide = useMedia(wide);
  const [tab, setTab] = useState<'form' | 'json'>('form');
  const form = (
    <FormWordsContext.Provider value={formWords}>
      {state.trouble && (
        <Notice
          kind="warning"
          title={words.editor.broken}
          actions={<Button onClick={state.restore}>{words.editor.restore}</Button>}
        >
          {words.editor.brokenText}
        </Notice>
      )}
      <TemplateForm {...props} isDisabled={isReadOnly || state.trouble !== undefined} />
    </FormWordsContext.Provider>
  );
  const json = (
    <>
      <JsonEditor
        label={words.json}
        value={state.text}
        onInput={state.setText}
        faults={faults}
        words={words}
        isReadOnly={isReadOnly}
      />
      {state.trouble === 'object' && <p class="c-fault">{words.notObject}</p>}
    </>
  );
  const preview = (
    <TemplatePreview
      kind={kind}
      body={state.draft}
      specification={props.specification}
      definitionId={props.definitionId}
      templateId={props.templateId}
      isBroken={state.trouble !== undefined}
    />
  );
  // One structure for both widths, so that an open dialog or a running test survives a resize.
  return (
    <div class={isWide ? 't-panes' : 't-narrow'}>
      <Tabs<'form' | 'json'>
        id={id}
        label={words.editor.views}
        selected={tab}
        onSelect={(key) => setTab(key)}
        areAllShown={isWide}
        tabs={[
          { key: 'form', title: words.editor.form, content: <Pane title={words.editor.form}>{form}</Pane> },
          { key: 'json', title: 'JSON', content: <Pane title={words.json}>{json}</Pane> },
        ]}
      />
      <div class="t-preview">{preview}</div>
    </div>
  );
}

function Pane({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <Panel title={title}>
      <div class="c-panel-body">{children}</div>
    </Panel>
  );
}
