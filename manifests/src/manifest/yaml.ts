/*
 * Parses a manifest: YAML 1.1, in which `no` is false and `010` is 8, or JSON, which is a subset of YAML and faster to
 * read. Dates stay strings, because manifests have no dates.
 */

import { isJsonObject } from '@inlay/protocol/json';
import { defineScalarTag, loadAll, mapTag, mergeTag, NOT_RESOLVED, Schema, seqTag, strTag } from 'js-yaml';
import { ManifestError } from './problems.ts';

/** Throws a ManifestError. */
export function readManifestText(text: string): Record<string, unknown> {
  const manifest = text.trimStart().startsWith('{') ? (readJson(text) ?? readYaml(text)) : readYaml(text);
  if (!isJsonObject(manifest)) throw new ManifestError('A manifest must be an object with `type: DeclarativeSource`.');
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

/** Deeper than any manifest, and far from the end of the stack. */
const deepest = 1000;

function readYaml(text: string): unknown {
  try {
    // The last of two equal keys counts, as in the reference runtime. Manifests repeat themselves by thousands of aliases:
    // what they grow to is limited when references are resolved.
    const documents = loadAll(text, { schema, json: true, maxTotalMergeKeys: -1, maxDepth: deepest });
    if (documents.length > 1) throw new Error('The file contains more than one YAML document.');
    return documents[0] ?? null;
  } catch (error) {
    throw new ManifestError(`The manifest is not valid YAML: ${(error as Error).message}`);
  }
}

interface Rule {
  test: RegExp;
  value: (text: string) => unknown;
}

/** A plain scalar of one kind. It may begin with these characters; an empty text begins with none. */
function scalar(name: string, firstCharacters: string, rules: readonly Rule[], mayBeEmpty = false) {
  return defineScalarTag(`tag:yaml.org,2002:${name}`, {
    implicit: true,
    implicitFirstChars: [...firstCharacters, ...(mayBeEmpty ? [''] : [])],
    resolve(text) {
      const rule = rules.find(({ test }) => test.test(text));
      return rule ? rule.value(text) : NOT_RESOLVED;
    },
    identify: () => false,
  });
}

const digits = '0123456789';

/** How the reference runtime reads plain scalars: PyYAML differs from YAML 1.1 in what counts as a boolean or a number. */
const schema = new Schema([
  strTag,
  seqTag,
  mapTag,
  mergeTag,
  scalar('null', '~nN', [{ test: /^(?:~|null|Null|NULL|)$/, value: () => null }], true),
  scalar('bool', 'yYtToOnNfF', [
    { test: /^(?:yes|Yes|YES|true|True|TRUE|on|On|ON)$/, value: () => true },
    { test: /^(?:no|No|NO|false|False|FALSE|off|Off|OFF)$/, value: () => false },
  ]),
  scalar('int', `-+${digits}`, [
    { test: /^[-+]?(?:0b[01_]+|0[0-7_]+|0x[0-9a-fA-F_]+|0|[1-9][0-9_]*)$/, value: readInteger },
    { test: /^[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+$/, value: readSexagesimal },
  ]),
  scalar('float', `-+.${digits}`, [
    {
      test: /^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?)$/,
      value: (text) => Number(text.replaceAll('_', '')),
    },
    { test: /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*$/, value: readSexagesimal },
    {
      test: /^[-+]?\.(?:inf|Inf|INF)$/,
      value: (text) => (text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY),
    },
    { test: /^\.(?:nan|NaN|NAN)$/, value: () => Number.NaN },
  ]),
]);

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
