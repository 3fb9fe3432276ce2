/** The reference page: its tables are generated from the components, and its example is executed. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { check, discover, read, startApi, stateOf } from '../test/declarative-api.ts';
import type { Kind } from './component.ts';
import { readManifest } from './manifest/read-manifest.ts';
import { componentDefinitions } from './registry.ts';

const file = fileURLToPath(new URL('../../docs/reference/declarative.md', import.meta.url));

function kindWords(kind: Kind): string {
  switch (kind.is) {
    case 'list':
      return `list of ${kindWords(kind.of)}`;
    case 'mapping':
      return `object of ${kindWords(kind.of)}`;
    case 'either':
      return kind.of.map(kindWords).join(' or ');
    case 'choice':
      return kind.of.map((word) => `\`${word}\``).join(', ');
    case 'component':
      return kind.of.filter((name) => !name.startsWith('Custom')).join(', ') || 'code';
    case 'string':
      return 'template';
    case 'schema':
      return 'JSON schema';
    default:
      return kind.is;
  }
}

it('lists every component and every option', () => {
  const parts = componentDefinitions.map(({ name, step, words, options }) => {
    const rows = Object.entries(options).map(([option, { kind, words: about, isRequired, default: byDefault }]) => {
      const given = isRequired ? 'required' : byDefault === undefined ? '' : `\`${JSON.stringify(byDefault)}\``;
      return `| \`${option}\` | ${kindWords(kind)} | ${given} | ${about.replaceAll('|', '\\|')} |`;
    });
    const table = rows.length > 0 ? `\n| Option | Kind | Default | |\n|---|---|---|---|\n${rows.join('\n')}\n` : '';
    return `### ${name}\n\n${step}. ${words}\n${table}`;
  });
  const [begin, end] = ['<!-- generated: npm run docs -->\n', '<!-- /generated -->'];
  const page = readFileSync(file, 'utf8');
  const from = page.indexOf(begin) + begin.length;
  const expected = `${page.slice(0, from)}${parts.join('\n')}${page.slice(page.indexOf(end, from))}`;
  if (process.env.UPDATE_DOCS) writeFileSync(file, expected);
  else expect(page, 'run: npm run docs').toBe(expected);
});

it('shows a manifest that works as it is written', async () => {
  const manifest = /```yaml\n([\s\S]*?)```/.exec(readFileSync(file, 'utf8'))?.[1] ?? '';
  expect(readManifest(manifest).problems).toEqual([]);
  const api = await startApi();
  onTestFinished(() => api.close());
  const config = { base_url: api.address, api_key: 'k', start_date: '2024-06-01' };
  api.answer(({ query, headers }) => {
    if (headers['x-api-key'] !== 'k') return { status: 401 };
    const first = { id: 'a', state: 'paid', updated_at: '2024-06-02T10:00:00Z' };
    const second = { id: 'b', state: 'open', updated_at: '2024-06-03T10:00:00Z' };
    return { json: query.page_token === undefined ? { data: [first], next: 't' } : { data: [second], next: null } };
  });
  expect(await check({ manifest, config })).toBeUndefined();
  expect((await discover({ manifest, config })).streams).toMatchObject([
    { name: 'invoices', default_cursor_field: ['updated_at'], source_defined_primary_key: [['id']] },
  ]);
  const { records, states } = await read({ manifest, config, streams: { invoices: 'incremental' } });
  expect(records.invoices?.map(({ id, is_paid }) => [id, is_paid])).toEqual([
    ['a', true],
    ['b', false],
  ]);
  expect(states.invoices).toEqual({ updated_at: '2024-06-03T10:00:00Z' });
  api.taken();
  await read({
    manifest,
    config,
    streams: { invoices: 'incremental' },
    state: stateOf('invoices', states.invoices ?? {}),
  });
  expect(api.asked()[0]?.query.updated_since).toBe('2024-06-03T10:00:00Z');
});
