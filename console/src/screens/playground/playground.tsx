/** Customizes the widget: a preview, the code for it, and the templates that a customer would be offered. */

import type { TemplateExplanation } from '@inlay/contract/catalog/template-filters';
import type { WidgetLocale } from '@inlay/contract/embedding';
import type { WidgetTokenRequest } from '@inlay/contract/tenancy/tokens';
import { useMemo, useState } from 'preact/hooks';
import { requestTo } from '../../api/client.ts';
import { type Loaded, useAnswer } from '../../api/use-loaded.ts';
import { useConsole } from '../../console.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { ChoiceField, TextField } from '../../parts/fields.tsx';
import { chosenLook, languageNames, savedLook, saveLook } from '../../parts/frames/widget-look.ts';
import { Bones, Empty, Page, Panel } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/tables/table.tsx';
import { useSettled } from '../../parts/use-settled.ts';
import { Link } from '../../router/link.tsx';
import { basePath, pathTo } from '../../router/router.ts';
import { backendCode, type CodeLanguage, codeLanguages, pageCode } from './code.ts';
import { Preview } from './preview.tsx';
import { words } from './words.ts';

const maxSuggestions = 20;
const serviceUrl = new URL('..', new URL(basePath, location.origin)).href.replace(/\/$/, '');

export function PlaygroundScreen() {
  const { mayWrite } = useConsole();
  const [chosen] = useState(chosenLook);
  const [name, setName] = useState('acme-inc');
  const [origin, setOrigin] = useState('https://app.example.com');
  const [locale, setLocale] = useState((chosen.locale ?? '') as WidgetLocale | '');
  const [scheme, setScheme] = useState(chosen.theme.color_scheme ?? 'auto');
  const [color, setColor] = useState(chosen.theme.primary_color ?? '');
  const [radius, setRadius] = useState(String(chosen.theme.radius ?? ''));
  const [tags, setTags] = useState('');
  const [mode, setMode] = useState<'any' | 'all'>('any');
  const [language, setLanguage] = useState<CodeLanguage>('curl');
  const selected = tags
    .split(',')
    .map((tag) => tag.trim())
    .filter(Boolean);
  const theme = {
    ...(scheme === 'auto' ? {} : { color_scheme: scheme }),
    ...(color.trim() ? { primary_color: color.trim() } : {}),
    ...(/^\d+$/.test(radius.trim()) ? { radius: Number(radius) } : {}),
  };
  const filters =
    selected.length > 0
      ? { selected_source_template_tags: selected, selected_source_template_tags_mode: mode }
      : undefined;
  const body: WidgetTokenRequest = {
    workspace_name: name,
    allowed_origin: origin,
    ...(locale ? { locale } : {}),
    ...(Object.keys(theme).length > 0 ? { theme } : {}),
    ...filters,
  };
  // The code follows every key; the service and the widget wait until the typing stops.
  const settledLook = useSettled(JSON.stringify({ theme, ...(locale ? { locale } : {}) }));
  const settledFilters = useSettled(JSON.stringify(filters ?? {}));
  const look = useMemo(() => {
    saveLook(JSON.parse(settledLook));
    return savedLook();
  }, [settledLook]);
  const wanted = useSettled(name.trim());
  const { data: alike } = useAnswer(
    wanted === ''
      ? undefined
      : requestTo('GET /workspaces', { query: { name_contains: wanted, limit: maxSuggestions } }),
  );
  // So many names may contain this one that it is not among the first suggestions.
  const { data: found } = useAnswer(
    wanted === '' ? undefined : requestTo('GET /integrations/workspaces', { query: { name: wanted } }),
  );
  const explained = useAnswer(
    mayWrite ? requestTo('POST /integrations/templates/explain', { body: JSON.parse(settledFilters) }) : undefined,
  );
  const suggestions = alike?.data.map((customer) => customer.name);
  return (
    <Page title={words.title}>
      <p class="c-muted">{words.lead}</p>
      <div class="c-two">
        <Panel title={words.settings}>
          <div class="c-panel-body">
            <TextField
              label={words.customer}
              hint={words.customerHint}
              value={name}
              suggestions={suggestions}
              onInput={setName}
            />
            <TextField label={words.origin} hint={words.originHint} value={origin} onInput={setOrigin} />
            <ChoiceField
              label={words.language}
              value={locale}
              options={{ '': words.automatic, ...languageNames }}
              onInput={setLocale}
            />
            <ChoiceField label={words.scheme} value={scheme} options={words.schemes} onInput={setScheme} />
            <TextField label={words.color} hint={words.colorHint} value={color} onInput={setColor} />
            <TextField label={words.radius} value={radius} onInput={setRadius} />
            <TextField label={words.tags} hint={words.tagsHint} value={tags} onInput={setTags} />
            <ChoiceField label={words.mode} value={mode} options={words.modes} onInput={setMode} />
          </div>
        </Panel>
        <div class="c-stack">
          {mayWrite && (
            <Panel title={words.preview}>
              <Preview
                customer={found?.data[0]}
                filters={JSON.parse(settledFilters)}
                look={look}
                explanation={explained.data}
              />
            </Panel>
          )}
          <ChoiceField
            label={words.languageOfCode}
            value={language}
            options={codeLanguages}
            onInput={(value) => setLanguage(value as CodeLanguage)}
          />
          <CodeBlock title={words.backend} text={backendCode(language, body)} copyLabel={words.copyBackend} />
          <CodeBlock title={words.page} text={pageCode(serviceUrl)} copyLabel={words.copyPage} />
        </div>
      </div>
      {mayWrite && <Offered {...explained} />}
    </Page>
  );
}

type Explained = TemplateExplanation['source_templates'][number];

function Offered({ data, error, reload }: Loaded<TemplateExplanation>) {
  const columns: Column<Explained>[] = [
    { title: words.template, cell: ({ id, name }) => <Link to={pathTo('templates', id)}>{name}</Link> },
    { title: words.shown, cell: ({ shown }) => (shown ? words.yes : words.no) },
    { title: words.why, isWide: true, cell: ({ rule }) => rule },
  ];
  return (
    <Panel title={words.offered}>
      {error && <ErrorNotice error={error} onTryAgain={reload} />}
      {!data && !error && <Bones />}
      {data?.source_templates.length === 0 && (
        <Empty title={words.nothing}>
          <Link to={pathTo('connectors')}>{words.toConnectors}</Link>
        </Empty>
      )}
      {data && data.source_templates.length > 0 && (
        <Table label={words.offered} rows={data.source_templates} columns={columns} idOf={({ id }) => id} />
      )}
    </Panel>
  );
}
