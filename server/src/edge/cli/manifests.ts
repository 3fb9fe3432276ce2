/** The commands about declarative manifests: adding one or many to an organization, and seeing what of them can run. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isObject } from '@inlay/contract/catalog/connector-configuration';
import { registerManifest } from '@inlay/platform/definitions/registered-definitions';
import type { OpenPlatform } from '@inlay/platform/open-platform';
import {
  describePlace,
  type ManifestDescription,
  openManifestReader,
  type Place,
  refusalOf,
  UnreadableManifest,
} from '../../catalog/definitions/manifest-reader.ts';
import { addDescribedDefinition, listOwnDefinitions } from '../../catalog/definitions/own-definitions.ts';
import { byCommandLine } from '../../kernel/cause.ts';
import { AppError, OperatorError } from '../../kernel/errors.ts';
import { systemRuntime } from '../../kernel/runtime.ts';
import { nobody } from '../../kernel/template-ref.ts';
import { createJournal } from '../../log/events/journal.ts';
import { tellOfConnectors, withPlatform } from './connectors.ts';
import { CommandError, exitWith, usageError } from './exit-codes.ts';
import { type Inlay, withInlay } from './inlay.ts';
import { openOwnSealer, withStore } from './opened-store.ts';
import { type Cell, colored, cut, plain, print, roomFor, showProgress, table, widthOf } from './output.ts';

const maxBytes = 4 * 1024 ** 2;
const maxRegistryBytes = 60_000_000;
const timeoutMs = 30_000;

export interface ManifestOptions {
  manifest: string;
  isSource: boolean;
  command: string[];
  image?: string;
  name?: string;
  icon?: string;
  components?: string;
  organization?: string;
}

export async function addManifest(options: ManifestOptions): Promise<void> {
  if (!options.isSource) throw usageError('Manifests can only be added as sources. Pass --source.');
  if (options.command.length > 0 || options.image !== undefined) {
    throw usageError('Pass only one of --manifest, --image and a command.');
  }
  const text = await readText(options.manifest, maxBytes);
  if (options.components !== undefined) return await addCodedManifest(text, options, options.components);
  await withInlay(
    options,
    async (inlay) => {
      const description = await describe(text);
      const added = await addDescribed(inlay, { text, description }, options);
      print(`Added ${plain(added.name)} (${added.id}), ready to use.`);
      tellWhatIsMissing(description);
    },
    withStore,
  );
}

/** Code runs with the rights of the service, so it is for all organizations of this machine, like a program. */
async function addCodedManifest(text: string, { name, icon }: ManifestOptions, components: string): Promise<void> {
  const componentsFile = resolve(components);
  if (!existsSync(componentsFile)) throw new OperatorError(`File not found: ${components}`);
  const description = await describe(text, componentsFile);
  const refusal = refusalOf(description);
  if (refusal !== undefined) throw new OperatorError(refusal);
  if (name === undefined) throw usageError('Pass a name with --name.');
  const add = async (platform: OpenPlatform) => {
    const made = await registerManifest(platform.definitions, { name, icon, description, componentsFile });
    await tellOfConnectors(platform);
    print(`Added ${name} (${made.definitionId}) with code from ${componentsFile}, ready to use.`);
    tellWhatIsMissing(description);
  };
  await withPlatform(add, { creates: true });
}

async function addDescribed(
  { ask }: Inlay,
  { text: manifest, description }: { text: string; description: ManifestDescription },
  { name, icon }: { name?: string; icon?: string },
): Promise<{ id: string; name: string }> {
  const given = { ...(name !== undefined && { name }), ...(icon !== undefined && { icon }) };
  const body = { manifest, ...given };
  try {
    const { id, definition } = await ask(
      'POST /integrations/definitions/sources',
      { body },
      async ({ store, organizationId }) => {
        const ctx = {
          ...{ store, runtime: systemRuntime, sealer: await openOwnSealer(store) },
          journal: createJournal({ runtime: systemRuntime, cause: byCommandLine }),
        };
        const maker = { organizationId, maker: nobody };
        const { definition } = await addDescribedDefinition(ctx, maker, description, given);
        return { id: definition.id, definition };
      },
    );
    return { id, name: definition.name };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid_request') throw error;
    const { faults } = (error as AppError<'invalid_request'>).facts;
    throw new OperatorError(faults.map(({ msg }) => msg).join('\n'), { cause: error });
  }
}

async function describe(text: string, componentsFile?: string): Promise<ManifestDescription> {
  const reader = openManifestReader(componentsFile);
  try {
    return await describeBy(reader, text);
  } finally {
    reader.close();
  }
}

type Reader = ReturnType<typeof openManifestReader>;

async function describeBy(reader: Reader, text: string): Promise<ManifestDescription> {
  try {
    return await reader.describe(text);
  } catch (error) {
    if (error instanceof UnreadableManifest) throw new OperatorError(error.message, { cause: error });
    throw error;
  }
}

function tellWhatIsMissing(description: ManifestDescription): void {
  const leftOut = description.streams.filter(({ errors }) => errors.length > 0);
  if (leftOut.length > 0) {
    print('', `Unsupported streams, which are skipped: ${plain(leftOut.map(({ name }) => name).join(', '))}`);
    printPlaces(leftOut.flatMap(({ errors }) => errors));
  }
  tellWarnings(description);
}

function tellWarnings({ warnings }: ManifestDescription): void {
  if (warnings.length === 0) return;
  print('', 'Ignored:');
  printPlaces(warnings);
}

function printPlaces(places: readonly Place[]): void {
  const lines = new Set(places.map((place) => plain(describePlace(place))));
  for (const line of lines) print(...wrapped(line));
}

/** As wide as the terminal. What belongs together is indented. */
function wrapped(text: string): string[] {
  const room = Math.max(40, Math.min(roomFor(), 1_000)) - 4;
  const lines: string[] = [];
  let rest = text;
  while (rest.length > room) {
    const space = rest.lastIndexOf(' ', room);
    const end = space > 0 ? space : room;
    lines.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return [...lines, rest].map((line, index) => `${index === 0 ? '  ' : '    '}${line}`);
}

export interface CheckOptions {
  components?: string;
}

export async function checkManifests(path: string, { components }: CheckOptions): Promise<void> {
  const componentsFile = components === undefined ? undefined : resolve(components);
  if (!existsSync(path)) throw new OperatorError(`No such file or folder: ${path}`);
  if (statSync(path).isDirectory()) return await checkFolder(path, componentsFile);
  const description = await describe(await readText(path, maxBytes), componentsFile);
  table(
    [{ title: 'STREAM', isCut: true }, 'RUNS', { title: 'USES', isCut: true }],
    description.streams.map(({ name, isDynamic, uses, errors }): Cell[] => [
      isDynamic ? `${name || 'dynamic'} (dynamic)` : name,
      errors.length === 0 ? { text: 'yes', color: 'green' } : { text: 'no', color: 'red' },
      uses.filter((one) => one !== 'DeclarativeStream').join(', '),
    ]),
  );
  const missing = missingIn(description);
  if (missing.length > 0) {
    print('', 'Unsupported:');
    for (const line of missing) print(...wrapped(plain(line)));
  }
  tellWarnings(description);
  print('', verdictOn(description));
  if (refusalOf(description) !== undefined) exitWith('findings');
}

/** What keeps streams from running, each with its stream and its path. */
function missingIn({ errors, streams }: ManifestDescription): string[] {
  const ofStreams = streams.flatMap(({ name, errors }) => errors.map((place) => `${name}: ${describePlace(place)}`));
  return [...new Set([...errors.map(describePlace), ...ofStreams])];
}

function runningStreams({ streams, errors }: ManifestDescription): number {
  return errors.length > 0 ? 0 : streams.filter((stream) => stream.errors.length === 0).length;
}

function verdictOn(description: ManifestDescription): string {
  const count = runningStreams(description);
  const all = description.streams.length;
  if (count === all) return all === 1 ? 'The stream is supported.' : `All ${all} streams are supported.`;
  return count === 0
    ? 'No streams are supported.'
    : `${count} of ${all} streams are supported; the others are skipped.`;
}

/** A line for each file as soon as it is read: a folder may hold hundreds. */
async function checkFolder(folder: string, componentsFile: string | undefined): Promise<void> {
  const files = manifestsIn(folder);
  if (files.length === 0) throw new OperatorError(`No manifests in ${folder}.`);
  const sum = { complete: 0, partly: 0, not: 0, running: 0, streams: 0 };
  const reader = openManifestReader(componentsFile);
  const width = Math.max(...files.map(({ name }) => widthOf(plain(name))));
  try {
    for (const [index, { name, file }] of files.entries()) {
      const shown = plain(name);
      showProgress(`[${index + 1}/${files.length}] ${shown}`);
      const { running, streams, missing } = await checkOne(reader, file);
      sum.running += running;
      sum.streams += streams;
      const isComplete = streams > 0 && running === streams;
      if (isComplete) sum.complete++;
      else if (running > 0) sum.partly++;
      else sum.not++;
      const color = isComplete ? 'green' : running > 0 ? 'yellow' : 'red';
      const count = `${running}/${streams}`;
      const start = `${shown}${' '.repeat(width - widthOf(shown))}  `;
      const rest = plain(missing.join('; '));
      showProgress('');
      print(
        `${start}${colored(count, color)}${rest === '' ? '' : `  ${cut(rest, roomFor() - width - count.length - 4)}`}`,
      );
    }
  } finally {
    reader.close();
  }
  print(
    '',
    `${files.length} ${files.length === 1 ? 'manifest' : 'manifests'}: ${sum.complete} fully supported, ${sum.partly} partially, ${sum.not} not supported.`,
    `${sum.running} of ${sum.streams} streams are supported.`,
  );
}

/** A file that cannot be read does not keep the others from being checked. */
async function checkOne(
  reader: Reader,
  file: string,
): Promise<{ running: number; streams: number; missing: string[] }> {
  try {
    const description = await reader.describe(await readText(file, maxBytes));
    const missing = missingIn(description);
    return { running: runningStreams(description), streams: description.streams.length, missing };
  } catch (error) {
    return { running: 0, streams: 0, missing: [(error as Error).message] };
  }
}

/** Files of a folder, or files called manifest.yaml in its folders. */
function manifestsIn(folder: string): { name: string; file: string }[] {
  const found: { name: string; file: string }[] = [];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const inside = join(path, 'manifest.yaml');
    if (entry.isDirectory() && existsSync(inside)) found.push({ name: entry.name, file: inside });
    else if (entry.isFile() && /\.ya?ml$/.test(entry.name) && entry.name !== 'metadata.yaml') {
      found.push({ name: entry.name, file: path });
    }
  }
  return found.toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
}

export interface ImportOptions {
  only?: string;
  acceptLicense?: true;
  acceptLicence?: true;
  organization?: string;
}

interface Entry {
  /** As it is called by `--only`, such as `stripe`. */
  slug: string;
  name: string;
  icon?: string;
  license: string;
  readText(): Promise<string>;
}

export async function importManifests(location: string, options: ImportOptions): Promise<void> {
  const entries = chosen(await readEntries(location), options.only);
  table(
    ['CONNECTOR', { title: 'NAME', isCut: true }, 'LICENCE'],
    entries.map(({ slug, name, license }) => [slug, name, license]),
  );
  if (!options.acceptLicense && !options.acceptLicence) {
    throw new OperatorError(
      '\nNothing was added. You are responsible for complying with the licenses listed above.\nTo accept them, run the command again with --accept-license.',
    );
  }
  print('');
  const count = { added: 0, there: 0, refused: 0 };
  const reader = openManifestReader();
  const addAll = async (inlay: Inlay) => {
    const { data: present } = await inlay.ask(
      'GET /integrations/definitions/sources',
      {},
      async ({ store, organizationId }) => ({
        data: (await listOwnDefinitions({ store }, organizationId)).map(({ name }) => ({ name, custom: true })),
      }),
    );
    const names = new Set(present.filter(({ custom }) => custom).map(({ name }) => name));
    for (const entry of entries) {
      const { name, icon } = entry;
      if (names.has(name)) {
        count.there++;
        print(`${colored('-', 'grey')} ${plain(name)} already exists`);
        continue;
      }
      try {
        const given = { name, ...(icon !== undefined && { icon }) };
        const text = await entry.readText();
        const description = await describeBy(reader, text);
        const { id } = await addDescribed(inlay, { text, description }, given);
        count.added++;
        const running = runningStreams(description);
        print(`${colored('+', 'green')} ${plain(name)} (${id}), ${running} of ${description.streams.length} streams`);
      } catch (error) {
        if (!(error instanceof OperatorError) || error instanceof CommandError) throw error;
        count.refused++;
        const [first = '', ...rest] = wrapped(`${plain(name)}: ${plain(error.message)}`);
        print(`${colored('!', 'red')} ${first.trimStart()}`, ...rest);
      }
    }
  };
  await withInlay(options, addAll, withStore).finally(() => reader.close());
  print('', `${count.added} added, ${count.there} already existed, ${count.refused} not supported.`);
}

function chosen(entries: Entry[], only: string | undefined): Entry[] {
  if (only === undefined) return entries;
  const wanted = only.split(',').map((one) => one.trim().toLowerCase());
  const found = entries.filter(({ slug, name }) => wanted.includes(slug) || wanted.includes(name.toLowerCase()));
  const missing = wanted.filter((one) => !found.some(({ slug, name }) => slug === one || name.toLowerCase() === one));
  if (missing.length > 0) throw new OperatorError(`Not found: ${missing.join(', ')}.`);
  return found;
}

async function readEntries(location: string): Promise<Entry[]> {
  if (!isAddress(location)) {
    if (!existsSync(location)) throw new OperatorError(`No such file or folder: ${location}`);
    if (statSync(location).isDirectory()) {
      const registry = ['registry.json', 'oss_registry.json', 'cloud_registry.json']
        .map((name) => join(location, name))
        .find((file) => existsSync(file));
      return registry === undefined ? entriesOfFolder(location) : await entriesOfRegistry(registry);
    }
  }
  return await entriesOfRegistry(location);
}

/** A folder without a registry: metadata next to each manifest has its name and license. */
function entriesOfFolder(folder: string): Entry[] {
  return manifestsIn(folder).map(({ name: fileName, file }) => {
    const metadata = join(dirname(file), 'metadata.yaml');
    const about = basename(file) === 'manifest.yaml' && existsSync(metadata) ? readFileSync(metadata, 'utf8') : '';
    const textAt = (key: string) =>
      new RegExp(`^ {2}${key}: *["']?([^"'\\n]+?)["']? *$`, 'm').exec(about)?.[1] ?? undefined;
    const slug = slugOf(fileName.replace(/\.ya?ml$/, ''));
    return {
      slug,
      name: textAt('name') ?? slug,
      license: textAt('license') ?? 'unknown',
      readText: () => readText(file, maxBytes),
    };
  });
}

const slugOf = (name: string) => name.toLowerCase().replace(/^source-/, '');

async function entriesOfRegistry(location: string): Promise<Entry[]> {
  let document: unknown;
  try {
    document = JSON.parse(await readText(location, maxRegistryBytes));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new OperatorError(`${location} is not a connector registry: it is not valid JSON.`, { cause: error });
  }
  if (!isObject(document) || !Array.isArray(document.sources)) {
    throw new OperatorError(`${location} is not a connector registry: it has no list of sources.`);
  }
  return document.sources.filter(isObject).flatMap((source): Entry[] => {
    const {
      name,
      dockerRepository: repository,
      dockerImageTag: version,
      license,
      iconUrl,
      language,
      tombstone,
    } = source;
    if (typeof repository !== 'string' || typeof version !== 'string' || tombstone === true) return [];
    if (typeof language === 'string' && language !== 'manifest-only') return [];
    const slug = slugOf(repository.slice(repository.lastIndexOf('/') + 1));
    return [
      {
        slug,
        name: typeof name === 'string' ? name : slug,
        license: typeof license === 'string' ? license : 'unknown',
        ...(typeof iconUrl === 'string' && /^https:\/\//.test(iconUrl) && { icon: iconUrl }),
        readText: () => readBeside(location, repository, version),
      },
    ];
  });
}

/** Where registries keep manifests: below `metadata`, beside the document or some folders above it. */
async function readBeside(registry: string, repository: string, version: string): Promise<string> {
  const inMetadata = `metadata/${repository}/${version}/manifest.yaml`;
  const connector = repository.slice(repository.lastIndexOf('/') + 1);
  const places = [inMetadata, `../../${inMetadata}`, `${connector}/manifest.yaml`, `${connector}.yaml`];
  for (const place of places) {
    const at = isAddress(registry) ? new URL(place, registry).href : join(dirname(registry), place);
    const text = await findText(at, maxBytes);
    if (text !== undefined) return text;
  }
  throw new OperatorError('The registry has no manifest for this connector.');
}

const isAddress = (location: string) => /^https?:\/\//.test(location);

async function readText(location: string, limit: number): Promise<string> {
  const text = await findText(location, limit);
  if (text === undefined) throw new OperatorError(`Not found: ${location}`);
  return text;
}

/** Undefined if there is nothing. */
async function findText(location: string, limit: number): Promise<string | undefined> {
  if (!isAddress(location)) {
    if (!existsSync(location)) return undefined;
    if (statSync(location).size > limit) throw tooLarge(location, limit);
    return readFileSync(location, 'utf8');
  }
  let response: Response;
  try {
    response = await fetch(location, { signal: AbortSignal.timeout(timeoutMs) });
  } catch (error) {
    throw new OperatorError(`Cannot read ${location}: ${(error as Error).message}`, { cause: error });
  }
  if (response.status === 404 || response.status === 403) {
    await response.body?.cancel();
    return undefined;
  }
  if (!response.ok) throw new OperatorError(`${location} returned ${response.status}.`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > limit) throw tooLarge(location, limit);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function tooLarge(location: string, limit: number): OperatorError {
  return new OperatorError(`${location} is larger than ${Math.floor(limit / 1024 ** 2)} MiB.`);
}
