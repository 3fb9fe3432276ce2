/**
 * What deploy/ asks Prometheus for exists: every metric, every label and every value that a metric's help names. Prometheus'
 * own grammar reads every question, and the dashboard has the form that Grafana loads.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../src/kernel/telemetry/metrics.ts';

const read = (file: string) => readFileSync(new URL(`../../deploy/${file}`, import.meta.url), 'utf8');

interface DataSource {
  type: string;
  uid: string;
}

interface Panel {
  id: number;
  type: string;
  title: string;
  description?: string;
  gridPos: { x: number; y: number; w: number; h: number };
  datasource?: DataSource;
  targets?: { refId: string; datasource: DataSource; expr: string; legendFormat: string }[];
}

interface Variable {
  name: string;
  type: string;
  query: string | { query: string };
  datasource?: DataSource;
}

interface Dashboard {
  uid: string;
  title: string;
  schemaVersion: number;
  time: { from: string; to: string };
  refresh: string;
  panels: Panel[];
  templating: { list: Variable[] };
}

const dashboard: Dashboard = JSON.parse(read('grafana/inlay.json'));
const panels = dashboard.panels.filter(({ targets }) => targets);
const alerts = read('prometheus/inlay-alerts.yaml')
  .split(/^ {6}- alert: /m)
  .slice(1)
  .map((text) => ({
    name: text.split('\n', 1)[0] ?? '',
    expr: /^ {8}expr: (.+)$/m.exec(text)?.[1] ?? '',
    text,
  }));

const questions = [
  ...panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr, legendFormat }) => ({ where: `panel ${title}`, expr, legendFormat })),
  ),
  ...alerts.map(({ name, expr }) => ({ where: `alert ${name}`, expr, legendFormat: '' })),
];

interface Registered {
  name: string;
  help: string;
  type: string;
  labelNames: string[];
}

function readRegistry(): Map<string, Registered> {
  const metrics = createMetrics();
  metrics.watchBacklog(async () => ({ claims: 0, operations: {}, sources: 0 }));
  metrics.watchSyncs(async () => ({ waiting: 0, running: 0, oldestWaitingMs: null, byHealth: {} }));
  const byName = new Map<string, Registered>();
  for (const metric of metrics.registry.getMetricsAsArray() as unknown as Registered[]) {
    const names =
      metric.type === 'histogram'
        ? [`${metric.name}_bucket`, `${metric.name}_sum`, `${metric.name}_count`]
        : [metric.name];
    for (const name of names) byName.set(name, metric);
  }
  return byName;
}

/** Labels that Prometheus adds, and that of the parts of a histogram. */
const always = ['instance', 'job', 'le'];
const words = new Set([
  'sum',
  'max',
  'min',
  'avg',
  'by',
  'and',
  'or',
  'rate',
  'delta',
  'topk',
  'histogram_quantile',
  'm',
]);

interface Node {
  type: { isError: boolean };
  from: number;
  to: number;
}
type Grammar = { parse(text: string): { iterate(walk: { enter(node: Node): void }): void } };
/** By a name that the compiler does not follow: its types need more packages than this test does. */
const promqlPackage: string = '@prometheus-io/lezer-promql';

/** Grafana puts values in place of variables before it asks. */
function faultsIn(promql: Grammar, where: string, expr: string): string[] {
  const asked = expr.replace(/\$__(rate_interval|range)/g, '5m').replace(/\$\{?\w+\}?/g, '.*');
  const faults: string[] = [];
  promql.parse(asked).iterate({
    enter: ({ type, from, to }) => {
      if (type.isError) faults.push(`${where}: at ${from} "${asked.slice(from, to)}" of ${asked}`);
    },
  });
  return faults;
}

describe('deploy/', () => {
  const registry = readRegistry();

  it('has a dashboard and alerts that ask for something', () => {
    expect(panels.length).toBeGreaterThan(15);
    expect(alerts.length).toBeGreaterThan(5);
    expect(questions.filter(({ expr }) => expr === '')).toEqual([]);
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { text, name } of alerts) {
      for (const part of ['for: ', 'severity: ', 'summary: ', 'description: ']) expect(text, name).toContain(part);
    }
  });

  it('has a dashboard of the form that Grafana loads', () => {
    const { uid, title, schemaVersion, time, refresh, templating } = dashboard;
    expect(uid).toMatch(/^[\w-]{1,40}$/);
    expect(title).not.toBe('');
    // From 36 on, data sources are objects.
    expect(schemaVersion).toBeGreaterThanOrEqual(36);
    expect([time.from, time.to, refresh]).toEqual([
      expect.stringMatching(/^now-/),
      'now',
      expect.stringMatching(/^\d+[sm]$/),
    ]);
    const fromVariable = { type: 'prometheus', uid: `\${datasource}` };
    expect(templating.list[0]).toMatchObject({ name: 'datasource', type: 'datasource', query: 'prometheus' });
    for (const variable of templating.list.slice(1)) expect(variable.datasource, variable.name).toEqual(fromVariable);
    const known = ['__rate_interval', '__range', ...templating.list.map(({ name }) => name)];

    const taken = new Map<string, string>();
    for (const panel of dashboard.panels) {
      const { x, y, w, h } = panel.gridPos;
      expect([panel.id, x, y, w, h].every(Number.isInteger), panel.title).toBe(true);
      expect(panel.id).toBeGreaterThan(0);
      expect(x >= 0 && y >= 0 && w > 0 && h > 0 && x + w <= 24, `${panel.title} is within 24 columns`).toBe(true);
      for (let column = x; column < x + w; column++) {
        for (let line = y; line < y + h; line++) {
          const place = `${column},${line}`;
          expect(taken.get(place), `what ${panel.title} covers`).toBeUndefined();
          taken.set(place, panel.title);
        }
      }
      if (panel.type === 'row') continue;
      expect(['timeseries', 'stat', 'gauge', 'table', 'bargauge', 'heatmap', 'barchart']).toContain(panel.type);
      expect(panel.datasource, panel.title).toEqual(fromVariable);
      const targets = panel.targets ?? [];
      expect(targets.length, panel.title).toBeGreaterThan(0);
      expect(new Set(targets.map(({ refId }) => refId)).size, panel.title).toBe(targets.length);
      for (const { datasource, expr, refId } of targets) {
        expect(refId).toMatch(/^[A-Z]$/);
        expect(datasource, panel.title).toEqual(fromVariable);
        for (const [, name = ''] of expr.matchAll(/\$\{?(\w+)/g)) expect(known, panel.title).toContain(name);
      }
    }
  });

  it("asks only what Prometheus' own grammar reads", async () => {
    const { parser }: { parser: Grammar } = await import(promqlPackage);
    const faults = questions.flatMap(({ where, expr }) => faultsIn(parser, where, expr));
    expect(faults).toEqual([]);
    // The grammar does find what is wrong.
    expect(faultsIn(parser, 'here', 'sum by (status (rate(inlay_http_requests_total[5m]))')).not.toEqual([]);
    expect(faultsIn(parser, 'here', 'rate(inlay_http_requests_total[5m)')).not.toEqual([]);
  });

  it('names only metrics, labels and values that the service has', () => {
    const faults: string[] = [];
    for (const { where, expr, legendFormat } of questions) {
      const used: Registered[] = [];
      for (const [, name = '', selector = ''] of expr.matchAll(/\b([a-z]+_[a-z0-9_]+)\b(?:\{([^}]*)\})?/g)) {
        if (words.has(name) || name === '__rate_interval') continue;
        // Inside of braces or quotation marks, or a label after "by": no metric.
        if (!/^(inlay|nodejs|process)_/.test(name)) continue;
        const metric = registry.get(name);
        if (!metric) {
          faults.push(`${where}: there is no metric ${name}`);
          continue;
        }
        used.push(metric);
        for (const [, label = '', value = ''] of selector.matchAll(/(\w+)\s*[=!]~?\s*"([^"]*)"/g)) {
          if (![...metric.labelNames, ...always].includes(label))
            faults.push(`${where}: ${name} has no label ${label}`);
          const listed = /: ([a-z_]+(?:, [a-z_]+)+)$/.exec(metric.help)?.[1]?.split(', ');
          if (!listed || always.includes(label)) continue;
          for (const one of value.split('|')) {
            if (!listed.includes(one)) faults.push(`${where}: ${name} never has the ${label} ${one}`);
          }
        }
      }
      if (used.length === 0) faults.push(`${where}: asks for nothing of the service`);
      const labels = [...always, ...used.flatMap(({ labelNames }) => labelNames)];
      const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(/,\s*/));
      const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => name);
      for (const name of [...grouped, ...shown]) {
        if (!labels.includes(name)) faults.push(`${where}: none of its metrics has the label ${name}`);
      }
    }
    expect(faults).toEqual([]);
  });

  it('asks only for names that look like metrics in the lists of values, too', () => {
    for (const { query } of dashboard.templating.list) {
      const text = typeof query === 'string' ? query : query.query;
      for (const [name] of text.matchAll(/\b(?:inlay|nodejs|process)_\w+/g))
        expect(registry.has(name), name).toBe(true);
    }
  });

  it('has alerts that the page about metrics explains, and that page explains no others', () => {
    const page = readFileSync(new URL('../../docs/reference/metrics.md', import.meta.url), 'utf8');
    const explained = [...page.matchAll(/^\| `(Inlay\w+)` \|/gm)].map(([, name]) => name);
    expect(explained.toSorted()).toEqual(alerts.map(({ name }) => name).toSorted());
  });
});
