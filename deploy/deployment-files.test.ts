/** Every deployment file against the schema of its format and against Inlay's own settings. Nothing is deployed here. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Ajv } from 'ajv';
import { build } from 'esbuild';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { findSystemProgram } from '../scripts/programs.mjs';
import { readConfig } from '../server/src/kernel/config/config.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));
const read = (path: string) => readFileSync(join(folder, path), 'utf8');
const secretFolder = '/run/secrets/';

/** Fails for a variable that Inlay does not know, for a value that it refuses, and if metrics are public. Secrets are given, not read. */
function expectToConfigure(environment: Record<string, string>, runs: 'service' | 'platform' | 'worker') {
  const given = Object.entries(environment).map(([name, value]) => {
    if (!value.startsWith(secretFolder) && !value.startsWith('%d/')) return [name, value];
    expect(name).toMatch(/_FILE$/);
    const plain = name.slice(0, -'_FILE'.length);
    const key = Buffer.from(`${plain} 0123456789`.slice(0, 32).padEnd(32, 'x')).toString('base64');
    return [plain, secretsOfAForm[plain] ?? key];
  });
  expect(readConfig(Object.fromEntries(given), { runs }).config.unknownNames).toEqual([]);
  // A proxy publishes everything that is on the port of the service.
  if (runs === 'service') expect(environment).toHaveProperty('INLAY_METRICS_PORT');
}

const secretsOfAForm: Record<string, string> = {
  INLAY_DATABASE_URL: 'postgres://inlay:secret@postgres/inlay',
  INLAY_WORKER_TOKEN: 'inlay_enrolment_secret',
};

interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  spec?: { replicas?: number; template?: { spec: PodSpec }; selector?: { matchLabels?: object } };
}
interface PodSpec {
  enableServiceLinks?: boolean;
  automountServiceAccountToken?: boolean;
  securityContext?: object;
  containers: {
    image: string;
    args?: string[];
    env?: { name: string; value: string }[];
    envFrom?: { configMapRef: { name: string } }[];
    securityContext?: object;
    resources?: { requests?: object };
    readinessProbe?: object;
  }[];
}

function objectsIn(path: string): KubernetesObject[] {
  return parseAllDocuments(read(path)).map((document) => {
    expect(document.errors, path).toEqual([]);
    return document.toJS();
  });
}

/** Each value of an object with its path. */
function leavesOf(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [`${path}=${String(value)}`];
  return Object.entries(value).flatMap(([key, each]) => leavesOf(each, `${path}/${key}`));
}

describe.each(['single', 'replicas', 'workers'])('The Kubernetes overlay %s', (overlay) => {
  const rendered = objectsIn(`kubernetes/rendered-${overlay}.yaml`);
  // They listen nowhere.
  const areWorkers = overlay === 'workers';
  const pods = rendered.flatMap((object) =>
    object.spec?.template ? [{ object, pod: object.spec.template.spec }] : [],
  );

  it('has only fields that Kubernetes knows, with values that it accepts', async () => {
    const directory = mkdtempSync(join(folder, '.types-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const lines = rendered.map(({ apiVersion, kind, ...rest }, index) => {
      const type = `import('kubernetes-models/${apiVersion}').I${kind}`;
      return `export const object${index}: ${type} = ${JSON.stringify({ apiVersion, kind, ...rest })};`;
    });
    const file = join(directory, 'objects.ts');
    writeFileSync(file, lines.join('\n'));
    const compiler = join(folder, '../node_modules/.bin/tsc');
    const options = ['--strict', '--noEmit', '--skipLibCheck', '--types', '', '--module', 'nodenext', '--ignoreConfig'];
    await promisify(execFile)(compiler, [...options, file]).catch(({ stdout }) => expect(stdout).toBe(''));
    for (const { apiVersion, kind, ...rest } of rendered) {
      const models = await import(/* @vite-ignore */ `kubernetes-models/${apiVersion}`);
      expect(() => new models[kind](rest).validate(), kind).not.toThrow();
    }
  });

  it('is rendered from the files of its folder', () => {
    const sources = [...(areWorkers ? [] : ['base']), overlay].flatMap((name) =>
      (parse(read(`kubernetes/${name}/kustomization.yaml`)).resources as string[])
        .filter((resource) => resource.endsWith('.yaml'))
        .flatMap((resource) => objectsIn(`kubernetes/${name}/${resource}`)),
    );
    const nameOf = ({ kind, metadata }: KubernetesObject) => `${kind} ${metadata.name}`;
    const withoutMaps = rendered.filter(({ kind }) => kind !== 'ConfigMap');
    expect(withoutMaps.map(nameOf).toSorted()).toEqual(sources.map(nameOf).toSorted());
    for (const source of sources) {
      const leaves = new Set(leavesOf(rendered.find((object) => nameOf(object) === nameOf(source))));
      // Kustomize appends a hash to the name of the generated ConfigMap, and sets the image.
      const missing = leavesOf(source).filter((leaf) => !leaves.has(leaf) && !/configMapRef|\/image=/.test(leaf));
      expect(missing, nameOf(source)).toEqual([]);
    }
  });

  it('runs every pod restricted, with requests and probes, and without service links', () => {
    for (const { object, pod } of pods) {
      const what = `${object.kind} ${object.metadata.name}`;
      expect(pod, what).toMatchObject({
        enableServiceLinks: false,
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      });
      for (const container of pod.containers) {
        expect(container, what).toMatchObject({
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
          resources: { requests: { cpu: expect.anything(), memory: expect.anything() } },
          ...(!areWorkers && { readinessProbe: expect.anything() }),
        });
      }
    }
    const others = ['NetworkPolicy', areWorkers ? 'HorizontalPodAutoscaler' : 'Ingress'];
    expect(rendered.map(({ kind }) => kind)).toEqual(expect.arrayContaining(others));
    if (overlay === 'replicas') expect(rendered.map(({ kind }) => kind)).toContain('PodDisruptionBudget');
  });

  it('gives Inlay only settings that it knows', () => {
    let checked = 0;
    for (const { pod } of pods) {
      for (const { image, args, env = [], envFrom = [] } of pod.containers) {
        if (!image.startsWith('inlay:')) continue;
        const maps = envFrom.map(({ configMapRef }) =>
          rendered.find(({ metadata }) => metadata.name === configMapRef.name),
        );
        const own = Object.fromEntries(env.map(({ name, value }) => [name, value]));
        const environment = Object.assign({}, ...maps.map((map) => map?.data), own);
        const [command = 'start'] = args ?? [];
        expectToConfigure(environment, command === 'start' ? 'service' : (command as 'platform' | 'worker'));
        checked += 1;
      }
    }
    expect(checked).toBe(overlay === 'replicas' ? 2 : 1);
  });
});

describe('compose.yaml', () => {
  const compose = parse(read('compose.yaml'), { merge: true });

  it('fits the schema of the Compose specification', () => {
    const { $schema, ...schema } = JSON.parse(read('../node_modules/dclint/schemas/compose.schema.json'));
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
    expect(validate(compose), JSON.stringify(validate.errors)).toBe(true);
  });

  it('gives Inlay only settings and secrets that exist', () => {
    const services = Object.entries(compose.services as Record<string, ComposeService>);
    const ours = services.filter(([, { image }]) => image.includes('INLAY_IMAGE'));
    expect(ours.map(([name]) => name)).toEqual(['inlay', 'replica', 'platform']);
    for (const [name, { environment, secrets }] of ours) {
      const settled = Object.entries(environment).map(([variable, value]) => [
        variable,
        value.replace(/\$\{\w+:-(.*)\}/, '$1'),
      ]);
      expectToConfigure(Object.fromEntries(settled), name === 'platform' ? 'platform' : 'service');
      const files = Object.values(environment).filter((value) => value.startsWith(secretFolder));
      expect(files.map((file) => file.slice(secretFolder.length)).toSorted(), name).toEqual(secrets.toSorted());
      for (const secret of secrets) expect(compose.secrets).toHaveProperty(secret);
    }
  });
});

interface ComposeService {
  image: string;
  environment: Record<string, string>;
  secrets: string[];
}

describe.each([
  ['inlay.service', 'service', {}],
  ['inlay-worker.service', 'worker', { INLAY_WORKER_URL: 'https://inlay.example.com' }],
] as const)('systemd/%s', (name, runs, settings) => {
  it('passes systemd-analyze', async () => {
    const program = await findSystemProgram('systemd-analyze', 'systemd');
    const directory = mkdtempSync(join(tmpdir(), 'inlay-unit-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const unit = join(directory, name);
    writeFileSync(unit, read(`systemd/${name}`));
    const verify = () => promisify(execFile)(program, ['verify', '--man=no', '--recursive-errors=no', unit]);
    expect((await verify()).stderr).toBe('');
    writeFileSync(unit, read(`systemd/${name}`).replace('ProtectHome', 'ProtectHouse'));
    await expect(verify()).rejects.toThrow('ProtectHouse');
  });

  it('gives Inlay only settings that it knows', () => {
    const lines = [...read(`systemd/${name}`).matchAll(/^Environment=(\w+)=(.*)$/gm)];
    const own = lines.map(([, name, value]) => [name, value] as const).filter(([name]) => name !== 'NODE_ENV');
    expect(own.length).toBeGreaterThan(1);
    expectToConfigure({ ...(Object.fromEntries(own) as Record<string, string>), ...settings }, runs);
  });
});

it('Every file names the image of this version', () => {
  const { version } = JSON.parse(read('../server/package.json'));
  const named = {
    Containerfile: /^ARG INLAY_VERSION=(.*)$/m,
    'compose.yaml': /image: \$\{INLAY_IMAGE:-inlay:(.*)\}$/m,
    'kubernetes/single/kustomization.yaml': /newTag: (.*)$/m,
    'kubernetes/replicas/kustomization.yaml': /newTag: (.*)$/m,
    'kubernetes/workers/kustomization.yaml': /newTag: (.*)$/m,
    'kubernetes/rendered-single.yaml': /image: inlay:(.*)$/m,
    'kubernetes/rendered-replicas.yaml': /image: inlay:(.*)$/m,
    'kubernetes/rendered-workers.yaml': /image: inlay:(.*)$/m,
  };
  for (const [file, pattern] of Object.entries(named)) expect(pattern.exec(read(file))?.[1], file).toBe(version);
});

/** The parser imports JSON in a way that only bundlers understand. */
async function loadWorkflowParser(): Promise<typeof import('@actions/workflow-parser')> {
  const stdin = { contents: "export * from '@actions/workflow-parser'", resolveDir: folder };
  const { outputFiles } = await build({ stdin, bundle: true, format: 'esm', platform: 'browser', write: false });
  const code = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64');
  return await import(/* @vite-ignore */ `data:text/javascript;base64,${code}`);
}

it('Every workflow fits the schema of GitHub Actions', async () => {
  const { NoOperationTraceWriter, parseWorkflow } = await loadWorkflowParser();
  const faultsOf = (name: string, content: string) =>
    parseWorkflow({ name, content }, new NoOperationTraceWriter())
      .context.errors.getErrors()
      .map(({ message }) => message);
  for (const name of readdirSync(join(folder, '../.github/workflows'))) {
    const content = read(`../.github/workflows/${name}`);
    expect(faultsOf(name, content), name).toEqual([]);
    expect(faultsOf(name, content.replace('runs-on:', 'run-on:')), name).not.toEqual([]);
  }
});
