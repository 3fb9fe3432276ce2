/** Documents that cannot become outdated: what they say about the code is generated from it or compared with it. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorCatalogue, type Refusal, type RefusalCode, refusals } from '@inlay/contract/error-catalogue';
import { faultTypes } from '@inlay/contract/errors';
import { reasonCatalogue } from '@inlay/contract/reasons';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { overApi, program } from '../src/edge/cli/cli.ts';
import { exitCodes } from '../src/edge/cli/exit-codes.ts';
import type { Schema } from '../src/edge/reference/schema-words.ts';
import { dataSchema } from '../src/edge/reference/webhooks.ts';
import { secretVariables } from '../src/kernel/config/secret-files.ts';
import { variables } from '../src/kernel/config/variables.ts';
import { refusalDetail } from '../src/kernel/http/error-catalogue.ts';
import { catalogue, entryTypes, eventTypes } from '../src/log/events/catalogue.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string) => readFileSync(root + file, 'utf8');
/** The members of an object, by name. */
const membersOf = ({ properties = {} }: Schema) =>
  Object.entries(properties)
    .map(([name, { description }]) => `\`${name}\`: ${description}`)
    .join(' ');
const manifest = (folder: string) => JSON.parse(read(`${folder}package.json`));

/** With UPDATE_DOCS the page is written, otherwise compared. */
function expectGenerated(file: string, content: string, heading = ''): void {
  const [begin, end] = ['<!-- generated: npm run docs -->\n', '<!-- /generated -->'];
  const page = read(file);
  const from = page.indexOf(begin, page.indexOf(heading)) + begin.length;
  const expected = `${page.slice(0, from)}${content}${page.slice(page.indexOf(end, from))}`;
  if (process.env.UPDATE_DOCS) writeFileSync(root + file, expected);
  else expect(page, `run: npm run docs`).toBe(expected);
}

/** The same for a file that is generated as a whole. */
function expectFile(file: string, content: string): void {
  if (process.env.UPDATE_DOCS) writeFileSync(root + file, content);
  else expect(read(file), `run: npm run docs`).toBe(content);
}

describe('the reference pages', () => {
  it('list every variable of the configuration', () => {
    const rows = Object.entries(variables).map(
      ([name, [fallback, meaning]]) => `| \`${name}\` | ${fallback} | ${meaning} |`,
    );
    expectGenerated(
      'docs/reference/configuration.md',
      `| Variable | Default | Meaning |\n|---|---|---|\n${rows.join('\n')}\n`,
    );
  });

  it('name every secret that can come from a file', () => {
    const page = read('docs/reference/configuration.md');
    const [paragraph = ''] = /Secrets can also come from files[\s\S]*?\n\n/.exec(page) ?? [];
    expect(secretVariables.filter((name) => !paragraph.includes(`\`${name}\``))).toEqual([]);
  });

  it('list every error', () => {
    const errors = [
      ...Object.entries(errorCatalogue).map(([code, { statuses, detail, example, when, parameters = [] }]) => {
        const shown = example ?? (typeof detail === 'string' ? detail : '');
        return { code, statuses, detail: shown, when, parameters: [...parameters] };
      }),
      ...(Object.keys(refusals) as RefusalCode[]).map((code) => {
        const { status, when, example = refusalDetail(code) }: Refusal = refusals[code];
        return { code, statuses: [status], detail: example, when, parameters: [] };
      }),
    ];
    expectFile(
      'console/src/api/error-help.json',
      `${JSON.stringify(Object.fromEntries(errors.map(({ code, when }) => [code, when])), undefined, 2)}\n`,
    );
    const rows = errors
      .toSorted((a, b) => (a.statuses[0] ?? 0) - (b.statuses[0] ?? 0))
      .map(({ code, statuses, detail, when, parameters }) => {
        const given =
          parameters.length > 0 ? ` Parameters: ${parameters.map((name) => `\`${name}\``).join(', ')}.` : '';
        return `| ${statuses.join(', ')} | \`${code}\` | ${detail} | ${when}${given} |`;
      });
    expectGenerated(
      'docs/reference/errors.md',
      `| Status | \`X-Inlay-Error\` | \`detail\` | Meaning and what to do |\n|---|---|---|---|\n${rows.join('\n')}\n`,
    );
  });

  it('list every type of a fault, which is every type that code can give', () => {
    const rows = Object.entries(faultTypes).map(([type, [cause, msg]]) => `| ${cause} | \`${type}\` | \`${msg}\` |`);
    const table = `| Cause | \`type\` | \`msg\` |\n|---|---|---|\n${rows.join('\n')}\n`;
    expectGenerated('docs/reference/errors.md', table, '## 422');
    // The compiler refuses a type that is not in the list. This checks that every type in the list is used.
    const sources = ['contract/src', 'server/src'].flatMap((folder) =>
      readdirSync(root + folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && file !== 'errors.ts')
        .map((file) => read(`${folder}/${file}`)),
    );
    for (const type of Object.keys(faultTypes))
      expect(
        sources.some((text) => text.includes(`'${type}'`)),
        type,
      ).toBe(true);
  });

  it('list every code of a reason, what it means and what to do', () => {
    const rows = Object.entries(reasonCatalogue).map(([code, { readers, means, remedy, parameters = {} }]) => {
      const named = Object.entries(parameters).map(([name, says]) => `\`${name}\`: ${says}`);
      return `| \`${code}\` | ${readers} | ${means} | ${remedy} | ${named.join('<br>')} |`;
    });
    const head = '| `code` | Who reads it | Meaning | What to do | `parameters` |\n|---|---|---|---|---|\n';
    expectGenerated('docs/reference/errors.md', `${head}${rows.join('\n')}\n`, '## Reasons');
  });

  it('list every type of event, and what it says', () => {
    const parts = eventTypes.map((type) => {
      const { when, ofWorkspace, forCustomers } = catalogue[type];
      const { properties = {}, required = [] } = dataSchema(type);
      const rows = Object.entries(properties).map(([name, schema]) => {
        const isSure = required.includes(name) ? '' : ' Optional.';
        return `| \`${name}\` | ${schema.description ?? membersOf(schema)}${isSure} |`;
      });
      const readers = forCustomers ? ' Visible to customers.' : '';
      const whose = ofWorkspace === false ? ' Concerns the whole organization.' : '';
      return `### ${type}\n\n${when}${whose}${readers}\n\n| \`data\` | |\n|---|---|\n${rows.join('\n')}\n`;
    });
    expectGenerated('docs/reference/events.md', `${parts.join('\n')}`);
    const audit = entryTypes.filter((type) => !catalogue[type].isEvent);
    const rows = audit.map((type) => `| \`${type}\` | ${catalogue[type].when} |`);
    expectGenerated(
      'docs/reference/events.md',
      `| Type | When |\n|---|---|\n${rows.join('\n')}\n`,
      '## Audit-only entries',
    );
  });

  it('name every direct dependency, and none that is gone', () => {
    const dependencies = new Set<string>();
    const { workspaces } = JSON.parse(read('package.json')) as { workspaces: string[] };
    for (const folder of [
      '',
      ...workspaces.map((name) => `${name}/`),
      'scripts/generated-clients/',
      'platform/test/torture/kit/',
    ]) {
      const { dependencies: runtime = {}, devDependencies: development = {} } = manifest(folder);
      for (const name of Object.keys({ ...runtime, ...development })) {
        if (!/^(@inlay\/|inlay-)/.test(name)) dependencies.add(name);
      }
    }
    const rows = read('docs/reference/dependencies.md')
      .split('\n')
      .filter((line) => line.startsWith('| `'));
    const named = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map((match) => match[1]));
    expect(new Set(named)).toEqual(dependencies);
  });

  it('name every table of the local store', () => {
    const migrations = read('server/src/kernel/db/migrations.ts');
    const renamed = new Map([...migrations.matchAll(/alter table (\w+) rename to (\w+)/g)].map(([, a, b]) => [a, b]));
    const tables = [...migrations.matchAll(/create table (?:if not exists )?(\w+)/g)].map(
      ([, name]) => renamed.get(name) ?? name,
    );
    expect(tables.length).toBeGreaterThan(5);
    for (const table of tables) expect(read('docs/reference/storage.md')).toContain(`| \`${table}\` |`);
  });
});

describe('the page about the command line', () => {
  const page = 'docs/reference/command-line.md';
  const leaves = (of: Command): Command[] =>
    of.commands.flatMap((one) => [...(one.commands.length === 0 || hasAction(one) ? [one] : []), ...leaves(one)]);
  /** `backup` is a command and has one below it. */
  const hasAction = (one: Command) => one.options.length > 0;
  const nameOf = (one: Command): string => (one.parent?.parent ? `${nameOf(one.parent)} ${one.name()}` : one.name());
  const takesJson = (one: Command) => one.options.some(({ long }) => long === '--json');

  it('lists every exit code, and so does --help', () => {
    const rows = Object.values(exitCodes).map(([code, meaning]) => `| ${code} | ${meaning} |`);
    expectGenerated(page, `| Code | Meaning |\n|---|---|\n${rows.join('\n')}\n`, '## Exit codes');
  });

  it('lists every command, whether it prints JSON, and where it works', () => {
    const rows = leaves(program).map((one) => {
      const what = one.description().replaceAll('|', '\\|');
      return `| \`${nameOf(one)}\` | ${what} | ${takesJson(one) ? 'yes' : ''} | ${overApi.has(one) ? 'API' : 'machine'} |`;
    });
    const head = '| Command | What it does | `--json` | Works on |\n|---|---|---|---|\n';
    expectGenerated(page, `${head}${rows.join('\n')}\n`, '## Commands');
    const listings = leaves(program).filter((one) => /^(list|show) /.test(one.description()));
    expect(listings.length).toBeGreaterThan(8);
    expect(listings.filter((one) => !takesJson(one)).map(nameOf)).toEqual([]);
  });
});

describe('the README', () => {
  it('names commands that exist', () => {
    const { scripts } = manifest('');
    const named = [...read('README.md').matchAll(/npm (?:run )?(start|test|check|build|format|docs)\b/g)].map(
      (match) => match[1],
    );
    expect(named).toEqual(expect.arrayContaining(['start', 'check']));
    for (const script of named) expect(Object.keys(scripts)).toContain(script);
  });

  it('gives the test command that CI runs', () => {
    const command = 'npm ci && npm run check';
    expect(read('README.md')).toContain(command);
    const ci = read('.ci/run');
    expect(ci).toMatch(/^npm ci\b/m);
    expect(ci).toMatch(/npm run (--silent )?check\b/);
  });
});

describe('every page', () => {
  const pages = [
    ...readdirSync(root).filter((name) => name.endsWith('.md')),
    ...readdirSync(`${root}docs`, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => `docs/${name}`),
  ];

  it('has no dead links to files', () => {
    const dead = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)[^)]*\)/g)]
        .map(([, target = '']) => target)
        .filter((target) => !existsSync(join(root, dirname(page), decodeURI(target))))
        .map((target) => `${page} → ${target}`),
    );
    expect(dead).toEqual([]);
  });

  it('has no marks of a merge that was not finished', () => {
    expect(pages.filter((page) => /^(<{7}|={7}|>{7})( |$)/m.test(read(page)))).toEqual([]);
  });
});

describe('what a page has people type', () => {
  const folders = ['', 'docs/guides/', 'docs/reference/', 'embed/', 'webhooks/', 'examples/host-app/'];
  const pages = folders.flatMap((folder) =>
    readdirSync(root + folder)
      .filter((name) => /\.(md|mjs)$/.test(name) && name !== 'CHANGELOG.md')
      .map((name) => folder + name),
  );

  it('has one name for the variable with the operator token', () => {
    const names = pages.flatMap((page) =>
      [...read(page).matchAll(/(?:\$|\$\{|process\.env\.|export )(\w*TOKEN)\b/g)].map(([, name]) => name),
    );
    expect(new Set(names)).toEqual(new Set(['INLAY_OPERATOR_TOKEN', 'INLAY_WORKER_TOKEN', 'SCOPED_TOKEN']));
  });

  it('names only files of the examples that exist', () => {
    const files = pages.flatMap((page) => read(page).match(/\bexamples\/[\w./-]*\w/g) ?? []);
    expect(files.filter((file) => !existsSync(root + file))).toEqual([]);
    expect(files).toContain('examples/books/books.yaml');
  });
});
