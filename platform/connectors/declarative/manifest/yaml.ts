/*
 * Reads the text of a manifest: YAML 1.1, the version whose `no` is false and whose `010` is 8, or JSON, which is a part
 * of YAML and quicker to read. Dates stay texts, because the language of manifests has none.
 */
import { parse, type ScalarTag, type Tags } from 'yaml';
import { isJsonObject } from '../../kit/json.ts';
import { ManifestError } from './problems.ts';

/** Throws a ManifestError. */
export function readManifestText(text: string): Record<string, unknown> {
  const manifest = text.trimStart().startsWith('{') ? (readJson(text) ?? readYaml(text)) : readYaml(text);
  if (!isJsonObject(manifest)) throw new ManifestError('A manifest is an object with `type: DeclarativeSource`.');
  return manifest;
}

/** A text that a template gave, read as YAML; the text itself if it is none. */
export function readScalar(text: string): unknown {
  try {
    return readYaml(text);
  } catch {
    return text;
  }
}

/**
 * One entry of the manifest alone, if the text shows where it begins and ends and it refers to nothing outside. A
 * manifest may have a megabyte, of which a specification is a few lines. Undefined: read it all.
 */
export function readEntryText(text: string, name: string): unknown {
  const start = new RegExp(`^${name}:[ \\t]*\\r?\\n`, 'm').exec(text);
  if (!start) return undefined;
  const begin = start.index + start[0].length;
  const rest = text.slice(begin);
  const end = /^[^\s#-]/m.exec(rest);
  const block = rest.slice(0, end?.index ?? rest.length);
  if (/[*&]\w|<<|\$ref|#\/|^---|^\.\.\./m.test(block)) return undefined;
  try {
    return readYaml(block);
  } catch {
    return undefined;
  }
}

/** A flow mapping of YAML begins like JSON and may not be JSON. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readYaml(text: string): unknown {
  try {
    return parse(text, {
      version: '1.1',
      merge: true,
      // Manifests repeat themselves by thousands of aliases. What they grow to is limited when references are resolved.
      maxAliasCount: -1,
      // Warnings are not wanted; with `silent`, errors would be passed over as well.
      logLevel: 'error',
      prettyErrors: false,
      // The last of two equal keys counts, as in the reference runtime. To look for them takes a quarter of the time.
      uniqueKeys: false,
      customTags: withPythonScalars,
    });
  } catch (error) {
    throw new ManifestError(`The manifest is not valid YAML: ${(error as Error).message}`);
  }
}

/** How the reference runtime reads plain scalars: PyYAML differs from YAML 1.1 in what counts as a boolean or a number. */
function withPythonScalars(tags: Tags): Tags {
  const replaced = ['null', 'bool', 'int', 'float', 'timestamp'].map((name) => `tag:yaml.org,2002:${name}`);
  return [...scalars, ...tags.filter((tag) => typeof tag === 'string' || !replaced.includes(tag.tag))];
}

function scalar(name: string, test: RegExp, resolve: (text: string) => unknown): ScalarTag {
  return { tag: `tag:yaml.org,2002:${name}`, default: true, test, resolve, identify: () => false };
}

const scalars: ScalarTag[] = [
  scalar('null', /^(?:~|null|Null|NULL|)$/, () => null),
  scalar('bool', /^(?:yes|Yes|YES|true|True|TRUE|on|On|ON)$/, () => true),
  scalar('bool', /^(?:no|No|NO|false|False|FALSE|off|Off|OFF)$/, () => false),
  scalar('int', /^[-+]?(?:0b[01_]+|0[0-7_]+|0x[0-9a-fA-F_]+|0|[1-9][0-9_]*)$/, readInteger),
  scalar('int', /^[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+$/, readSexagesimal),
  scalar(
    'float',
    /^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|[-+]?\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?)$/,
    (text) => Number(text.replaceAll('_', '')),
  ),
  scalar('float', /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*$/, readSexagesimal),
  scalar('float', /^[-+]?\.(?:inf|Inf|INF)$/, (text) =>
    text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY,
  ),
  scalar('float', /^\.(?:nan|NaN|NAN)$/, () => Number.NaN),
];

function readInteger(text: string): number {
  const digits = text.replaceAll('_', '').replace(/^[-+]/, '');
  const isOctal = /^0[0-7]+$/.test(digits);
  const value = Number(isOctal ? `0o${digits.slice(1)}` : digits);
  return text.startsWith('-') ? -value : value;
}

/** Parts of sixty, as in a time of the day. */
function readSexagesimal(text: string): number {
  const parts = text.replaceAll('_', '').replace(/^[-+]/, '').split(':');
  const value = parts.reduce((sum, part) => sum * 60 + Number(part), 0);
  return text.startsWith('-') ? -value : value;
}
