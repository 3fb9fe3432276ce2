// Checks the directions of imports between our source files (ARCHITECTURE.md). Reads the sources of every package. Test
// files are outside the layers, so only the rules about cycles and names apply to them.
//
//   node scripts/check-arrows.mjs [root]

import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, extname, join, posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { packages } from './build-inputs.mjs';
import { isMain } from './is-main.mjs';

/**
 * One import. `to` is a file of ours relative to the root, `package` the name of anything else.
 * @typedef {{ from: string, specifier: string, to?: string, package?: string }} Arrow
 * @typedef {{ rule: string, file: string, import?: string }} Finding
 */

const sourceFolders = packages.map((name) => `${name}/src`);
/** Programs for people who work on Inlay. They may import what they like; the packages may not import them. */
const toolFolders = ['bench', 'scripts'];
const sourceExtensions = ['.ts', '.tsx', '.mts', '.js', '.mjs', '.jsx'];

/** @param {string} file */
const packageOf = (file) => file.slice(0, file.indexOf('/'));
/** @param {string} file */
const isTest = (file) => /\.test\.[a-z]+$/.test(file);
/** Types of a program in JavaScript. @param {string} file */
const isDeclaration = (file) => /\.d\.m?ts$/.test(file);
/** @param {string | undefined} file */
const isStore = (file) => file?.endsWith('.store.ts') ?? false;
/** @param {string | undefined} file */
const isRoutes = (file) => file?.endsWith('.routes.ts') ?? false;
/** Hooks of the HTTP server that belong to a domain folder. @param {string | undefined} file */
const isHooks = (file) => file?.endsWith('.hooks.ts') ?? false;
/** Work in the background for all tenants. @param {string | undefined} file */
const isWorker = (file) => file?.endsWith('.worker.ts') ?? false;
/** @param {string | undefined} file */
const isWorkerStore = (file) => file?.endsWith('.worker.store.ts') ?? false;
/** @param {string | undefined} file @param {string} folder */
const isIn = (file, folder) => file?.startsWith(`${folder}/`) ?? false;
/** @param {string} file */
const isBackup = (file) => file === 'server/src/edge/deployment/backup-places.ts';
/** @param {string | undefined} file */
const isTool = (file) => toolFolders.some((folder) => isIn(file, folder));
/**
 * Which of our packages each package may import: only packages below it in this table.
 * @type {Record<string, string[]>}
 */
const packagesBelow = {
  contract: [],
  schedule: [],
  database: [],
  webhooks: [],
  protocol: ['contract'],
  guard: ['protocol'],
  manifests: ['contract', 'protocol', 'guard'],
  connectors: ['contract', 'protocol', 'guard', 'manifests'],
  platform: ['contract', 'schedule', 'database', 'protocol', 'connectors'],
  server: ['contract', 'schedule', 'database', 'webhooks', 'protocol', 'guard', 'connectors', 'platform'],
  ui: ['contract'],
  widget: ['contract', 'ui'],
  console: ['contract', 'ui'],
  embed: ['contract'],
};
/**
 * Packages that browsers load, or that others install, import only these packages of others.
 * @type {Record<string, string[]>}
 */
const packagesOfOthers = {
  contract: ['typebox', 're2js'],
  ui: ['preact', '@cfworker/json-schema'],
  embed: ['react'],
  webhooks: ['node:crypto'],
};

/** The layers of the service from the top down. Each imports only itself and layers below it. */
const layers = ['edge', 'changes', 'operating', 'pipelines', 'credentials', 'catalog', 'tenancy', 'log', 'kernel'];
/** Layers that are one domain. In the others, each folder is a domain of its own. */
const layersOfOneDomain = ['changes', 'operating', 'pipelines', 'credentials'];

/**
 * The two halves of the service have the same kinds of folders and the same rules. `plugsIn` are the files that put the
 * routes of a half into an app; `edge` are the files that know HTTP without being a route.
 */
const halves = [
  {
    root: 'server/src',
    http: 'server/src/kernel/http',
    db: 'server/src/kernel/db',
    plugsIn: ['server/src/edge/app.ts', 'server/src/edge/routes.ts'],
    edge: ['app', 'bundled-platform', 'main', 'routes'].map((name) => `server/src/edge/${name}.ts`),
  },
  {
    root: 'platform/src',
    http: 'platform/src/http',
    db: 'platform/src/db',
    plugsIn: ['platform/src/api.ts', 'platform/src/platform-app.ts'],
    edge: ['platform/src/api.ts', 'platform/src/platform-app.ts'],
  },
];
/** @param {string | undefined} file */
const halfOf = (file) => halves.find(({ root }) => isIn(file, root));
/** @param {string | undefined} file */
const isDb = (file) => isIn(file, halfOf(file)?.db ?? '/');
/** Whether both are in the same half. @param {Arrow} arrow */
const staysInHalf = ({ from, to }) => halfOf(from) !== undefined && halfOf(from) === halfOf(to);
/** @param {string | undefined} file @returns {number} the place from the top; -1 for a file that is in no layer */
const layerOf = (file) => (isIn(file, 'server/src') ? layers.indexOf(file?.split('/')[2] ?? '') : -1);
/** Files at the top of a half or of a layer, which every folder beside them may import. @param {string | undefined} file */
const isLoose = (file) => {
  const folder = dirname(file ?? '');
  return (
    folder === halfOf(file)?.root || (isIn(file, 'server/src') && layers.includes(folder.slice('server/src/'.length)))
  );
};
/** The folder of a half that a file is in; undefined for a loose file. @param {string | undefined} file */
const folderOf = (file) => (halfOf(file) && !isLoose(file) ? dirname(file ?? '') : undefined);
/** The domain whose tables a store belongs to. @param {string | undefined} file */
const domainOf = (file) => {
  const layer = layers[layerOf(file)];
  return layer && layersOfOneDomain.includes(layer) ? `server/src/${layer}` : dirname(file ?? '');
};

/**
 * The rules about a single import, in words and in code. `isPure`: the file imports nothing of its half.
 * @type {{ words: string, isBroken: (arrow: Arrow, isPure: (file: string) => boolean) => boolean }[]}
 */
const importRules = [
  {
    words: 'a package imports only packages of ours that are below it',
    isBroken: ({ from, to }) =>
      to !== undefined &&
      !isTool(from) &&
      !isTool(to) &&
      packageOf(from) !== packageOf(to) &&
      !packagesBelow[packageOf(from)]?.includes(packageOf(to)),
  },
  {
    words: 'no relative import leaves a package',
    isBroken: ({ from, to, specifier }) =>
      specifier.startsWith('.') && to !== undefined && !isTool(from) && packageOf(from) !== packageOf(to),
  },
  {
    words: 'contract, ui, embed and webhooks import few packages of others',
    isBroken: ({ from, package: name }) => {
      const allowed = packagesOfOthers[packageOf(from)];
      if (name === undefined || allowed === undefined || isTool(from)) return false;
      return !allowed.includes(name) || (name === 'react' && from !== 'embed/src/react.ts');
    },
  },
  {
    words: 'in server, a layer imports only layers below it',
    isBroken: ({ from, to }) => layerOf(to) !== -1 && layerOf(to) < layerOf(from),
  },
  {
    words: 'the platform imports of a connector only its specification',
    isBroken: ({ from, to }) => isIn(from, 'platform') && isIn(to, 'connectors') && !to?.endsWith('/specification.ts'),
  },
  {
    words: 'the service imports of connectors only the S3 client, for backups',
    isBroken: ({ from, to }) =>
      isIn(from, 'server') && isIn(to, 'connectors') && !(isIn(to, 'connectors/src/s3') && isBackup(from)),
  },
  {
    words: 'only database/src/connection.ts imports the SQLite driver',
    isBroken: ({ from, package: name }) =>
      (name === '@photostructure/sqlite' || name === 'node:sqlite') && from !== 'database/src/connection.ts',
  },
  {
    words: 'in server, only edge/ and the reader of manifests import the bundled platform',
    isBroken: ({ from, to }) =>
      isIn(from, 'server') &&
      isIn(to, 'platform') &&
      !isIn(from, 'server/src/edge') &&
      from !== 'server/src/catalog/definitions/manifest-reader.ts',
  },
  {
    words: 'a store is imported only by files of its own domain',
    isBroken: ({ from, to }) =>
      halfOf(from) !== undefined && to !== undefined && isStore(to) && domainOf(from) !== domainOf(to),
  },
  {
    words:
      'a store imports of its half only db/, stores of its own domain, ' +
      'and files of its own domain or kernel/ that import nothing of that half',
    isBroken: (arrow, isPure) => {
      const { from, to } = arrow;
      if (to === undefined || !isStore(from) || !staysInHalf(arrow) || isDb(to)) return false;
      if (isStore(to) || isRoutes(to)) return isRoutes(to) || domainOf(from) !== domainOf(to);
      return !(isPure(to) && (domainOf(to) === domainOf(from) || isIn(to, 'server/src/kernel') || isLoose(to)));
    },
  },
  {
    words: 'db/ imports of its half only loose files',
    isBroken: (arrow) => {
      const { from, to } = arrow;
      return staysInHalf(arrow) && isDb(from) && !isDb(to) && folderOf(to) !== undefined;
    },
  },
  {
    words: 'a store of workers, which serves all tenants, is imported only by workers',
    isBroken: ({ from, to }) => isIn(from, 'server/src') && isWorkerStore(to) && !isWorker(from),
  },
  {
    words: 'a worker is imported only by workers and edge/',
    isBroken: ({ from, to }) =>
      isIn(from, 'server/src') && isWorker(to) && !isWorker(from) && !isIn(from, 'server/src/edge'),
  },
  {
    words:
      'routes and hooks are imported only by app.ts and routes.ts, those of the platform by api.ts and platform-app.ts',
    isBroken: ({ from, to }) =>
      (isRoutes(to) || isHooks(to)) && halfOf(from) !== undefined && !(halfOf(to)?.plugsIn.includes(from) ?? true),
  },
  {
    words: 'only routes, hooks, http/ and the files that put an app together import http/ or fastify',
    isBroken: ({ from, to, package: name }) => {
      const half = halfOf(from);
      return (
        half !== undefined &&
        (isIn(to, half.http) || name === 'fastify') &&
        !isRoutes(from) &&
        !isHooks(from) &&
        !isIn(from, half.http) &&
        !half.edge.includes(from)
      );
    },
  },
  {
    words: 'the runner imports of the platform only its processes and the runtime',
    isBroken: ({ from, to }) => {
      const inside = ['platform/src/runner', 'platform/src/processes'];
      return (
        inside.some((folder) => isIn(from, folder)) &&
        isIn(to, 'platform/src') &&
        !inside.some((folder) => isIn(to, folder)) &&
        to !== 'platform/src/runtime.ts'
      );
    },
  },
  {
    words: 'http/ of the platform imports of it only db/ and loose files',
    isBroken: (arrow) => {
      const { from, to } = arrow;
      const http = 'platform/src/http';
      return staysInHalf(arrow) && isIn(from, http) && !isIn(to, http) && !isDb(to) && folderOf(to) !== undefined;
    },
  },
  {
    words: 'no package imports bench or scripts',
    isBroken: ({ from, to }) => !isTool(from) && isTool(to),
  },
];

const cycleRule = 'no import cycles, type-only imports included';
const folderRule = 'no cycles between the folders of a half';
const workerRule = 'no route reaches a worker store, which serves all tenants, not even through other files';

const vagueNames = ['utils', 'helpers', 'common', 'shared', 'manager', 'service', 'impl', 'types'];
const kebabCase = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*$/;

/** The path below the folder of sources or tools. @param {string} file */
const withoutFolder = (file) =>
  file.slice((toolFolders.find((folder) => isIn(file, folder)) ?? file.split('/', 2).join('/')).length + 1);

/**
 * The rules about a path below `src`, `bench` or `scripts`.
 * @type {{ words: string, isBroken: (parts: string[]) => boolean }[]}
 */
const nameRules = [
  {
    words: `no file or folder is named ${vagueNames.join(', ')}`,
    isBroken: (parts) => parts.some((part) => part.split('.').some((word) => vagueNames.includes(word))),
  },
  { words: 'names are kebab-case', isBroken: (parts) => !parts.every((part) => kebabCase.test(part)) },
  {
    words: 'no barrels: no file is named index',
    isBroken: (parts) => /^index\.[mc]?[jt]sx?$/.test(parts.at(-1) ?? ''),
  },
];

/** Every rule in words, so that a test can check that each one has a fixture. */
export const rules = [
  cycleRule,
  folderRule,
  workerRule,
  ...importRules.map(({ words }) => words),
  ...nameRules.map(({ words }) => words),
];

/** @param {string} directory the repository @returns {Promise<Finding[]>} */
export async function checkArrows(directory) {
  // esbuild names files by their real path.
  const root = realpathSync(directory);
  const files = [...sourceFolders, ...toolFolders]
    .flatMap((folder) => listFiles(root, folder))
    // Fixtures are wrong on purpose, and results are not sources.
    .filter((file) => !isIn(file, 'scripts/fixtures') && !isIn(file, 'bench/results'));
  const arrows = await readArrows(
    root,
    files.filter((file) => sourceExtensions.includes(extname(file)) && !isDeclaration(file)),
  );
  const impure = new Set(arrows.filter(staysInHalf).map(({ from }) => from));

  const imports = importRules.flatMap(({ words, isBroken }) =>
    arrows
      .filter((arrow) => !isTest(arrow.from) && isBroken(arrow, (file) => !impure.has(file)))
      .map(({ from, specifier }) => ({ rule: words, file: from, import: specifier })),
  );
  const names = nameRules.flatMap(({ words, isBroken }) =>
    files.filter((file) => isBroken(withoutFolder(file).split('/'))).map((file) => ({ rule: words, file })),
  );
  const graph = graphOf(arrows);
  return [
    ...findCycles(graph, cycleRule),
    ...findFolderCycles(arrows),
    ...findRoutesToWorkerStores(graph),
    ...imports,
    ...names,
  ];
}

/** @param {string} root @param {string} folder @returns {string[]} paths relative to the root, with slashes */
function listFiles(root, folder) {
  const path = join(root, folder);
  if (!existsSync(path)) return [];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((file) => !/(^|\/)(node_modules|dist)\//.test(file))
    .sort();
}

/**
 * esbuild only parses the files. It drops type-only imports, so the word `type` is removed before it sees them; in a
 * string or a comment that does no harm here. Imports inside a type, `import('./a.ts').A`, are found as text.
 * @param {string} root @param {string[]} files @returns {Promise<Arrow[]>}
 */
async function readArrows(root, files) {
  /** @type {Map<string, Arrow>} */
  const arrows = new Map();
  /** @param {string} importer @param {string} specifier */
  const add = (importer, specifier) => {
    const from = relative(root, importer).split(sep).join('/');
    arrows.set(`${from}\n${specifier}`, { from, specifier, ...resolve(root, from, specifier) });
  };
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: files,
    outdir: 'out',
    write: false,
    bundle: true,
    format: 'esm',
    logLevel: 'silent',
    jsx: 'preserve',
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
    plugins: [
      {
        name: 'read-arrows',
        setup(build) {
          build.onResolve({ filter: /.*/ }, ({ kind, path, importer }) => {
            if (kind === 'entry-point') return undefined;
            add(importer, path);
            return { path, external: true };
          });
          build.onLoad({ filter: /.*/ }, ({ path }) => {
            const source = readFileSync(path, 'utf8');
            for (const [, specifier] of source.matchAll(/\bimport\(\s*['"]([^'"]+)['"]\s*\)/g)) add(path, specifier);
            const contents = source
              .replace(/\bimport\s+type\s+(?!from\s*['"])/g, 'import ')
              .replace(/\bexport\s+type\s*(\{[^}]*\}|\*(?:\s+as\s+\w+)?)\s*from\b/g, 'export $1 from');
            const loader = path.endsWith('x') ? 'tsx' : 'ts';
            return { contents, loader };
          });
        },
      },
    ],
  });
  return [...arrows.values()].sort((a, b) => compare(a.from, b.from) || compare(a.specifier, b.specifier));
}

/** @param {string} a @param {string} b */
const compare = (a, b) => (a < b ? -1 : Number(a > b));

/** @param {string} root @param {string} from @param {string} specifier @returns {{ to?: string, package?: string }} */
function resolve(root, from, specifier) {
  if (specifier.startsWith('.')) return { to: findSource(root, posix.join(posix.dirname(from), specifier)) };
  const [scope = '', ...rest] = specifier.split('/');
  const [name, subpath] = scope.startsWith('@') ? [`${scope}/${rest[0]}`, rest.slice(1)] : [scope, rest];
  const ours = packages.find(
    (folder) => [`@inlay/${folder}`, `inlay-${folder}`].includes(name) || (folder === 'server' && name === 'inlay'),
  );
  if (ours) return { to: findSource(root, `${ours}/src/${subpath.join('/') || 'index'}`) };
  return { package: isBuiltin(specifier) ? specifier : name };
}

/** The file behind a path with or without its extension. @param {string} root @param {string} path */
function findSource(root, path) {
  const stem = sourceExtensions.includes(extname(path)) ? path.slice(0, -extname(path).length) : path;
  const found = [path, ...sourceExtensions.map((extension) => stem + extension)].find((candidate) =>
    statSync(join(root, candidate), { throwIfNoEntry: false })?.isFile(),
  );
  return found ?? path;
}

/** @typedef {Map<string, string[]>} Graph */

/** @param {{ from: string | undefined, to?: string | undefined }[]} arrows @returns {Graph} */
function graphOf(arrows) {
  /** @type {Graph} */
  const graph = new Map();
  for (const { from, to } of arrows) if (from && to) graph.set(from, [...(graph.get(from) ?? []), to]);
  return graph;
}

/**
 * The shortest cycle through each place. A search does not start from a place that was already reported in a cycle.
 * @param {Graph} graph @param {string} rule @returns {Finding[]}
 */
function findCycles(graph, rule) {
  /** @type {Set<string>} */
  const reported = new Set();
  const findings = [];
  for (const start of graph.keys()) {
    if (reported.has(start)) continue;
    const cycle = shortestWay(start, (place) => place === start, graph);
    if (!cycle) continue;
    for (const place of cycle) reported.add(place);
    findings.push({ rule, file: start, import: cycle.slice(1).join(' → ') });
  }
  return findings;
}

/** @param {Arrow[]} arrows */
function findFolderCycles(arrows) {
  const between = arrows
    .filter((arrow) => staysInHalf(arrow) && !isTest(arrow.from))
    .map(({ from, to }) => ({ from: folderOf(from), to: folderOf(to) }))
    .filter(({ from, to }) => from !== to);
  return findCycles(graphOf(between), folderRule);
}

/** @param {Graph} graph @returns {Finding[]} */
function findRoutesToWorkerStores(graph) {
  return [...graph.keys()].filter(isRoutes).flatMap((start) => {
    const way = shortestWay(start, isWorkerStore, graph);
    return way ? [{ rule: workerRule, file: start, import: way.slice(1).join(' → ') }] : [];
  });
}

/**
 * @param {string} start @param {(place: string) => boolean} isGoal @param {Graph} graph @returns {string[] | undefined}
 */
function shortestWay(start, isGoal, graph) {
  const ways = [[start]];
  const seen = new Set();
  for (const way of ways) {
    for (const next of graph.get(way.at(-1) ?? '') ?? []) {
      if (isGoal(next)) return [...way, next];
      if (seen.has(next)) continue;
      seen.add(next);
      ways.push([...way, next]);
    }
  }
  return undefined;
}

if (isMain(import.meta.url)) {
  const root = process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url));
  const findings = await checkArrows(root);
  for (const { rule, file, import: target } of findings) {
    console.error(`${file}${target ? ` → ${target}` : ''}\n    ${rule}`);
  }
  if (findings.length > 0) process.exitCode = 1;
}
