/** A preview of the draft for customers. Viewers, who may not request a preview, see which fields customers fill in. */
import type { ConnectorSpecification } from '@inlay/contract/catalog/definitions';
import { chosenBranch, type Path } from '@inlay/ui/form/configuration.ts';
import { type Field, readSpecification } from '@inlay/ui/form/fields.ts';
import { useConsole } from '../../console.ts';
import { DraftPreview } from '../../parts/frames/draft-preview.tsx';
import { words as frameWords } from '../../parts/frames/frame-words.ts';
import { Panel } from '../../parts/page.tsx';
import { ConnectionPreview } from './connection-preview.tsx';
import { configField, type Draft, modeOf, valueAt } from './draft.ts';
import type { Kind } from './kinds.ts';
import { words as templatesWords } from './words.ts';

const words = templatesWords.editor;

export interface TemplatePreviewProps {
  kind: Kind;
  /** The draft: a body for POST or PATCH. */
  body: Draft;
  specification: ConnectorSpecification;
  definitionId: string;
  /** Undefined: the template is new. */
  templateId?: string | undefined;
  /** The JSON is invalid, and `body` is the last valid draft. */
  isBroken: boolean;
}

export function TemplatePreview({ kind, body, specification, isBroken, ...of }: TemplatePreviewProps) {
  const { mayWrite } = useConsole();
  if (mayWrite) {
    const Preview = kind === 'source' ? DraftPreview : ConnectionPreview;
    return (
      <Panel title={frameWords.preview}>
        <div class="c-panel-body">
          <Preview {...of} draft={isBroken ? undefined : body} />
        </div>
      </Panel>
    );
  }
  if (kind !== 'source') return null;
  const asked = askedFields(readSpecification(specification.connectionSpecification), body, []);
  return (
    <Panel title={words.asks}>
      {asked.length === 0 ? (
        <p class="c-panel-text c-muted">{words.asksNothing}</p>
      ) : (
        <ul class="t-asked">
          {asked.map(({ path, titles, required }) => (
            <li key={path.join('.')}>
              {titles.join(' › ')} {!required && <span class="c-muted">{words.optional}</span>}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

interface Asked {
  path: Path;
  titles: string[];
  required: boolean;
}

/** The fields that customers see, in form order. */
export function askedFields(field: Field, draft: Draft, path: Path, titles: string[] = []): Asked[] {
  const inside = (inner: readonly Field[]) =>
    inner
      .filter(({ isShown }) => isShown)
      .flatMap((one) => askedFields(one, draft, [...path, one.key], [...titles, one.title]));
  if (field.kind === 'object') return inside(field.fields);
  if (modeOf(draft, path) === 'hidden') return [];
  const value = valueAt(draft, [configField, ...path]);
  const branch = field.kind === 'choice' ? chosenBranch(field, value) : undefined;
  if (branch) return inside(branch.fields);
  return value === undefined ? [{ path, titles, required: field.required }] : [];
}
